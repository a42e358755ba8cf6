/** Compares what two devices do with one frame. */
import { unhex } from "../../base/hex.js";
import type { OptionTypes } from "../../base/checks.js";
import type { TracerOptions } from "../../explain/trace/tracer.js";
import type { TraceDestination, TraceOutcome } from "../../explain/trace/trace.js";
import type { DifferenceKind, Treatment } from "../answer.js";
import { ruleKey } from "./treatment.js";

/** What counts as behaviour. */
export interface Behaviour {
  /** Differences to ignore; "reason" is why a frame was lost. @default none */
  readonly ignore?: readonly ("counters" | "tags" | "reason")[];
  /** Whether the names of the rules that a frame hits count. @default false */
  readonly rules?: boolean;
}

export const BEHAVIOUR_TYPES: OptionTypes<Behaviour & TracerOptions> = { ignore: "any", rules: "boolean", core: "any" };

type Comparison = (a: Treatment, b: Treatment) => boolean;

/** Each kind of difference, with the test for it, in the order in which they are told. */
const COMPARISONS: Readonly<Record<DifferenceKind, Comparison>> = {
  verdict: (a, b) => a.outcome.verdict !== b.outcome.verdict || a.outcome.reason !== b.outcome.reason,
  destination: (a, b) => !isSame(names(a.outcome), names(b.outcome)),
  bytes: (a, b) => isSame(names(a.outcome), names(b.outcome)) && !isSame(bytes(a.outcome), bytes(b.outcome)),
  tag: (a, b) => !isSame(marks(a.outcome), marks(b.outcome)) && isSame(names(a.outcome), names(b.outcome)),
  counters: (a, b) => !isSame(a.counters, b.counters),
  state: (a, b) => !isSame([...a.state].sort(), [...b.state].sort()),
  rule: (a, b) => !isSame(a.rules.map(ruleKey), b.rules.map(ruleKey)),
};

/** How two devices treat a frame differently; empty where they treat it alike. */
export function differentKinds(
  a: Treatment,
  b: Treatment,
  { ignore = [], rules = false }: Behaviour,
): DifferenceKind[] {
  const left = new Set<DifferenceKind>();
  if (ignore.includes("counters")) left.add("counters");
  if (ignore.includes("tags")) left.add("tag");
  if (!rules) left.add("rule");
  if (ignore.includes("reason") && isLost(a) && isLost(b)) left.add("verdict");
  return (Object.keys(COMPARISONS) as DifferenceKind[]).filter((kind) => !left.has(kind) && COMPARISONS[kind](a, b));
}

function isLost({ outcome: { verdict } }: Treatment): boolean {
  return verdict === "drop" || verdict === "miss";
}

/**
 * The destinations in an order that no receiver can tell from another: the frames of one destination keep their order.
 */
function arrivals({ to, copies }: TraceOutcome): TraceDestination[] {
  return [...to, ...copies].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The destinations of a frame, by name. */
export function names(outcome: TraceOutcome): string[] {
  return arrivals(outcome).map(({ name }) => name);
}

function bytes(outcome: TraceOutcome): string[] {
  return arrivals(outcome).map(({ frame }) => frame);
}

/** The first frame that a destination gets in different forms: as the old device delivers it, and as the new one does. */
export function firstDifferentBytes(a: TraceOutcome, b: TraceOutcome): [Uint8Array, Uint8Array] {
  const [was, is] = [bytes(a), bytes(b)];
  const at = was.findIndex((frame, i) => frame !== is[i]);
  return [unhex(was[at] ?? ""), unhex(is[at] ?? "")];
}

/** What a completion says beside the bytes: the tag, and metadata register B. */
function marks(outcome: TraceOutcome): unknown {
  return outcome.to.length === 0 ? [] : [arrivals(outcome).map(({ tag }) => tag), outcome.tag, outcome.registers["B"]];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
