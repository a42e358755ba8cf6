/** Compiles AssemblyScript with mutants written into it. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { withoutTraced } from "../untraced.mjs";
import { mutantsOf } from "./operators.mjs";
import { prelude, RECORDERS, SWITCHES, withMutants } from "./schemata.mjs";

/** Sources below a folder with their mutants, numbered from 0. */
export async function readSources(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".ts"));
  return collect(names.sort().map((name) => [join(folder, name), fromDisk(join(folder, name))]));
}

/** The same of texts by their names. */
export async function collect(texts) {
  const sources = new Map();
  let number = 0;
  for (const [file, text] of texts) {
    const { mutants, loops } = await mutantsOf(text, file);
    for (const one of mutants) one.number = number++;
    sources.set(file, { text, mutants, loops });
  }
  return sources;
}

/**
 * Compiles `entry` with the mutants that `holds` lets in. Gives the module, and the numbers of mutants that do not compile:
 * they are left out, and the rest is compiled again.
 *
 * @param {{ records?: boolean, holds?: (mutant) => boolean, options?: string[], read?: (name: string) => string | null }} how
 */
export async function compile(sources, entry, { records = false, holds = () => true, options = [], read = fromDisk }) {
  const invalid = new Set();
  for (;;) {
    const written = new Map();
    for (const [file, { text, mutants, loops }] of sources) {
      const wanted = mutants.filter((one) => holds(one) && !invalid.has(one.number));
      written.set(file, withMutants(text, wanted, loops, records ? RECORDERS : SWITCHES));
    }
    const { binary, errors } = await run(
      entry,
      options,
      countOf(sources),
      (name) => written.get(name)?.text ?? read(name),
    );
    if (errors.length === 0) return { binary, invalid };
    const before = invalid.size;
    for (const error of errors)
      for (const { number } of blamed(written.get(error.file)?.spans ?? [], error)) invalid.add(number);
    if (invalid.size === before)
      throw new Error(
        `the core does not compile: ${errors[0].file}: ${errors[0].message}\n${written.get(errors[0].file)?.text.slice(errors[0].at - 100, errors[0].at + 200)}`,
      );
  }
}

/** The dropped statements that left a variable without a value, else the mutants around the place of an error or in it. */
function blamed(spans, { at, until, message }) {
  const [, name] = /^Variable '(\w+)' is used before/.exec(message) ?? [];
  if (name !== undefined) {
    const before = spans.filter(({ start }) => start < at).flatMap(({ mutants }) => mutants);
    return before.filter(({ function: one, from, statement }) => {
      return statement && one === before.at(-1).function && from.startsWith(`${name} =`);
    });
  }
  const around = spans.findLast(({ start, end }) => start <= at && at < end);
  if (around !== undefined) return around.mutants;
  return spans.filter(({ start, end }) => at <= start && end <= until).flatMap(({ mutants }) => mutants);
}

function countOf(sources) {
  return [...sources.values()].reduce((sum, { mutants }) => sum + mutants.length, 0);
}

async function run(entry, options, count, read) {
  const { default: asc } = await import("assemblyscript/asc");
  const errors = [];
  let binary = new Uint8Array();
  class Prelude {
    afterParse(parser) {
      parser.parseFile(prelude(count), "mutants.ts", false);
    }
  }
  await asc.main(
    [entry, "--config", "none", "--runtime", "stub", "--enable", "simd", "--outFile", "core.wasm", ...options],
    {
      readFile: (name) => read(name),
      writeFile: (name, contents) => void (binary = name.endsWith(".wasm") ? contents : binary),
      listFiles: () => [],
      stdout: { write() {} },
      stderr: { write() {} },
      transforms: [Prelude],
      reportDiagnostic({ range, relatedRange, message, category }) {
        const place = range ?? relatedRange;
        if (category === 3)
          errors.push({ file: place?.source.normalizedPath, at: place?.start, until: place?.end, message });
      },
    },
  );
  return { binary, errors };
}

function fromDisk(name) {
  try {
    return withoutTraced(readFileSync(name, "utf8"));
  } catch {
    return null;
  }
}
