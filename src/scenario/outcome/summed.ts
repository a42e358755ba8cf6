/** What sums read of an outcome: no bytes and no tags, so that it can be kept, and passed to other processes. */
import type { Destination, HitRule, Outcome } from "../../model/traffic/outcome.js";

/** An outcome as sums see it. `R` is a rule, or what stands for one. */
export interface SummedOutcome<R = HitRule> extends Pick<Outcome, "verdict" | "reason" | "missed" | "registers"> {
  /** The rules that the frame hit, in order. */
  readonly rules: readonly R[];
  readonly to: readonly SummedDestination<R>[];
  readonly copies: readonly SummedDestination<R>[];
}

/** A place where a frame arrived. */
export interface SummedDestination<R = HitRule> {
  readonly name: string;
  /** The bytes that it grew by on its way; null where its bytes are as they came. */
  readonly growth: number | null;
  /** The outcome where it arrived after it left by a port; null for none. */
  readonly beyond: SummedOutcome<R> | null;
}

/** The outcome of a frame with these bytes, as sums see it. */
export function summedOutcome(input: Uint8Array, outcome: Outcome): SummedOutcome {
  const { verdict, reason, missed, registers, rules, to, copies } = outcome;
  const arrived = (one: Destination): SummedDestination => ({
    name: one.name,
    growth: one.frame === input ? null : one.frame.length - input.length,
    beyond: one.kind === "port" && one.outcome !== null ? summedOutcome(one.frame, one.outcome) : null,
  });
  return { verdict, reason, missed, registers, rules, to: to.map(arrived), copies: copies.map(arrived) };
}

/** The same outcome with other rules. */
export function withRules<R, T>(outcome: SummedOutcome<R>, change: (rule: R) => T): SummedOutcome<T> {
  const arrived = ({ name, growth, beyond }: SummedDestination<R>): SummedDestination<T> => ({
    name,
    growth,
    beyond: beyond === null ? null : withRules(beyond, change),
  });
  const { verdict, reason, missed, registers, rules, to, copies } = outcome;
  return {
    verdict,
    reason,
    missed,
    registers,
    rules: rules.map(change),
    to: to.map(arrived),
    copies: copies.map(arrived),
  };
}
