/** Scenarios that are run, or refused. */
import { expect } from "vitest";
import { SteeringError } from "../../../src/errors.js";
import { loadScenario, outcomeRecord, type LoadedScenario, type OutcomeRecord } from "../../../src/scenario/index.js";

/** Runs the frames of a document, whose expectations all hold. */
export async function run(document: object): Promise<[LoadedScenario, OutcomeRecord[]]> {
  const loaded = await loadScenario(document);
  const records = loaded.run().map((outcome, i) => outcomeRecord(i + 1, loaded.frames[i]!, outcome));
  expect(loaded.failures()).toEqual([]);
  expect(loaded.disagreements).toEqual([]);
  return [loaded, records];
}

/** What the refusal of a document says. */
export async function refusal(document: object): Promise<string> {
  try {
    await loadScenario(document);
  } catch (error) {
    if (error instanceof SteeringError) return error.message;
    throw error;
  }
  throw new Error("it was taken");
}
