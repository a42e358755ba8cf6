/** What a device does with a frame, from the trace of the frame. */
import type { ActionStep, RuleRef, StateChange, Trace } from "../../explain/trace/trace.js";
import type { Treatment } from "../answer.js";

/** @param nameOf the name by which the comparison calls an object with state */
export function treatmentOf({ steps, outcome }: Trace, nameOf: (name: string) => string = (name) => name): Treatment {
  const rules = steps.flatMap((step) =>
    step.kind === "lookup" && step.rule !== null && !step.passedOver ? [step.rule] : [],
  );
  const state = steps
    .flatMap((step) => (step.kind === "action" ? step.state : []))
    .map((change) => ({ ...change, name: nameOf(change.name) }));
  return { rules, outcome, counters: countersOf(state), state: state.filter(isState).flatMap(stateText) };
}

/** The name of a rule, with its kind: flows and rules may have the same name. */
export function ruleKey({ kind, name }: Pick<RuleRef, "kind" | "name">): string {
  return `${kind} ${name}`;
}

function countersOf(state: ActionStep["state"]): Record<string, string> {
  const sums = new Map<string, { packets: bigint; bytes: bigint }>();
  for (const { object, name, values } of state) {
    if (object !== "counter") continue;
    const sum = sums.get(name) ?? { packets: 0n, bytes: 0n };
    sums.set(name, sum);
    for (const { value, before, after } of values) {
      if (value === "packets" || value === "bytes") sum[value] += BigInt(after) - BigInt(before);
    }
  }
  return Object.fromEntries(
    [...sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { packets, bytes }]) => [
        name,
        `${packets} ${packets === 1n ? "packet" : "packets"}, ${bytes} bytes`,
      ]),
  );
}

function isState({ object }: StateChange): boolean {
  return object !== "counter";
}

/** The values after the frame; those before it are the same in both devices. */
function stateText({ object, name, values }: StateChange): string[] {
  const changed = values.filter(({ before, after }) => before !== after);
  if (changed.length === 0) return [];
  return [`${object} ${name}: ${changed.map(({ value, after }) => `${value} ${after}`).join(", ")}`];
}
