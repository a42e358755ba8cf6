/** Mistakes that people make with flow rules: each goes wrong as planted, its correction works, and it is explained. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { why, type Explanation } from "../../src/explain/index.js";
import { loadScenario, type LoadedScenario } from "../../src/scenario/index.js";
import type { Outcome } from "../../src/model/traffic/outcome.js";
import { MISTAKE_NAMES } from "../../src/explain/repair/mistake.js";
import { CALLS } from "./catalogue/calls.js";
import { ENTRIES } from "./catalogue/entries.js";
import { SECOND, type SecondEntry } from "./catalogue/second.js";
import { loadPlanted, PLANTED } from "./catalogue/planted/planted.js";
import { sampleOf } from "../support/tier.js";
import { explained } from "./catalogue/support/explained.js";
import { patched } from "./catalogue/support/patch.js";
import { reached } from "./catalogue/support/reached.js";

const folder = new URL("catalogue/", import.meta.url);
const documentOf = (file: string): { description?: string } =>
  JSON.parse(readFileSync(new URL(`${file}.json`, folder), "utf8")) as { description?: string };

/** The outcome of the last frame. */
function lastOutcome(loaded: LoadedScenario): Outcome {
  const outcome = loaded.run().at(-1);
  if (outcome === undefined) throw new Error("a scenario without frames");
  return outcome;
}

/** All sentences of an explanation. */
function textOf({ sentence, reasons, mistake, repairs }: Explanation): string {
  const parts = [sentence, ...reasons.map((one) => one.sentence), ...repairs.map((one) => one.sentence)];
  return [...parts, mistake?.sentence ?? ""].join("\n");
}

function expectExplained(explanation: Explanation, mistake: string | null, says: readonly string[]): void {
  expect(explanation.mistake?.name ?? null).toBe(mistake);
  const text = textOf(explanation);
  for (const part of says) expect(text).toContain(part);
  // No repair changes a field into what it is.
  expect(text).not.toMatch(/ (\S+) instead of \1[ .,]/);
  // Plain data.
  expect(JSON.parse(JSON.stringify(explanation))).toEqual(structuredClone(explanation));
}

test("every scenario is an entry, and the other way round", () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
  expect(ENTRIES.map(({ file }) => `${file}.json`).sort()).toEqual(files.sort());
  expect(ENTRIES.length + CALLS.length).toBeGreaterThanOrEqual(60);
});

test("every known mistake is planted", () => {
  const planted = new Set([...ENTRIES, ...CALLS, ...PLANTED].map(({ mistake }) => mistake));
  expect(MISTAKE_NAMES.filter((name) => !planted.has(name))).toEqual([]);
});

test("at least 25 entries name the public thread that they come from", () => {
  const threads = ENTRIES.map(({ file }) => /https:\/\/\S+/.exec(documentOf(file).description ?? "")?.[0]);
  expect(new Set(threads.filter((thread) => thread !== undefined)).size).toBeGreaterThanOrEqual(25);
});

describe.each(sampleOf(ENTRIES))("$file", ({ file, target, correction, mistake, says }) => {
  test("goes wrong as planted", async () => {
    const loaded = await loadScenario(documentOf(file));
    expect(reached(lastOutcome(loaded), target)).toBe(false);
    expect(loaded.failures()).toEqual([]);
  });

  test("is explained", async () => {
    const loaded = await loadScenario(documentOf(file));
    expectExplained(await explained(loaded, target), mistake, says);
  });

  test("works with the correction", async () => {
    const document = patched(documentOf(file), correction) as { expect?: unknown };
    delete document.expect;
    expect(reached(lastOutcome(await loadScenario(document)), target)).toBe(true);
  });
});

/** The cause is in the first line, nothing is false, and the right repair comes first. */
function expectFirst(
  explanation: Explanation,
  first: readonly string[],
  { never, repair }: Pick<SecondEntry, "never" | "repair">,
): void {
  for (const part of first) expect(explanation.sentence.replaceAll("\u00a0", " ")).toContain(part);
  for (const part of never) expect(textOf(explanation)).not.toContain(part);
  const [best] = explanation.repairs;
  if (repair === null) expect(best).toBeUndefined();
  else expect(best).toMatchObject({ of: repair.of, standing: repair.standing });
  expect(best?.sentence ?? "").toContain(repair?.says ?? "");
}

describe.each(SECOND)("$file", ({ file, target, first, ...expected }) => {
  test("says the cause first, nothing false, and the right repair first", async () => {
    expectFirst(await explained(await loadScenario(documentOf(file)), target), [first], expected);
  });
});

test("the second catalogue has at least 100 mistakes", () => {
  expect(new Set(PLANTED.map(({ name }) => name)).size + SECOND.length).toBeGreaterThanOrEqual(100);
});

describe.each(sampleOf(PLANTED))("$name", (planted) => {
  const { target, first, mistake } = planted;

  test("says the cause first, nothing false, and the right repair first", async () => {
    const loaded = await loadPlanted(planted);
    expect(reached(lastOutcome(await loadPlanted(planted)), target)).toBe(false);
    const explanation = await explained(loaded, target);
    expectFirst(explanation, first, planted);
    if (mistake !== undefined) expect(explanation.mistake?.name).toBe(mistake);
  });

  test("works with the correction", async () => {
    expect(reached(lastOutcome(await loadPlanted(planted, true)), target)).toBe(true);
  });
});

describe.each(CALLS)("$name", ({ build, mistake, says }) => {
  test("is explained", async () => {
    const { device, frame, target } = await build(false);
    expectExplained(await why(device, 1, frame, target), mistake, says);
  });

  test.each([false, true])("corrected: %s", async (corrected) => {
    const { device, frame, target } = await build(corrected);
    expect(reached(device.receive(1, frame), target)).toBe(corrected);
  });
});
