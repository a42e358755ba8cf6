/** Objects that nothing uses. */
import { IBV_QPT_RAW_PACKET } from "../../../abi/verbs.js";
import { AsoObject } from "../../../model/action/asoObject.js";
import { FlowCounter } from "../../../model/action/counter.js";
import { Handle } from "../../../model/base/handle.js";
import { Counters } from "../../../model/flow/counters.js";
import { QueuePair } from "../../../model/queuePair/queuePair.js";
import { WorkQueue } from "../../../model/queue/workQueue.js";
import type { FindingObject, Fix } from "../../answer.js";
import type { LintContext } from "../context.js";
import type { Found, LintDetector } from "../detector.js";
import { called, namedObject } from "../objects.js";

/** The kind of an object of the device without rules; null for one that no detector reports. */
function kindOf(one: object): FindingObject["kind"] | null {
  if (one instanceof FlowCounter) return "counter";
  if (one instanceof Counters) return "flow counter";
  return one instanceof AsoObject ? "ASO object" : null;
}

function unused(object: FindingObject, rest: string): Found {
  return { objects: [object], sentence: `${called(object)} ${rest}`, fix: remove(object) };
}

function remove(object: FindingObject): Fix {
  return { kind: "remove", object, sentence: "Remove it." };
}

function* unusedResources({ device }: LintContext, wanted: (one: object) => boolean, rest: string): Iterable<Found> {
  for (const one of device.resources) {
    const kind = kindOf(one);
    if (kind !== null && wanted(one) && one instanceof Handle && one.users === 0)
      yield unused(namedObject(kind, one), rest);
  }
}

const isMeter = (one: object): boolean => one instanceof AsoObject && one.kind === "flow_meter";
const isCounter = (one: object): boolean => !(one instanceof AsoObject);

export const UNUSED: readonly LintDetector[] = [
  {
    id: "unused-matcher",
    severity: "note",
    *detect(context) {
      for (const matcher of context.matchers()) {
        if (matcher.users === 0) yield unused(namedObject("matcher", matcher), "has no rules.");
      }
    },
  },
  {
    id: "unused-counter",
    severity: "note",
    detect: (context) => unusedResources(context, isCounter, "counts nothing: no action or flow uses it."),
  },
  {
    id: "unused-meter",
    severity: "note",
    detect: (context) => unusedResources(context, isMeter, "measures nothing: no action uses it."),
  },
  {
    id: "unused-object",
    severity: "note",
    detect: (context) =>
      unusedResources(context, (one) => !isMeter(one) && !isCounter(one), "is unused: no action uses it."),
  },
  {
    id: "unused-queue",
    severity: "note",
    *detect({ device, senders, rules, tables }) {
      const refs = [...tables].filter((table) => rules.rulesOf(table).length > 0).map((one) => rules.tableRefOf(one));
      const sending = new Set(refs.flatMap(({ domain, vport }) => (domain === "nic_tx" ? vport : [])));
      for (const queue of device.receivers.values()) {
        const raw = queue instanceof QueuePair && queue.qp_type === IBV_QPT_RAW_PACKET;
        if (!(queue instanceof WorkQueue || raw) || queue.users > 0 || senders.has(queue)) continue;
        // What sends through rules has a use.
        if (raw && sending.has(queue.context.function.vport)) continue;
        const object = namedObject("queue", queue);
        // Removing a queue would change the numbers of later ones, so no repair is sure.
        yield { objects: [object], sentence: `${called(object)} gets no frames: no rule or flow leads to it.` };
      }
    },
  },
];
