/** Loaded scenarios in snapshots of their devices. */
import { refuse } from "../../errors.js";
import type { Device } from "../../model/device/device.js";
import type { FlowAction } from "../../model/action/flowAction.js";
import type { Context } from "../../model/base/context.js";
import { LoadedScenario } from "../load.js";
import { ScenarioObjects } from "../objects.js";
import { loaderPartsFor } from "../onDemand.js";
import { throwFirst, withWrittenValues } from "../report.js";
import { parseScenario } from "../scenario.js";
import type { SavedObjects } from "./objects.js";

/** What a snapshot keeps of a loaded scenario. */
export interface SavedScenario extends Readonly<Record<string, unknown>> {
  /** The document as JSON, without what was used: messages, frames and expectations. */
  readonly document: string;
  readonly objects: SavedObjects;
}

/**
 * What a snapshot of the device must keep, so that the scenario can go on with the restored device.
 *
 * @returns `keep` for `snapshotOf`
 * @example
 *     const bytes = snapshotOf(loaded.device, { keep: savedScenario(loaded) });
 *     const { device, kept } = await restoreDevice<SavedScenario>(bytes);
 *     const again = await restoreScenario(device, kept);
 */
export function savedScenario(loaded: LoadedScenario): SavedScenario {
  const { scenario, objects } = loaded;
  const { messages: _sent, frames: _run, expect: _compared, ...document } = scenario;
  const { indirectionTables, rqts, tirs, asoObjects, counters, tables, matchers, implied, rules } = objects;
  const { flows, flowEntries, deviceFlows, hostRules } = objects;
  return {
    document: JSON.stringify(document),
    objects: {
      queues: new Map([...objects.queues].map(([name, { queue }]) => [name, queue])),
      flowCounters: new Map([...objects.flowCounters].map(([name, { counters: one }]) => [name, one])),
      indirectionTables,
      rqts,
      tirs,
      asoObjects,
      counters,
      tables,
      matchers,
      implied,
      rules,
      flows,
      flowEntries,
      deviceFlows,
      hostRules,
      domains: objects.domains.saved,
      actions: objects.actions.made,
      flowActions: objects.flowActions?.made ?? new Map<string, FlowAction>(),
    },
  };
}

/**
 * Finds the objects of a scenario on a restored device. Messages are not sent again. Queues with buffers have those that
 * are posted; their completions are not compared with outcomes any more.
 *
 * @param kept what `restoreDevice` returned
 * @throws SteeringError EINVAL (bad_snapshot): the snapshot keeps no scenario
 */
export async function restoreScenario(
  device: Device,
  kept: Readonly<Record<string, unknown>>,
): Promise<LoadedScenario> {
  if (!isSaved(kept))
    return refuse({
      code: "EINVAL",
      call: "restoreScenario",
      reason: "bad_snapshot",
      path: "kept",
      hint: "the snapshot keeps no scenario: take it with keep: savedScenario(loaded)",
    });
  const scenario = parseScenario(kept.document);
  const report = withWrittenValues(scenario, throwFirst);
  const context = kept.objects.domains.contexts.get(0) as Context;
  const objects = new ScenarioObjects(scenario, await loaderPartsFor(scenario), device, context, report, kept.objects);
  return new LoadedScenario(scenario, objects, report);
}

function isSaved(kept: Readonly<Record<string, unknown>>): kept is SavedScenario {
  return typeof kept["document"] === "string" && typeof kept["objects"] === "object";
}
