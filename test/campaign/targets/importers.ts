/** Texts of other programs through the importers. */
import { expect } from "vitest";
import { SteeringError } from "../../../src/index.js";
import { IMPORT_FORMATS, importRules, printFinding } from "../../../src/import/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import type { Random } from "../../oracle/generate/random.js";
import { textsIn } from "../files.js";
import type { Target } from "../target.js";
import { brokenText } from "./support/broken.js";
import { LIMITS, orRefusal, runLoaded } from "./support/loading.js";

const MAX_LENGTH = 40_000;

export const importers = importing(
  "importers",
  "texts as people have them and steering dumps, whole and broken: each is imported, what is left out has a reason and " +
    "a place in the text, and a device takes what was imported",
  wholeTexts,
);

export const recordings = importing(
  "recordings",
  "recordings of programs, whole and broken: as for importers, but calls that no device takes are refused when the " +
    "scenario is loaded",
  () => textsIn("test/import/recording/recordings", /\.jsonl$/).map(({ text }) => text),
  false,
);

/** @param isTaken whether a device takes all that is imported */
function importing(name: string, about: string, textsOf: () => string[], isTaken = true): Target {
  return {
    name,
    about,
    unit: "texts",
    guide: "host",
    open: () => {
      const texts = textsOf();
      return Promise.resolve(async (random) => {
        await tryOne(drawnText(random, texts), random, isTaken);
        return 1;
      });
    },
  };
}

/** Texts as people have them, and steering dumps. */
export function wholeTexts(): string[] {
  const files = [
    ...textsIn("test/import/corpus", /\.txt$/),
    ...textsIn("test/import/dump/dumps", /\.csv$/),
    ...textsIn("examples", /\.csv$/),
  ];
  return files.map(({ text }) => text).filter((text) => text.length < MAX_LENGTH);
}

/** A text, whole or broken. */
export function drawnText(random: Random, texts: readonly string[]): string {
  const of = random.pick(texts);
  return brokenText(of, random.pick(texts), random);
}

async function tryOne(text: string, random: Random, isTaken: boolean): Promise<void> {
  const format = random.chance(0.15) ? { format: random.pick(IMPORT_FORMATS) } : {};
  const { scenario, findings } = importRules([{ file: "text", text }], { lenient: true, ...format });
  if (scenario === null) throw new Error("a lenient import has a scenario");
  const lines = text.split("\n");
  for (const finding of findings) {
    const { line, column, reason } = finding;
    const isThere = column - 1 <= (lines[line - 1]?.length ?? -1);
    // An `expect` for each part takes longer than the import.
    if (reason === "" || column < 1 || !isThere || !printFinding(finding).includes(reason))
      throw new Error(`a finding without reason or place: ${JSON.stringify(finding)}`);
  }
  const strict = importRules([{ file: "text", text }], format);
  expect(strict.scenario === null).toBe(findings.some(({ severity }) => severity === "refused"));
  const loaded = await orRefusal(() => loadScenario(scenario, { limits: LIMITS }));
  if (loaded instanceof SteeringError) {
    // The text asks for more than the device of this test has.
    if (loaded.code === "ENOMEM" || !isTaken) return;
    throw new Error(`a device refuses what was imported: ${loaded.message}`);
  }
  await runLoaded(loaded, random);
}
