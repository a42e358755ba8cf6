/** Scenario files: documents and texts, whole and broken. */
import { expect } from "vitest";
import { SteeringError } from "../../../src/index.js";
import { checkScenario, loadScenario } from "../../../src/scenario/index.js";
import type { Random } from "../../oracle/generate/random.js";
import { everyKey } from "../../scenario/support/documents.js";
import { textsIn } from "../files.js";
import type { Target } from "../target.js";
import { brokenDocument, brokenText } from "./support/broken.js";
import { LIMITS, orRefusal, runLoaded } from "./support/loading.js";

/** Longer documents take long, and have nothing that shorter ones lack. */
const MAX_LENGTH = 60_000;

export const scenarios: Target = {
  name: "scenarios",
  about:
    "documents of every key and of examples/, broken in values, keys and text: loaded or refused, a check says the same, " +
    "what is loaded steers frames",
  unit: "documents",
  guide: "host",
  open: () => {
    const documents = wholeDocuments();
    return Promise.resolve(async (random) => {
      await tryOne(drawnDocument(random, documents), random);
      return 1;
    });
  },
};

/** A document of every key, and those of examples/. */
export function wholeDocuments(): object[] {
  const texts = textsIn("examples", /^[^/]*\.json$/)
    .map(({ text }) => text)
    .filter((text) => text.length < MAX_LENGTH && text.includes('"flowsteer"'));
  return [everyKey(), ...texts.map((text) => JSON.parse(text) as object)];
}

/** A document or its text, whole or broken. */
export function drawnDocument(random: Random, documents: readonly object[]): string | object {
  const document = brokenDocument(random.pick(documents), random) as object;
  if (random.chance(0.7)) return document;
  return brokenText(JSON.stringify(document, null, 1), JSON.stringify(random.pick(documents), null, 1), random);
}

async function tryOne(document: string | object, random: Random): Promise<void> {
  if (typeof document !== "object" && typeof document !== "string") return;
  const loaded = await orRefusal(() => loadScenario(document, { limits: LIMITS }));
  const check = await orRefusal(() => checkScenario(document, { limits: LIMITS }));
  if (check instanceof SteeringError) throw new Error(`a check throws: ${check.message}`);
  if (loaded instanceof SteeringError) {
    expect(check.refusals[0]?.message).toBe(loaded.message);
    return;
  }
  expect(check.refusals.map(({ message }) => message)).toEqual([]);
  await runLoaded(loaded, random);
}
