/**
 * `npm run campaign` bundles the campaign as the library is bundled, and runs it: V8 counts what runs of one file, and nothing is compiled while it runs.
 * Modules of the core are bytes in the bundle; `import.meta.env` is the environment of the process, as in the tests.
 */
import { build } from "esbuild";
import { fileURLToPath, pathToFileURL } from "node:url";

const OUTPUT = fileURLToPath(new URL("../../build/campaign/main.mjs", import.meta.url));

/** @returns the path of the bundle */
export async function bundle(): Promise<string> {
  await build({
    entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
    outfile: OUTPUT,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    packages: "external",
    sourcemap: "linked",
    loader: { ".wasm": "binary" },
    define: { "import.meta.env": "process.env" },
    logLevel: "warning",
  });
  return OUTPUT;
}

await import(pathToFileURL(await bundle()).href);
