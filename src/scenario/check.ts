/** Checks a document, and goes on after a refusal. */
import { inAsyncCall, SteeringError } from "../errors.js";
import { Context } from "../model/base/context.js";
import { createDevice } from "../model/device/device.js";
import type { DeviceOptions } from "../model/device/options.js";
import type { Scenario } from "./document.js";
import { LoadedScenario } from "./load.js";
import { ScenarioObjects } from "./objects.js";
import { loaderPartsFor } from "./onDemand.js";
import { at } from "./place.js";
import { attempt, Refusals, withWrittenValues } from "./report.js";
import { readScenario } from "./scenario.js";

/** What is wrong with a document, and the document where nothing is. */
export interface ScenarioCheck {
  readonly scenario: Scenario | null;
  /** The refusals, each with its path in the document. The first is that of `loadScenario`. */
  readonly refusals: readonly SteeringError[];
  /** The document on a device; null where something is wrong. */
  readonly loaded: LoadedScenario | null;
}

/**
 * Checks a document as `loadScenario` does, and goes on after a refusal. The schema is checked first,
 * then names, then objects are made on a device. Only a step without refusals is followed by the
 * next, and an object that depends on a refused one is not made.
 *
 * @param deviceOptions override those of the document
 * @throws TypeError neither text nor an object
 */
export async function checkScenario(
  document: string | object,
  deviceOptions: DeviceOptions = {},
): Promise<ScenarioCheck> {
  return inAsyncCall("loadScenario", async () => {
    const { list: refusals, report: collect } = new Refusals();
    const scenario = readScenario(document, collect);
    if (scenario === null) return { scenario, refusals, loaded: null };
    let loaded: LoadedScenario | undefined;
    const report = withWrittenValues(scenario, collect);
    try {
      const [parts, device] = await Promise.all([
        loaderPartsFor(scenario),
        at("device", () => createDevice({ ...scenario.device, ...deviceOptions })),
      ]);
      const objects = new ScenarioObjects(scenario, parts, device, new Context(device), report);
      if (refusals.length === 0) loaded = attempt(report, () => new LoadedScenario(scenario, objects, report));
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      report(error);
    }
    const good = refusals.length === 0;
    return { scenario: good ? scenario : null, refusals, loaded: good ? (loaded ?? null) : null };
  });
}
