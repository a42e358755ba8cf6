/** A difference as a sentence: `frames to 10.0.0.0/8 that rule "web" sent to queue "blue" are now dropped by rule "block"`. */
import type { FieldChange, RuleRef, TraceOutcome } from "../../explain/trace/trace.js";
import { listText, ruleText, tableText } from "../../explain/why/reasons/describe.js";
import type { DifferenceKind, Treatment } from "../answer.js";
import { names } from "./compare.js";
import { ruleKey } from "./treatment.js";

/** @param frames which frames, such as "frames to 10.0.0.0/8" */
export function differenceSentence(
  frames: string,
  kinds: readonly DifferenceKind[],
  before: Treatment,
  after: Treatment,
  changed: readonly FieldChange[],
): string {
  if (kinds.includes("verdict") || kinds.includes("destination"))
    return `${frames} ${beforeText(before)} ${afterText(before, after)}`;
  const parts = kinds.map((kind) => PARTS[kind](before, after, changed));
  const text = parts.join(", and ");
  return `${frames} ${beforeText(before)} ${text.startsWith("no longer") ? text : `now ${text}`}`;
}

const PARTS: Readonly<
  Record<DifferenceKind, (before: Treatment, after: Treatment, changed: readonly FieldChange[]) => string>
> = {
  verdict: () => "end otherwise",
  destination: () => "go elsewhere",
  bytes: (_, __, changed) =>
    changed.length === 0 ? "arrive with different bytes" : `arrive with ${listText(changed.map(fieldText), 2)}`,
  tag: (before, after) => `carry ${tagText(after.outcome)} instead of ${tagText(before.outcome)}`,
  counters: countersText,
  state: stateText,
  rule: (before, after) => {
    const [was, is] = firstDifferent(before.rules, after.rules);
    return `hit ${was === null ? ruleOf(is) : `${ruleOf(is)} instead of ${ruleOf(was)}`}`;
  },
};

/** How the old device treated them, as a relative clause. */
function beforeText({ rules, outcome }: Treatment): string {
  const rule = rules.at(-1);
  const { verdict, missed } = outcome;
  const table = missed.at(-1);
  if (table !== undefined) return `that no rule of ${tableText(table)} took`;
  if (verdict === "miss") return "that no rule took";
  if (verdict === "drop")
    return `that ${rule === undefined ? "the device" : ruleText(rule)} dropped${reasonText(outcome)}`;
  return `that ${rule === undefined ? "the device" : ruleText(rule)} sent to ${destinationText(outcome)}`;
}

/** How the new device treats them, as a predicate. */
function afterText({ rules: had, outcome: was }: Treatment, { rules, outcome }: Treatment): string {
  const rule = rules.at(-1);
  const last = had.at(-1);
  const same = rule !== undefined && last !== undefined && ruleKey(rule) === ruleKey(last);
  const by = rule === undefined ? "" : same ? " by the same rule" : ` by ${ruleText(rule)}`;
  const { verdict, missed } = outcome;
  const table = missed.at(-1);
  if (table !== undefined) return `no longer hit any rule of ${tableText(table)}`;
  if (verdict === "miss") return "no longer hit any rule";
  if (verdict === "drop") {
    if (was.verdict === "drop") return `are now dropped for a different reason${by}${reasonText(outcome)}`;
    return `are now dropped${by}${reasonText(outcome)}`;
  }
  return `are now sent to ${destinationText(outcome)}${by}`;
}

/** The reason of a drop, where it is not a drop action. */
function reasonText({ reason }: TraceOutcome): string {
  return reason === null || reason === "drop_action" ? "" : ` (${reason.replaceAll("_", " ")})`;
}

function destinationText(outcome: TraceOutcome): string {
  const all = names(outcome).map(placeText);
  return all.length === 0 ? "no queue" : listText(all);
}

/** `queue "blue"` for `qp:blue`. */
function placeText(label: string): string {
  const [kind = "", ...rest] = label.split(":");
  const name = rest.join(":");
  if (kind === "port") return `port ${name}`;
  return kind === "host" ? `the host queue ${name}` : `queue "${name}"`;
}

/** The values are those of one frame. */
function fieldText({ field, before, after }: FieldChange): string {
  if (after === null) return `no ${field}`;
  return before === null ? `${field}, such as ${after}` : `a different ${field}, such as ${after} instead of ${before}`;
}

function tagText({ tag, to }: TraceOutcome): string {
  const value = tag ?? to.find((one) => one.tag !== 0)?.tag;
  return value === undefined ? "no tag" : `tag ${value}`;
}

function countersText(before: Treatment, after: Treatment): string {
  const was = Object.keys(before.counters).filter((name) => before.counters[name] !== after.counters[name]);
  const is = Object.keys(after.counters).filter((name) => before.counters[name] !== after.counters[name]);
  const quoted = (list: readonly string[]): string => listText(list.map((name) => `counter "${name}"`));
  if (was.length === 0) return `count on ${quoted(is)} too`;
  if (is.length === 0) return `no longer count on ${quoted(was)}`;
  if (quoted(was) !== quoted(is)) return `count on ${quoted(is)} instead of ${quoted(was)}`;
  const [name = ""] = is;
  return `count ${after.counters[name]} on counter "${name}" instead of ${before.counters[name]}`;
}

function stateText({ state: was }: Treatment, { state: is }: Treatment): string {
  const gone = was.filter((line) => !is.includes(line));
  const come = is.filter((line) => !was.includes(line));
  if (come.length === 0) return `no longer change ${gone[0] ?? "state"}`;
  return gone.length === 0 ? `change ${come[0]}` : `leave ${come[0]} instead of ${gone[0]}`;
}

function firstDifferent(a: readonly RuleRef[], b: readonly RuleRef[]): [RuleRef | null, RuleRef | null] {
  const at = a.findIndex((rule, i) => b[i] === undefined || ruleKey(rule) !== ruleKey(b[i]));
  return at < 0 ? [null, b[a.length] ?? null] : [a[at] ?? null, b[at] ?? null];
}

function ruleOf(rule: RuleRef | null): string {
  return rule === null ? "no rule" : ruleText(rule);
}
