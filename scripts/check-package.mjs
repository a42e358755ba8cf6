/**
 * Holds a packed tarball to its promises: `node scripts/check-package.mjs flowsteer-<version>.tgz`.
 *
 * - The core, the main entry and what a program with direct rules reads stay small.
 * - A program that uses a part of the package has only that part in its bundle.
 * - Nothing is published that is not meant to be.
 * - Every entry point can be imported from where it is installed, with nothing beside it. The packages for
 *   Parquet and for farms are not installed with it; the command says how to install them.
 * - Links between its pages, and from them to other files of it, lead somewhere.
 * - A device starts, and has not loaded what nobody asked for. Only `flowsteer/explain` reads the code of explanations.
 * - Its declarations compile in a program that checks them (without `skipLibCheck`).
 * - npm installs it without a warning, and the program of the README runs in an empty project.
 * - Stacks and messages have the names of the source.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bundleSizes } from "./bundle-sizes.mjs";
import { problemsOfInstall } from "./fresh-install.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Size limits in bytes, after gzip. */
const LIMITS = { core: 100_000, traced: 60_000, main: 110_000 };

/** Bytes of all files after an installation. */
const MAX_INSTALLED = 7_500_000;

/**
 * Limits for the source that a program with direct rules reads before its first line: number of
 * files, bytes.
 */
const START = { entries: ["index", "mlx5dv"], files: 4, bytes: 600_000 };

/** Entry points that do not explain; the command loads explanations when it needs them. */
const UNEXPLAINED = ["index", "verbs", "mlx5dv", "scenario", "run", "packet", "cli"];

/** Limits for a process on any machine. */
const PATIENCE = 600_000;

/**
 * Parts of Node that take longer to load than a device takes to start: reading `Response` loads the
 * HTTP client.
 */
const SLOW_PARTS = ["internal/deps/undici/undici", "http", "worker_threads", "child_process"];

const PUBLISHED = [
  /^(package\.json|LICENSE|(ARCHITECTURE|CHANGELOG|CONTRIBUTING|SECURITY|README)\.md)$/,
  /^dist\/(index|verbs|mlx5dv|scenario|run|explain|import|export|snapshot|fabric|replay|packet|vitest|inline|constants|worker|farm-child|cli|chunk-\w+)\.js$/,
  /^dist\/(core|traced)\.wasm$/,
  /^native\/[\w-]+\.(c|h|map)$/,
  /^dist\/playground\.br$/,
  /^dist\/types\/[\w/-]+\.d\.ts$/,
  /^examples\/[\w./-]+\.(c|csv|json|pcap|pcapng|ts|js|mjs|md|py|toml|svg|txt|html|css)$/,
  /^examples\/rules\/\w+\.(ethtool|nft|ovs|tc|testpmd)$/,
  /^schema\/[\w./-]+\.json$/,
  /^docs\/(import\/)?[\w-]+\.md$/,
];

const [tarball] = process.argv.slice(2);
if (tarball === undefined) {
  console.error("usage: node scripts/check-package.mjs <tarball>");
  process.exit(2);
}

const problems = [];
const folder = mkdtempSync(join(tmpdir(), "flowsteer-package-"));
try {
  const home = join(folder, "node_modules", "flowsteer");
  mkdirSync(home, { recursive: true });
  const tar = spawnSync("tar", ["-xzf", resolve(tarball), "-C", home, "--strip-components=1"], { stdio: "inherit" });
  if (tar.status !== 0) throw new Error(`${tarball} cannot be unpacked`);
  const files = readdirSync(home, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(sep).join("/"))
    .filter((name) => statSync(join(home, name)).isFile());

  contents(home, files);
  size("core.wasm", gzipped(join(home, "dist/core.wasm")), LIMITS.core);
  size("traced.wasm", gzipped(join(home, "dist/traced.wasm")), LIMITS.traced);
  await mainEntry(home);
  await startOf(home);
  await withoutExplanations(home);
  await bundles();
  links(home, files);
  imports(home);
  withoutOptional(home);
  starts(home);
  names(home);
  declarations(home);
  problems.push(...problemsOfInstall(tarball));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

for (const problem of problems) console.error(`package: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else console.log("package: as promised");

function contents(home, files) {
  for (const name of files) {
    if (!PUBLISHED.some((pattern) => pattern.test(name))) problems.push(`${name} is not meant to be published`);
    // A path of the machine that built it.
    if (readFileSync(join(home, name)).includes(resolve(root))) problems.push(`${name} names ${resolve(root)}`);
  }
  for (const name of [
    "LICENSE",
    "README.md",
    "dist/index.js",
    "dist/core.wasm",
    "dist/types/index.d.ts",
    "dist/playground.br",
  ]) {
    if (!files.includes(name)) problems.push(`${name} is missing`);
  }
  const bytes = sum(files, (name) => statSync(join(home, name)).size);
  console.log(`package: ${files.length} files, ${bytes} bytes of ${MAX_INSTALLED}, ${statSync(tarball).size} packed`);
  if (bytes >= MAX_INSTALLED) problems.push(`it has ${bytes} bytes, the limit is ${MAX_INSTALLED}`);
  // npm warns of them at each installation.
  const { scripts } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  for (const name of ["preinstall", "install", "postinstall", "prepare"])
    if (scripts[name] !== undefined) problems.push(`it has the script ${name}`);
}

/** The main entry with its static imports. */
async function mainEntry(home) {
  const files = await filesOf(home, ["index"]);
  size(`main entry (${files.length} files)`, sum(files, gzipped), LIMITS.main);
}

async function startOf(home) {
  const files = await filesOf(home, START.entries);
  const bytes = sum(files, (path) => statSync(path).size);
  console.log(`package: a start reads ${files.length} files of ${START.files}, ${bytes} bytes of ${START.bytes}`);
  if (files.length > START.files || bytes > START.bytes) problems.push("a start reads more than it may");
}

/** Programs that use a part of the package have only that part. */
async function bundles() {
  for await (const { program, bundler, bytes, limit } of bundleSizes(folder)) {
    console.log(`package: ${program}, by ${bundler}: ${bytes} bytes minified of ${limit}`);
    if (bytes >= limit) problems.push(`${program} has ${bytes} bytes by ${bundler}, the limit is ${limit}`);
  }
}

/** No entry point but flowsteer/explain reads the code of explanations. */
async function withoutExplanations(home) {
  for (const path of await filesOf(home, UNEXPLAINED)) {
    if (readFileSync(path, "utf8").includes("class TracedCore")) problems.push(`${path} has the code of explanations`);
  }
}

/** Entry points with their static imports. */
async function filesOf(home, entries) {
  const paths = entries.map((entry) => join(home, `dist/${entry}.js`));
  const { metafile } = await build({
    entryPoints: paths,
    absWorkingDir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    external: ["node:*", "fs", "url", "module", "hyparquet-writer", "bullmq", "ioredis", "ws"],
    outdir: "out",
    write: false,
    metafile: true,
    preserveSymlinks: true,
    logLevel: "warning",
  });
  const reached = new Set();
  const visit = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { path: next, kind, external } of metafile.inputs[path].imports) {
      if (kind === "import-statement" && !external) visit(next);
    }
  };
  for (const path of paths) visit(relative(folder, path).split(sep).join("/"));
  return [...reached].map((path) => join(folder, path));
}

/** Imports every script of the exports, each in a process outside of this checkout. */
function imports(home) {
  const { name, exports, bin } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  for (const [subpath, target] of Object.entries(exports)) {
    if (typeof target === "string") continue;
    const specifier = name + subpath.slice(1);
    run(`import ${specifier}`, ["--input-type=module", "-e", `await import(${JSON.stringify(specifier)})`]);
  }
  for (const [command, script] of Object.entries(bin)) run(`${command} --help`, [join(home, script), "--help"]);
}

/** Relative links in Markdown, outside of code. */
function links(home, files) {
  const known = new Set(files);
  for (const name of files.filter((one) => one.endsWith(".md"))) {
    const text = readFileSync(join(home, name), "utf8").replace(/^( *)```[\s\S]*?^\1```|`[^`\n]*`(?!\])/gm, "");
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)) {
      if (target === undefined || /^(#|[a-z]+:)/.test(target)) continue;
      const [path, anchor] = target.split("#");
      const to = posix.join(posix.dirname(name), decodeURI(path));
      if (!known.has(to)) problems.push(`${name}: the link to ${target} leads nowhere`);
      else if (anchor !== undefined && to.endsWith(".md") && !anchorsOf(home, to).has(anchor))
        problems.push(`${name}: ${to} has no heading #${anchor}`);
    }
  }
}

/** The anchors that GitHub derives from the headings of a page. */
function anchorsOf(home, name) {
  const headings = readFileSync(join(home, name), "utf8").matchAll(/^#+ +(.+?) *$/gm);
  return new Set(
    Array.from(headings, ([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function withoutOptional(home) {
  const scenario = join(home, "examples/tunnel.json");
  says(home, ["run", scenario, "--format", "parquet"], "npm install hyparquet-writer");
  says(home, ["farm", "run", scenario, "a.pcap"], "npm install bullmq");
  says(home, ["farm", "worker"], "npm install bullmq");
}

/** The command is refused, and says this. */
function says(home, args, text) {
  const command = [join(home, "dist/cli.js"), ...args];
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8", timeout: PATIENCE });
  if (status !== 2 || !stderr.includes(text)) problems.push(`${args.join(" ")} ends with ${status}: ${stderr.trim()}`);
}

/** Runs a device of the installed package in its own process. */
function starts(home) {
  const { name } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const program = `
    const { createDevice } = await import(${JSON.stringify(name)});
    const { verdict } = (await createDevice()).receive(1, new Uint8Array(60));
    if (verdict !== "miss") throw new Error("a frame without rules: " + verdict);
    const slow = ${JSON.stringify(SLOW_PARTS)}.filter((part) => process.moduleLoadList.includes("NativeModule " + part));
    if (slow.length > 0) throw new Error("loaded " + slow);`;
  run("a device", ["--input-type=module", "-e", program]);
}

/** A frame that is too long, and an object that is no action. */
function names(home) {
  const { name } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const program = `
    import { createDevice } from ${JSON.stringify(name)};
    import * as dv from ${JSON.stringify(`${name}/mlx5dv`)};
    const device = await createDevice();
    const domain = dv.mlx5dv_dr_domain_create(dv.mlx5dv_open_device(device), dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
    const matcher = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, 0, new Uint8Array(64));
    const stackOf = (call) => {
      try {
        return call();
      } catch ({ stack }) {
        return stack;
      }
    };
    const stacks = stackOf(() => device.receive(1, new Uint8Array(2 ** 20)))
      + stackOf(() => dv.mlx5dv_dr_rule_create(matcher, new Uint8Array(64), 1, ["drop"]));
    for (const known of ["Device.receive ", "Traffic.receiveOne ", " refuse ", "an Action,", " checkActions ", "Rule.create ", ".mlx5dv_dr_rule_create "])
      if (!stacks.includes(known)) throw new Error("no " + known + " in " + stacks);`;
  run("a stack", ["--input-type=module", "-e", program]);
}

/** Node's types are those of this repository: a program that checks declarations has its own. */
function declarations(home) {
  const { exports } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(home, types)]));
  const options =
    "--ignoreConfig --noEmit --strict --target es2022 --lib es2023,dom,esnext --module nodenext --types node";
  const given = [...options.split(" "), "--typeRoots", join(root, "node_modules/@types")];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...given, ...entries], { encoding: "utf8" });
  if (status !== 0) problems.push(`its declarations do not compile: ${stdout.trim()}`);
}

function run(what, args) {
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: PATIENCE });
  if (status !== 0) problems.push(`${what} fails: ${stderr.trim()}`);
}

function size(what, bytes, limit) {
  console.log(`package: ${what} ${bytes} bytes gzipped of ${limit}`);
  if (bytes >= limit) problems.push(`${what} has ${bytes} bytes gzipped, the limit is ${limit}`);
}

function sum(files, measure) {
  return files.reduce((total, path) => total + measure(path), 0);
}

function gzipped(path) {
  return gzipSync(readFileSync(path), { level: 9 }).length;
}
