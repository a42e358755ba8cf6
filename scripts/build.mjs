#!/usr/bin/env node
/**
 * Builds what is missing or out of date.
 *
 *   node scripts/build.mjs                        everything that is published: dist/
 *   node scripts/build.mjs --no-types             the same without the declaration files
 *   node scripts/build.mjs --wasm release,debug   only these flavours of the core: build/<flavour>/core.wasm, and build/worker.js
 *   node scripts/build.mjs --tests                what the tests run on: dist/ without types, the release, the traced and the debug core
 *   node scripts/build.mjs --check-core           compiles the core and writes nothing
 *   ... --force                                   even what is up to date
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import zlib from "node:zlib";
import { mergeChunks } from "./chunks.mjs";
import { withPure } from "./pure.mjs";
import { finishDeclarations } from "./declarations.mjs";
import { CORE_EXPORTS, ExportReader } from "./core-exports.mjs";
import { withCalls } from "./core-calls.mjs";
import { withGlobals } from "./core-globals.mjs";
import { withoutTraced } from "./untraced.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);

/** `profile` is `release` with function names; `traced` writes events (assembly/branch/events.ts). */
const FLAVOURS = ["release", "traced", "profile", "debug", "coverage"];

/** Bundle name in dist/ and its source. */
const ENTRIES = {
  index: "src/index.ts",
  // With the constants: see below.
  verbs: "src/verbs/functions.ts",
  mlx5dv: "src/mlx5dv/index.ts",
  scenario: "src/scenario/index.ts",
  run: "src/run/index.ts",
  explain: "src/explain/index.ts",
  import: "src/import/index.ts",
  export: "src/export/index.ts",
  snapshot: "src/snapshot/index.ts",
  fabric: "src/fabric/index.ts",
  replay: "src/replay/index.ts",
  packet: "src/packet/index.ts",
  vitest: "src/vitest/index.ts",
  inline: "src/inline.ts",
  cli: "src/cli/start.ts",
  // The processes of flowsteer farm worker.
  "farm-child": "src/cli/farm/worker/child.ts",
};

/** Half of the start-up time is reading source. Names stay: users see them in stack traces. */
const TEXT = {
  format: "esm",
  target: "es2022",
  platform: "neutral",
  logLevel: "warning",
  minifySyntax: true,
  minifyWhitespace: true,
  // Node prints the source line of an uncaught error.
  lineLimit: 120,
};

/**
 * The constants of flowsteer/verbs are a file of their own, so that a program that uses nothing else reads
 * nothing else. The other bundles have copies of those that they use.
 */
const CONSTANTS = ["src/abi/verbs.ts", "src/abi/verbsConstants.ts"];

let lineOpen = false;

const { values: args } = parseArgs({
  options: {
    wasm: { type: "string" },
    "no-types": { type: "boolean", default: false },
    tests: { type: "boolean", default: false },
    "check-core": { type: "boolean", default: false },
    force: { type: "boolean", default: false },
  },
});

if (args["check-core"]) {
  await compileCore("debug", ["--noEmit"]);
} else if (args.wasm !== undefined) {
  for (const flavour of args.wasm.split(",")) await buildCore(flavour);
  await buildWorker();
} else if (args.tests) {
  for (const flavour of ["release", "traced", "debug"]) await buildCore(flavour);
  await buildWorker();
  await buildBundles();
  await buildPage();
} else {
  for (const flavour of ["release", "traced"]) await buildCore(flavour);
  await buildBundles();
  await buildPage();
  if (!args["no-types"]) {
    packPage();
    buildTypes();
  }
}
endLine();

/** Builds one flavour of the core, unless its output is newer than its inputs. */
async function buildCore(flavour) {
  if (!FLAVOURS.includes(flavour)) fail(`no such flavour: ${flavour} (${FLAVOURS.join(", ")})`);
  const inputs = [
    "assembly",
    "src/abi",
    "asconfig.json",
    "scripts/coverage-transform.mjs",
    "scripts/untraced.mjs",
    "scripts/core-exports.mjs",
    "scripts/core-globals.mjs",
    "scripts/core-calls.mjs",
    "scripts/core-sections.mjs",
    "src/engine/sections.ts",
    "node_modules/assemblyscript",
  ];
  const output = `build/${flavour}/core.wasm`;
  if (upToDate(output, inputs)) return;
  begin(`${flavour} core`);
  const started = new Date();
  const reader = flavour === "debug" ? new ExportReader() : null;
  await compileCore(flavour, [], reader === null ? [] : [reader]);
  if (reader !== null) writeCoreExports(await reader.text(readFileSync(output)));
  // A file edited during compilation is newer than this.
  utimesSync(output, started, started);
  done(kilobytes(statSync(output).size), started);
}

/** The file is in the repository, since tsc reads it before any core is built. */
function writeCoreExports(text) {
  if (readFileSync(CORE_EXPORTS, "utf8") === text) return;
  if (process.env["CI"]) fail(`${CORE_EXPORTS} is stale: run node scripts/build.mjs --wasm debug and commit it`);
  replaceFile(CORE_EXPORTS, text);
}

async function compileCore(flavour, options, transforms = []) {
  // The compiler looks for a --wasm of its own among the arguments.
  process.argv.length = 2;
  const { default: asc } = await import("assemblyscript/asc");
  const messages = [];
  const stream = { write: (text) => void messages.push(text) };
  // The exports of both files: the traced core has more.
  const entries = flavour === "traced" ? ["assembly/traced.ts"] : [];
  const { error } = await asc.main([...entries, "--config", "asconfig.json", "--target", flavour, ...options], {
    stdout: stream,
    stderr: stream,
    // Not in asconfig.json: there the compiler drops the leading "./" of a transform's path.
    transforms: flavour === "coverage" ? [(await import("./coverage-transform.mjs")).default] : transforms,
    readFile: (name, base) => source(join(base, name), flavour === "traced"),
    writeFile: (name, contents) => replaceFile(name, name.endsWith(".wasm") ? finished(flavour, contents) : contents),
  });
  // The compiler reports how its last round of optimization went; that is no warning.
  const text = messages.join("").replace(/^Last converge was suboptimal\.\n/gm, "");
  if (text !== "") say(text.trimEnd());
  if (error) fail(`the ${flavour} core was not built`);
}

/** A compiled core with what the build adds to it. */
function finished(flavour, module) {
  const whole = withGlobals(module);
  return flavour === "release" ? withCalls(whole) : whole;
}

/** What the compiler reads; null where there is no such file. */
function source(path, traced) {
  if (!existsSync(path)) return null;
  const text = readFileSync(path, "utf8");
  return traced ? text : withoutTraced(text);
}

/** The thread of a pool, for tests that run from source. */
async function buildWorker() {
  const output = "build/worker.js";
  if (upToDate(output, ["src/engine", "src/abi"])) return;
  const { build } = await import("esbuild");
  const { outputFiles } = await build(worker());
  replaceFile(output, outputFiles[0].contents);
}

/** One file: shared code would be chunks of its own, which every start reads. */
function worker() {
  return {
    entryPoints: { worker: "src/engine/worker.ts" },
    outdir: "dist",
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    logLevel: "warning",
  };
}

/** The entry points, side by side in dist/, with their shared code in chunks. */
async function buildBundles() {
  const stamp = "build/dist.stamp";
  const cores = ["build/release/core.wasm", "build/traced/core.wasm"];
  const inputs = [
    "src",
    ...cores,
    "scripts/build.mjs",
    "scripts/chunks.mjs",
    "scripts/pure.mjs",
    "node_modules/esbuild",
  ];
  if (existsSync("dist/index.js") && upToDate(stamp, inputs)) return;
  begin("dist");
  const started = new Date();
  const { build } = await import("esbuild");
  const bundles = await build({
    entryPoints: ENTRIES,
    outdir: "dist",
    chunkNames: "chunk-[hash]",
    bundle: true,
    splitting: true,
    write: false,
    mainFields: ["module", "main"],
    // A browser does not resolve package names: bundles contain the code that all entries need, and
    // import by name what only the command needs.
    external: ["node:*", "hyparquet-writer", "bullmq", "ioredis", "ws"],
    // The core, for the entry that embeds it.
    loader: { ".wasm": "binary" },
    // Undefined when run from source: src/engine uses it to locate the core.
    define: { "import.meta.bundled": "true" },
    metafile: true,
    legalComments: "none",
    ...TEXT,
  });
  const files = await mergeChunks(bundles, TEXT);
  const { outputFiles: thread } = await build({ ...worker(), ...TEXT });
  files.set("worker.js", thread[0].text);
  const contents = CONSTANTS.map((name) => `export * from "./${name}";`).join("\n");
  const stdin = { contents, resolveDir: root };
  const { outputFiles: constants } = await build({ stdin, bundle: true, write: false, ...TEXT });
  files.set("constants.js", constants[0].text);
  files.set("verbs.js", `${files.get("verbs.js").trimEnd()}\nexport*from"./constants.js";\n`);
  for (const [name, text] of files) replaceFile(join("dist", name), withPure(withWholeUrls(withoutInnerNames(text))));
  replaceFile("dist/core.wasm", readFileSync("build/release/core.wasm"));
  replaceFile("dist/traced.wasm", readFileSync("build/traced/core.wasm"));
  replaceFile("dist/cli.js", `#!/usr/bin/env node\n${readFileSync("dist/cli.js", "utf8")}`);
  chmodSync("dist/cli.js", 0o755);
  for (const entry of readdirSync("dist", { withFileTypes: true })) {
    const isKept = files.has(entry.name) || /\.(wasm$|br$|tmp)/.test(entry.name);
    if (entry.isFile() && !isKept) rmSync(join("dist", entry.name));
  }
  writeStamp(stamp, started);
  done(`${files.size} files`, started);
}

/** The playground: static files in dist/playground/. */
async function buildPage() {
  const stamp = "build/playground.stamp";
  const cores = ["build/release/core.wasm", "build/traced/core.wasm"];
  const inputs = [
    "playground",
    "src",
    "examples",
    ...cores,
    "scripts/playground.mjs",
    "scripts/playground",
    "package-lock.json",
  ];
  if (existsSync("dist/playground/index.html") && upToDate(stamp, inputs)) return;
  begin("playground");
  const started = new Date();
  const { buildPlayground } = await import("./playground.mjs");
  await buildPlayground();
  writeStamp(stamp, started);
  done("", started);
}

/** The page in one file, for the package (src/cli/serve/pageArchive.ts). */
function packPage() {
  const output = "dist/playground.br";
  if (upToDate(output, ["dist/playground"])) return;
  begin("packed playground");
  const started = new Date();
  const names = readdirSync("dist/playground", { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join("dist/playground", name)).isFile())
    .sort();
  const files = names.map((name) => readFileSync(join("dist/playground", name)));
  const index = JSON.stringify(names.map((name, i) => [name.split(sep).join("/"), files[i].length]));
  const params = { [zlib.constants.BROTLI_PARAM_LGWIN]: 24, [zlib.constants.BROTLI_PARAM_QUALITY]: 10 };
  replaceFile(output, zlib.brotliCompressSync(Buffer.concat([Buffer.from(`${index}\n`), ...files]), { params }));
  done(kilobytes(statSync(output).size), started);
}

/**
 * The bundler gives a class that refers to itself a second inner name, `Rule = class _Rule`, which
 * messages would show.
 */
function withoutInnerNames(bundle) {
  const names = [...bundle.matchAll(/\b(\w+)=class _\1\b/g)].map(([, name]) => name);
  return names.reduce(
    (text, name) =>
      text.replace(`${name}=class _${name}`, `${name}=class`).replace(new RegExp(`\\b_${name}\\b`, "g"), name),
    bundle,
  );
}

/** The line limit breaks strings too. Vite reads the path of a worker as it is written. */
function withWholeUrls(bundle) {
  return bundle.replace(/new URL\("(?:[^"\\]|\\\n)*"/g, (found) => found.replaceAll("\\\n", ""));
}

function buildTypes() {
  const stamp = "build/types.stamp";
  if (
    existsSync("dist/types") &&
    upToDate(stamp, ["src", "scripts/declarations.mjs", "tsconfig.json", "tsconfig.build.json"])
  )
    return;
  begin("types");
  const started = new Date();
  rmSync("dist/types", { recursive: true, force: true });
  const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
    stdio: "inherit",
  });
  if (tsc.status !== 0) fail("the declaration files were not built");
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  finishDeclarations(
    "dist/types",
    Object.values(exports).flatMap(({ types }) => types ?? []),
  );
  writeStamp(stamp, started);
  done("", started);
}

/** A file edited during the build is newer than the stamp. */
function writeStamp(stamp, started) {
  replaceFile(stamp, "");
  utimesSync(stamp, started, started);
}

/**
 * Whether the file is newer than every input, folders included: removing a file makes its folder
 * newer.
 */
function upToDate(output, inputs) {
  if (args.force || !existsSync(output)) return false;
  const built = statSync(output).mtimeMs;
  return inputs.every((input) => newest(input) < built);
}

function newest(path) {
  if (!existsSync(path)) return 0;
  const { mtimeMs } = statSync(path);
  if (path.startsWith("node_modules") || !statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/**
 * Writes beside the file and renames, so that a concurrent reader sees the old file or the new one.
 */
function replaceFile(name, contents) {
  const bytes = Buffer.from(contents);
  mkdirSync(dirname(name), { recursive: true });
  const beside = `${name}.tmp${process.pid}`;
  writeFileSync(beside, bytes);
  renameSync(beside, name);
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/**
 * Reports everything that was built in one line: `build: release core 115.2 kB in 10.2 s, dist 12
 * files in 0.3 s`.
 */
function begin(what) {
  process.stderr.write(`${lineOpen ? ", " : "build: "}${what} `);
  lineOpen = true;
}

function done(result, started) {
  const seconds = ((Date.now() - started.getTime()) / 1000).toFixed(1);
  process.stderr.write(`${result === "" ? "" : `${result} `}in ${seconds} s`);
}

function endLine() {
  if (lineOpen) process.stderr.write("\n");
  lineOpen = false;
}

function say(text) {
  endLine();
  process.stderr.write(`build: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
