/** Whether a frame came to a target, judged by its outcome. */
import type { Target } from "../../../../src/explain/why/explanation.js";
import type { Outcome } from "../../../../src/model/traffic/outcome.js";
import { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import { Rule } from "../../../../src/model/rule/rule.js";
import { WorkQueue } from "../../../../src/model/queue/workQueue.js";

export function reached(outcome: Outcome, target: Target): boolean {
  const arrived = [...outcome.to, ...outcome.copies];
  switch (target.kind) {
    case "rule":
    case "flow":
      return outcome.rules.some(({ name }) => name === target.name);
    case "queue":
      return arrived.some(({ name }) => name === `qp:${target.name}` || name === `wq:${target.name}`);
    case "table":
      return (
        outcome.missed.some(({ table }) => table === target.name) ||
        outcome.rules.some((rule) => rule instanceof Rule && rule.matcher.table.name === target.name)
      );
    case "vport":
      return arrived.some(
        ({ object, name }) =>
          (target.vport === 0xffff && name.startsWith("port:")) ||
          ((object instanceof QueuePair || object instanceof WorkQueue) &&
            object.context.function.vport === target.vport),
      );
    case "end":
      return outcome.verdict !== "drop" && outcome.verdict !== "miss";
    case "tag":
      return arrived.some(({ kind, tag }) => kind !== "port" && tag === target.tag);
    case "counter":
      throw new TypeError("an outcome has no counters");
    case "twice":
      return arrived.length > 1;
  }
}
