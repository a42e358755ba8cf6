/**
 * Which tests reach which mutants. Recorded once for each state of a test file, in build/mutation/reach/. A record still serves
 * after changes of the core: what reaches a function is taken to reach the mutants in it that the record does not know.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { runTests } from "./vitest.mjs";

const STORE = "build/mutation/reach/";
/** A test file that writes nothing for so long is given up. */
const PATIENCE = 900_000;

/**
 * The records of these test files, made where they are missing or out of date: `{ file, turns, tests: [{ name, ms, reaches }] }`,
 * where `reaches(number)` says whether the test reaches a mutant. `build()` gives the path of a core that records.
 */
export async function recordReach(files, mutants, build, fresh) {
  if (fresh) rmSync(STORE, { recursive: true, force: true });
  mkdirSync(STORE, { recursive: true });
  const stale = files.filter((file) => read(file)?.hash !== hash(readFileSync(file)));
  if (stale.length > 0) {
    const core = save(mutants.map(nameOf));
    const started = new Map(stale.map((file) => [file, hash(readFileSync(file))]));
    const done = new Set();
    const onLine = (line) => {
      done.add(line.file);
      write(line.file, { ...line, core, hash: started.get(line.file) });
      process.stderr.write(
        `mutants: recorded ${done.size} of ${stale.length}: ${line.file}, ${Math.round(line.ms)} ms\n`,
      );
    };
    await runTests({ record: true, wasm: await build(), order: stale }, stale, { onLine, patience: PATIENCE });
    // Files that fail without a mutant catch nothing.
    for (const file of stale) if (!done.has(file)) write(file, { file, hash: started.get(file), tests: [] });
  }
  return files.map((file) => ready(read(file), mutants)).filter(({ tests }) => tests.length > 0);
}

function ready({ file, core, shared, tests, turns }, mutants) {
  if (tests.length === 0) return { tests };
  const known = lookup(core, mutants);
  const all = bitsOf(shared);
  return {
    file,
    turns,
    tests: tests.map(({ name, ms, reached }) => {
      const bits = bitsOf(reached);
      return { name, ms, reaches: (number) => known[number].some((i) => isSet(bits, i) || isSet(all, i)) };
    }),
  };
}

const lookups = new Map();

/** For each mutant its numbers in a recorded core: its own, or those of its function. */
function lookup(core, mutants) {
  if (lookups.has(core)) return lookups.get(core);
  const byName = new Map();
  JSON.parse(readFileSync(`${STORE}${core}.json`, "utf8")).forEach((name, i) => {
    for (const one of [name, name.slice(0, name.indexOf(":"))]) byName.set(one, [...(byName.get(one) ?? []), i]);
  });
  const known = mutants.map((one) => byName.get(nameOf(one)) ?? byName.get(`${one.file} ${one.function}`) ?? []);
  lookups.set(core, known);
  return known;
}

function nameOf({ file, key }) {
  return `${file} ${key}`;
}

function save(names) {
  const core = hash(names.join("\n"));
  writeFileSync(`${STORE}${core}.json`, JSON.stringify(names));
  return core;
}

function read(file) {
  const path = pathOf(file);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

function write(file, record) {
  writeFileSync(pathOf(file), JSON.stringify(record));
}

function pathOf(file) {
  return `${STORE}${file.replaceAll("/", "+")}.json`;
}

function bitsOf(packed) {
  return inflateRawSync(Buffer.from(packed, "base64"));
}

function isSet(bits, i) {
  return (bits[i >> 3] & (1 << (i & 7))) !== 0;
}

function hash(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
