/**
 * Rules of a root table that match the same frames are one entry of the kernel's table: it takes
 * each further destination and counter, and refuses actions that conflict (fs_core.c `add_rule_fg`,
 * `check_conflicting_ftes`, `add_rule_fte`). The oldest rule of the entry is the one in the core.
 */
import { Op } from "../../abi/engine.js";
import { RULE_ID } from "../../abi/rule.js";
import { changeActions } from "../../engine/rules.js";
import { refuse } from "../../errors.js";
import type { Action, ActionKind } from "../action/action.js";
import { recordOf } from "../action/list.js";
import { operationOf } from "../action/operations.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { Classifier } from "../table/classifier.js";
import { allDirections, type Direction } from "../table/directions.js";
import type { Matcher } from "../table/matcher.js";

/** Rules for the same frames, oldest first. */
export interface RootEntry {
  readonly rules: EntryRule[];
  /** The tag that it was made with; the rule that brought it may be gone (`alloc_fte`). */
  readonly tag: Action | null;
  /** Whether its frames come from vports alone, of an eSwitch. */
  readonly isSent: boolean;
}

/** A rule as its entry needs it. */
export interface EntryRule {
  readonly id: number;
  readonly name: string;
  readonly device: DeviceBase;
  readonly matcher: Matcher;
  readonly place: Matcher;
  readonly classifier: Classifier;
  readonly actions: readonly Action[];
  readonly sequence: number;
  handle: number;
  secondHandle: number;
  entry: RootEntry | null;
}

/** Actions that an entry has as they are, or not at all. */
const CHANGES: ReadonlySet<ActionKind> = new Set(["packet_reformat", "modify_header", "pop_vlan", "push_vlan"]);

/** @throws EEXIST actions that conflict with those of an older rule for the same frames */
export function checkAgreement(older: EntryRule, actions: readonly Action[]): void {
  const conflict = conflictOf(actionsOf(entryOf(older, false)), actions);
  if (conflict === undefined) return;
  const hint = `${older.name} matches the same frames and ${conflict}`;
  refuse({ code: "EEXIST", reason: "conflicting_rule", path: "actions", hint, cite: "docs/rules.md, Profiles" });
}

/** What an entry does that excludes these actions. */
function conflictOf(older: readonly Action[], actions: readonly Action[]): string | undefined {
  const of = (list: readonly Action[], kind: ActionKind): Action | undefined => list.find((one) => one.kind === kind);
  const [drops, tag, old] = [of(older, "drop"), of(actions, "tag"), of(older, "tag")];
  if ((drops === undefined) !== (of(actions, "drop") === undefined))
    return drops === undefined ? "does not drop them" : "drops them";
  if (tag !== undefined && tag.operand !== (old?.operand ?? 0))
    return old === undefined ? "has no tag" : `has the tag ${old.operand}`;
  const [others, changes] = [older, actions].map((list) => list.filter(({ kind }) => CHANGES.has(kind)));
  if (changes!.length !== others!.length || changes!.some((one, i) => one !== others![i])) return "has other changes";
  // MODEL: an entry has one destination besides its queues, as one of flows has (docs/flows.md).
  const [end, other] = [older, actions].map((list) => list.find(goesOn));
  return end !== undefined && other !== undefined && !isSame(end, other) ? "goes on to another place" : undefined;
}

/** Adds a rule to the entry of an older one. @throws ENOMEM the entry is as before */
export function join(older: EntryRule, rule: EntryRule, [direction]: readonly Direction[]): void {
  const entry = entryOf(older, direction !== allDirections(older.matcher.table.domain.type)[0]);
  if (!write(older, { ...entry, rules: [...entry.rules, rule] })) {
    write(older, entry);
    older.device.allocated(0);
  }
  entry.rules.push(rule);
  older.entry = rule.entry = entry;
}

/**
 * Takes a rule out of its entry. The next one takes its place in the core; a list for fewer rules
 * is never longer, so nothing here can fail.
 */
export function leave(rule: EntryRule): void {
  const { entry, device } = rule;
  if (entry === null) return;
  entry.rules.splice(entry.rules.indexOf(rule), 1);
  const [first] = entry.rules;
  if (first === undefined) return;
  if (rule.handle !== 0) takeOver(device, rule, first);
  write(first, entry);
}

/** Makes the rule of the core that of another rule of its entry. */
function takeOver({ core, hitCounts }: DeviceBase, from: EntryRule, to: EntryRule): void {
  const { classifier, place, sequence } = to;
  for (const handle of [from.handle, from.secondHandle]) {
    if (handle === 0) continue;
    core.u32[(handle + RULE_ID) >> 2] = to.id;
    core.exports.rerankRule(handle, classifier.rankHigh(place), classifier.rankLow(place, sequence));
  }
  hitCounts?.move(from, to);
  to.handle = from.handle;
  to.secondHandle = from.secondHandle;
  from.handle = from.secondHandle = 0;
}

/** The entry of a rule; the one that it begins where it has none. */
function entryOf(rule: EntryRule, isSent: boolean): RootEntry {
  return rule.entry ?? { rules: [rule], tag: rule.actions.find(({ kind }) => kind === "tag") ?? null, isSent };
}

/** What an entry does: the changes of its rules, which agree, and all counters and destinations. */
function actionsOf({ rules: [first, ...others], tag }: RootEntry): Action[] {
  const own = (first as EntryRule).actions.filter(({ kind }) => kind !== "tag");
  const list = tag === null ? own : [tag, ...own];
  for (const { actions } of others) {
    for (const one of actions)
      if ((one.step === "count" || one.step === "end") && !list.some((other) => isSame(one, other))) list.push(one);
  }
  return list.toSorted((a, b) => Number(goesOn(a)) - Number(goesOn(b)));
}

function isSame(one: Action, other: Action): boolean {
  return one.op === other.op && one.operand === other.operand;
}

/** Whether an action leads the frame elsewhere than to a queue. */
function goesOn({ step, op }: Action): boolean {
  return step === "end" && op !== Op.drop && operationOf(op).copy === undefined;
}

/** Writes the actions of an entry into the rule of the core. @returns false when memory is full */
function write({ device, matcher, handle, secondHandle }: EntryRule, entry: RootEntry): boolean {
  const { domain } = matcher.table;
  const actions = actionsOf(entry);
  const copies = actions.some(goesOn);
  const directions = allDirections(domain.type).slice(entry.isSent ? 1 : 0);
  return directions.every((direction, i) => {
    // Without a second record, the first one serves both directions.
    const one = i === 0 ? handle : secondHandle;
    if (one === 0) return true;
    const record = recordOf(direction, domain, actions);
    const words = copies ? record.map((word, at) => (at % 2 === 0 ? (operationOf(word).copy ?? word) : word)) : record;
    return changeActions(device.core, one, words);
  });
}
