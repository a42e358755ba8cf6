/** The rules that send a frame in a circle. */
import type { RuleRef, TraceStep } from "../trace/trace.js";

/** The rules that a frame hits more than once, in the order of their first hits. */
export function circleOf(steps: readonly TraceStep[]): readonly RuleRef[] {
  const hits = steps.flatMap((step) =>
    step.kind === "lookup" && step.rule !== null && !step.passedOver ? [step.rule] : [],
  );
  const first = new Map<number, RuleRef>();
  const again = new Set<number>();
  for (const rule of hits) {
    if (first.has(rule.id)) again.add(rule.id);
    else first.set(rule.id, rule);
  }
  return [...first.values()].filter(({ id }) => again.has(id));
}
