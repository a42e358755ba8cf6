/** Mutates the core: one compile holds the mutants of a run, and each test file is loaded once for all that it may catch. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { compile, readSources } from "./compile.mjs";
import { matchEquivalent, readEquivalent } from "./equivalent.mjs";
import { recordReach } from "./reach.mjs";
import { linesOf, runTests } from "./vitest.mjs";

const LAST = "build/mutation/survivors.json";
const ENTRY = "assembly/index.ts";
const RELEASE = ["-O3"];
/** What a process takes until the first test of a file runs. */
const LOADING_MS = 1500;
/** A mutant that keeps the process busy for so long is caught. */
const PATIENCE = 600_000;
/** What it takes to ask a mutant by one file, beside the tests. */
const ASKING_MS = 50;
/** A loop may turn so many times more often than in all tests of the file without a mutant. */
const TURNS_FACTOR = 3n;
const TURNS_MORE = 20_000_000n;

/** Gives `{ all, tried, survivors, equivalent, lost }` of a file or folder. */
export async function mutateCore(path, { sample, random, budget, fresh, tests, again }) {
  const sources = await readSources("assembly");
  const all = [...sources.values()].flatMap(({ mutants }) => mutants);
  const { invalid } = await compile(sources, ENTRY, { options: ["-O0"] });
  const compiles = ({ number }) => !invalid.has(number);
  const valid = all.filter((one) => compiles(one) && isIn(one.file, path));
  const { reasons, lost } = matchEquivalent(
    readEquivalent().filter(({ file }) => file.startsWith("assembly/")),
    all,
  );
  const testable = valid.filter((one) => !reasons.has(one));
  const drawn = sample < testable.length ? pick(testable, sample, random) : testable;
  const tried = again ? testable.filter(survivedLast()) : drawn;
  const chosen = new Set(tried);

  const recorder = () => build("reach", sources, { records: true, holds: compiles });
  const records = await recordReach(testFiles(tests), all, recorder, fresh);
  const { reached, ...plan } = planFor(tried, records, budget);
  const caught = await run(plan, await build("mutants", sources, { holds: (one) => chosen.has(one) }));
  const survivors = tried
    .filter(({ number }) => !caught.has(number))
    .sort((a, b) => a.number - b.number)
    .map((one) => ({ ...one, reached: reached.has(one.number) }));
  writeFileSync(LAST, JSON.stringify(survivors.map(({ file, key }) => ({ file, key }))));
  return { all: valid.length, tried, survivors, equivalent: valid.length - testable.length, lost };
}

function testFiles(paths) {
  const below = (path) => {
    return path.endsWith(".ts") ? [path] : readdirSync(path, { recursive: true }).map((name) => `${path}/${name}`);
  };
  return [...new Set(paths.flatMap(below))].filter((name) => name.endsWith(".test.ts")).sort();
}

/** Whether a mutant survived the last run. */
function survivedLast() {
  const last = JSON.parse(readFileSync(LAST, "utf8"));
  return (one) => last.some(({ file, key }) => file === one.file && key === one.key);
}

function isIn(file, path) {
  const bare = path.replace(/\/+$/, "");
  return file === bare || file.startsWith(`${bare}/`);
}

function pick(list, count, random) {
  const rest = [...list];
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]);
}

async function build(name, sources, how) {
  const { binary } = await compile(sources, ENTRY, { ...how, options: RELEASE });
  mkdirSync("build/mutation", { recursive: true });
  const path = `build/mutation/${name}.wasm`;
  writeFileSync(path, binary);
  return path;
}

/**
 * For each test file the mutants that it is asked about, and by which tests; files that ask a mutant in the shortest time come
 * first. A mutant is asked by so many tests as take `budget` ms, the cheapest files first.
 */
function planFor(mutants, records, budget) {
  const asked = new Map();
  for (const { number } of mutants) {
    for (const { file, tests } of records) {
      const those = tests.filter(({ reaches }) => reaches(number));
      if (those.length === 0) continue;
      if (!asked.has(file)) asked.set(file, []);
      asked.get(file).push({ mutant: number, ms: ASKING_MS + sum(those), tests: those.map(({ name }) => name) });
    }
  }
  const cost = (list) => LOADING_MS / list.length + sum(list) / list.length;
  const order = [...asked].sort(([, a], [, b]) => cost(a) - cost(b)).map(([file]) => file);
  const spent = new Map();
  const files = {};
  for (const file of order) {
    const { turns } = records.find((one) => one.file === file);
    const affordable = asked.get(file).filter(({ mutant, ms }) => {
      const before = spent.get(mutant) ?? 0;
      if (before > 0 && before + ms > budget) return false;
      spent.set(mutant, before + ms);
      return true;
    });
    if (affordable.length === 0) continue;
    const limit = String(BigInt(turns) * TURNS_FACTOR + TURNS_MORE);
    files[file] = { turns: limit, mutants: affordable.map(({ mutant, tests }) => ({ mutant, tests })) };
  }
  return { order: order.filter((file) => file in files), files, reached: new Set(spent.keys()) };
}

function sum(list) {
  return list.reduce((total, { ms }) => total + ms, 0);
}

/** The numbers of the mutants that were caught, and by what. A mutant that ends the process is caught; the rest goes on. */
async function run({ order, files }, wasm) {
  const caught = new Map();
  const open = new Set(Object.values(files).flatMap(({ mutants }) => mutants.map(({ mutant }) => mutant)));
  let current;
  const onLine = (line) => {
    if (line.begins !== undefined) current = line;
    else current = undefined;
    if (line.caught === undefined) return;
    caught.set(line.mutant, line.caught);
    if (process.stderr.isTTY) process.stderr.write(`\rmutants: ${caught.size} of ${open.size} caught `);
  };
  let rest = order;
  for (let goesOn = false; rest.length > 0; goesOn = true) {
    current = undefined;
    const output = await runTests({ wasm, order: rest, files, goesOn }, rest, { onLine, patience: PATIENCE });
    if (current === undefined) break;
    const { mutant, begins } = current;
    writeFileSync(output, `${JSON.stringify({ mutant, caught: `${begins}: ended the process` })}\n`, { flag: "a" });
    caught.set(mutant, `${begins}: ended the process`);
    const passed = new Set(
      linesOf(output)
        .filter(({ passed }) => passed === begins)
        .map((line) => line.mutant),
    );
    files[begins].mutants = files[begins].mutants.filter((one) => !passed.has(one.mutant));
    rest = rest.slice(rest.indexOf(begins));
  }
  if (process.stderr.isTTY) process.stderr.write("\n");
  return caught;
}
