#!/usr/bin/env node
/**
 * Builds the playground: static files in dist/playground/.
 *
 *   node scripts/playground.mjs    after scripts/build.mjs has made the cores
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { minify } from "terser";
import { directImports } from "./playground/directImports.mjs";
import { noticesOf } from "./playground/notices.mjs";
import { withStartChunk } from "./playground/startChunk.mjs";
import { buildServiceWorker } from "./playground/offline.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(root, "playground");

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** How the code of pages is bundled. */
export const PAGE_OPTIONS = {
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: "es2022",
  platform: "browser",
  logLevel: "warning",
  tsconfig: join(SOURCE, "tsconfig.json"),
  define: { "import.meta.bundled": "true", FLOWSTEER_VERSION: JSON.stringify(version) },
  legalComments: "none",
};

/** Shorter names than those of the bundler: what the page reads at its start is two per cent smaller. */
const NAMES = { module: true, ecma: 2022, compress: { passes: 2 }, mangle: true, format: { comments: false } };
/** Programs that run at each start, with the modules that they import late, and then all the same. */
const AT_START = {
  page: ["playground/src/way/picture/layout.ts"],
  engine: [
    "playground/src/engine/way/way.ts",
    "playground/src/engine/way/why.ts",
    "playground/src/engine/answers/effect.ts",
  ],
};

/** Page and workers, with their sources. */
const PROGRAMS = {
  page: "src/main.tsx",
  // Runs as a script, before the first paint: it exports and awaits nothing.
  early: "src/shell/early.ts",
  engine: "src/engine/worker.ts",
  language: "src/rules/language/worker.ts",
  speed: "src/speed/main.tsx",
  "speed-worker": "src/speed/worker.ts",
  writer: "src/share/out/worker.ts",
  prover: "src/proof/worker.ts",
  importer: "src/importing/worker.ts",
};

/**
 * Each program is bundled for itself. Together, a program would read what another one needs of a
 * shared entry point: the page all code of explanations.
 */
async function bundle(name, entry, outdir) {
  const result = await build({
    ...PAGE_OPTIONS,
    plugins: [directImports(root, /\/playground\/src\/.*\.tsx?$/)],
    write: false,
    entryPoints: { [name]: join(SOURCE, entry) },
    outdir,
    chunkNames: `${name}-[hash]`,
    metafile: true,
    absWorkingDir: root,
  });
  const late = AT_START[name];
  if (late === undefined) for (const { path, text } of result.outputFiles) writeFileSync(path, text);
  else {
    const files = await withStartChunk(result, name, late, PAGE_OPTIONS);
    for (const [file, text] of files) writeFileSync(join(outdir, file), (await minify(text, NAMES)).code ?? text);
  }
  return result.metafile;
}

/** @param folder where the files go */
export async function buildPlayground(folder = join(root, "dist/playground")) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const code = await Promise.all(Object.entries(PROGRAMS).map(([name, entry]) => bundle(name, entry, folder)));
  const { metafile: styles } = await build({
    entryPoints: { page: join(SOURCE, "styles/page.css"), speed: join(SOURCE, "styles/speed.css") },
    outdir: folder,
    metafile: true,
    absWorkingDir: root,
    bundle: true,
    minify: true,
    logLevel: "warning",
  });
  for (const name of ["index.html", "speed.html", "icon.svg", "manifest.webmanifest"])
    cpSync(join(SOURCE, name), join(folder, name));
  cpSync(join(root, "build/release/core.wasm"), join(folder, "core.wasm"));
  cpSync(join(root, "build/traced/core.wasm"), join(folder, "traced.wasm"));
  copyExamples(join(folder, "examples"));
  cpSync(join(SOURCE, "lessons"), join(folder, "lessons"), { recursive: true });
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), noticesOf(root, [...code, styles]));
  await buildServiceWorker(join(SOURCE, "src/offline/worker.ts"), folder, PAGE_OPTIONS.tsconfig);
}

/** The examples, and index.json, which says what each is. */
function copyExamples(folder) {
  const from = join(root, "examples");
  mkdirSync(folder);
  const names = readdirSync(from).filter((name) => /\.(json|pcap|pcapng)$/.test(name));
  for (const name of names) cpSync(join(from, name), join(folder, name));
  // Commands of README.md say which capture an example is run over.
  const readme = readFileSync(join(from, "README.md"), "utf8");
  const captures = new Map(
    [...readme.matchAll(/examples\/([\w-]+)\.json examples\/([\w-]+\.pcap(?:ng)?)/g)].map(([, name, capture]) => [
      name,
      capture,
    ]),
  );
  // Examples have the order of its table.
  const place = (file) => (readme.indexOf(`(${file})`) + readme.length) % readme.length;
  const index = names
    .filter((name) => name.endsWith(".json"))
    .sort((a, b) => place(a) - place(b))
    .map((file) => {
      const { title, description = "" } = JSON.parse(readFileSync(join(from, file), "utf8"));
      const name = file.replace(/\.json$/, "");
      // How to run it is for the command line.
      const about = description.replace(/\s*(?:Runs? (?:on|it) .*|Docs: .*|flowsteer (?:run|why) .*)$/, "");
      return { name, title, description: about, capture: captures.get(name) ?? null };
    });
  writeFileSync(join(folder, "index.json"), JSON.stringify(index));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPlayground();
