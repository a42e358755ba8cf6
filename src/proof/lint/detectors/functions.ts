/** Functions of the device that lose the frames that rules of the eSwitch give them. */
import { IBV_QPT_RAW_PACKET } from "../../../abi/verbs.js";
import { QueuePair } from "../../../model/queuePair/queuePair.js";
import type { FindingObject } from "../../answer.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, mentioned } from "../objects.js";

/** Whether some rule of a function delivers to a queue. */
function delivers(context: LintContext, vport: number): boolean {
  const { device, rules } = context;
  const reached = context.reachedTables();
  for (const [address, place] of device.tables) {
    if (place.vport !== vport || place.domain !== "nic_rx" || !reached.has(address)) continue;
    for (const rule of rules.rulesOf(address)) {
      if (context.linksOf(rule).some(({ kind }) => kind === "queue")) return true;
    }
  }
  // Packets for queue pairs with a transport need no rule.
  return [...device.receivers.values()].some(
    (one) => one instanceof QueuePair && one.qp_type !== IBV_QPT_RAW_PACKET && one.context.function.vport === vport,
  );
}

export const FUNCTIONS: readonly LintDetector[] = [
  {
    id: "no-default-flow",
    severity: "warning",
    *detect(context) {
      for (let vport = 0; vport <= context.device.vports; vport++) {
        const leads = new Map(
          context.links.leadsTo("vport", vport).map(({ rule }) => [rule.object.id, context.objectOf(rule)]),
        );
        const [first] = leads.values();
        if (first === undefined || delivers(context, vport)) continue;
        const object: FindingObject = { kind: "vport", name: `${vport}` };
        yield {
          objects: [object, ...leads.values()],
          sentence: `${called(object)} gets the frames of ${mentioned(first)}${leads.size > 1 ? " and others" : ""}, but no flow and no rule of the function delivers to a queue, so all of them are lost. Give it a default flow (type all_default).`,
        };
      }
    },
  },
];
