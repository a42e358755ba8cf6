/** Code that few documents need. It loads with the first document that needs it. */
import type * as deviceObjects from "./deviceFlow/section.js";
import type { Scenario } from "./document.js";
import type * as flows from "./flow/load.js";

/** The parts of the loader that a document needs; null for those that it does not. */
export interface LoaderParts {
  readonly flows: typeof flows | null;
  readonly deviceObjects: typeof deviceObjects | null;
}

const FLOWS = ["flows", "flowActions"] as const;
const DEVICE_OBJECTS = [
  "counters",
  "rqts",
  "tirs",
  "asoObjects",
  "flowTables",
  "steeringAnchors",
  "flowEntries",
  "deviceFlows",
] as const;

export async function loaderPartsFor(scenario: Scenario): Promise<LoaderParts> {
  const needs = (sections: readonly (keyof Scenario)[]): boolean => sections.some((one) => scenario[one] !== undefined);
  const [flowPart, devicePart] = await Promise.all([
    needs(FLOWS) ? import("./flow/load.js") : null,
    needs(DEVICE_OBJECTS) ? import("./deviceFlow/section.js") : null,
  ]);
  return { flows: flowPart, deviceObjects: devicePart };
}
