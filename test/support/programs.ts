/** Programs that import the package by name: what the compiler says of them, and what they print. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/**
 * What the compiler says of programs, each a module that imports the package by name: a file of examples/ at its place,
 * a sample of a page in the folder of the package.
 */
export function diagnosticsOf(all: { page: string; line: number; source: string }[]): string[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root);
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string }>;
  };
  const paths: Record<string, string[]> = {};
  for (const [name, target] of Object.entries(exports)) {
    if (typeof target === "string") continue;
    paths[`flowsteer${name.slice(1)}`] = [target.types.replace("./dist/types", "./src").replace(/\.d\.ts$/, ".ts")];
  }
  // An unused name is no fault of a sample.
  Object.assign(options, { paths, noUnusedLocals: false, incremental: false, tsBuildInfoFile: undefined });

  const pathOf = (page: string, i: number): string => join(root, page.endsWith(".ts") ? page : `sample-${i}.mts`);
  const files = new Map(all.map((sample, i) => [pathOf(sample.page, i), sample]));
  const host = ts.createCompilerHost(options);
  host.fileExists = (path) => files.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => files.get(path)?.source ?? ts.sys.readFile(path);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([path, { page, line }]) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map((one) => {
      const at = line + 1 + (file?.getLineAndCharacterOfPosition(one.start ?? 0).line ?? 0);
      return `${page}:${at} ${ts.flattenDiagnosticMessageText(one.messageText, "\n")}`;
    });
  });
}

/** What a program prints. It runs inside the package, so that it can import it by name. */
export async function printed(source: string): Promise<string> {
  mkdirSync(join(root, "build"), { recursive: true });
  const folder = mkdtempSync(join(root, "build", "program-"));
  try {
    const file = join(folder, "program.mjs");
    writeFileSync(file, transformSync(source, { loader: "ts", format: "esm", target: "es2022" }).code);
    return (await run(process.execPath, [file], { cwd: root })).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
