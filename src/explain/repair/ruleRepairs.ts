/** Changes of the rule that let the frame match: other values, wider masks and ranges, fewer fields, another priority. */
import { FlowEntry } from "../../model/flow/entry.js";
import { isVerbsFlow } from "../../model/flow/kinds.js";
import { fullMask } from "../../model/match/term.js";
import { rangeText, termText } from "../match/notation.js";
import type { FieldChange } from "../trace/trace.js";
import type { RuleCandidate, RuleInTable } from "./context.js";
import type { Facts, TermFact } from "./facts.js";
import { isGuarded } from "./guarded.js";
import { FLAGS, isLast, lastPriority, PRIORITY, withoutVersions } from "./ruleChange.js";

/** The changes of the rule that may let the frame match it, smallest first. */
export function ruleCandidates({ context: { rule }, failing }: Facts): RuleCandidate[] {
  // Other values and fewer fields at once make a rule for another protocol.
  if (rule === null || failing.length === 0 || failing.some(({ found }) => found === null)) return [];
  const values = failing.map(takesFound);
  const masks = failing.map((term, i) => widened(term) ?? (values[i] as FieldChange));
  const wider = masks.some((one, i) => one.after !== values[i]?.after);
  return (wider ? [values, masks] : [values]).map((changes) => ({ rule, changes: withoutVersions(rule, changes) }));
}

/** The rule without the fields that fail: for where no other change helps. */
export function lessOf({ context: { rule }, failing }: Facts): RuleCandidate[] {
  // Without its addresses, a rule for one IP version would be one for both.
  const isOfVersion = failing.some(({ name, found }) => name.endsWith(".ip_version") && found !== null);
  if (rule === null || failing.length === 0 || isOfVersion) return [];
  // Without its SPI, a rule would give all ESP to one association.
  if (failing.some(({ name }) => name.endsWith("_esp_spi"))) return [];
  return [{ rule, changes: withoutVersions(rule, failing.map(leftOut)) }];
}

/** The priorities that put the rule before the one that took the frame. */
export function priorityCandidates({ context, context: { rule, taker } }: Facts): RuleCandidate[] {
  if (rule === null || taker === null || !hasPriority(rule) || !hasPriority(taker)) return [];
  if (isGuarded(context, taker)) return [];
  if (taker.ref.priority > 0) return [ranked(rule, taker.ref.priority - 1)];
  return rule.ref.priority < lastPriority(taker) ? [ranked(taker, rule.ref.priority + 1)] : [];
}

/** The flow that took the frame with DONT_TRAP: its queue gets a copy, and the frame continues to the rule. */
export function copyCandidates({ context: { rule, taker } }: Facts): RuleCandidate[] {
  const entry = taker?.object;
  if (rule === null || taker === null || !(entry instanceof FlowEntry) || !canCopy(entry)) return [];
  const [loops, ...others] = new Set(entry.flows.map(({ loopsBack }) => loopsBack));
  if (others.length > 0) return [];
  const before = loops === true ? "allow_loop_back" : null;
  const after = before === null ? "dont_trap" : `${before}, dont_trap`;
  return [{ rule: taker, changes: [{ field: FLAGS, before, after }] }];
}

/** ibv_create_flow(3): DONT_TRAP is for NORMAL flows, and with it a flow neither drops nor changes the frame. */
function canCopy({ stage, dontTrap, drop, actions, flows }: FlowEntry): boolean {
  return stage === "root" && !dontTrap && !drop && actions.length === 0 && flows.every(isVerbsFlow);
}

/** Entries of flow tables rank by index, host rules by application, and some flows come last. */
function hasPriority(rule: RuleInTable): boolean {
  const { kind } = rule.ref;
  return (kind === "rule" || kind === "flow") && !isLast(rule);
}

/** A rule at another priority. */
export function ranked(rule: RuleInTable, priority: number): RuleCandidate {
  return { rule, changes: [{ field: PRIORITY, before: String(rule.ref.priority), after: String(priority) }] };
}

/** The term with the value that the frame has; without a header the term is left out. */
function takesFound(term: TermFact): FieldChange {
  const { field, mask, range, found } = term;
  if (found === null) return leftOut(term);
  const after =
    range === null
      ? termText(field, mask, found & mask)
      : rangeText(field, found < range.low ? found : range.low, found > range.high ? found : range.high);
  return { field: field.name, before: term.wanted, after };
}

function leftOut({ field, wanted }: TermFact): FieldChange {
  return { field: field.name, before: wanted, after: null };
}

/** An address under the longest prefix that covers both; flags without those that differ. */
function widened(term: TermFact): FieldChange | null {
  const { field, mask, value, range, found, wanted } = term;
  if (range !== null || found === null) return null;
  const differing = (found ^ value) & mask;
  let kept: bigint;
  if (field.kind === "ipv4" || field.kind === "ipv6") {
    kept = fullMask(field) ^ ((1n << BigInt(differing.toString(2).length)) - 1n);
    // A prefix that takes half of all addresses says nothing.
    if ((kept & mask) !== kept || kept >> BigInt(field.width - 8) !== 0xffn) return null;
  } else if (field.name.endsWith(".tcp_flags")) {
    kept = mask & ~differing;
    if ((value & kept) === 0n) return null;
  } else return null;
  return { field: field.name, before: wanted, after: termText(field, kept, value & kept) };
}
