/**
 * Rules that match the same frames as an older one. A DR table refuses them on request
 * (mlx5dv_dr_domain_allow_duplicate_rules). In a root table, which the kernel writes, they are one
 * entry: `add_rule_fg` of fs_core.c refuses actions that conflict with those of the entry.
 */
import { DIRECTION_WIRE, EXT_DIRECTION, KEY_SIZE } from "../../abi/key.js";
import { firstMatch } from "../../engine/rules.js";
import { refuse } from "../../errors.js";
import type { Action, ActionKind } from "../action/action.js";
import { Matcher } from "../table/matcher.js";
import type { Handle } from "../base/handle.js";

/** A rule of a matcher, as the rules after it see it. */
interface OlderRule extends Handle {
  readonly place: Matcher;
  readonly actions: readonly Action[];
  readonly sequence: number;
}

const KEY = new Uint8Array(KEY_SIZE);

/**
 * Refuses a rule whose value another one of its matcher has.
 * @throws EEXIST
 */
export function checkDuplicate(matcher: Matcher, value: Uint8Array): void {
  // SPEC: rules with masks of their own are never duplicates.
  if (matcher.mask === null) return;
  if (ruleOf(matcher, value) !== null) refuseDuplicate();
  const { pending } = matcher.table.domain;
  const waits = pending?.some((rule, held) => rule.matcher === matcher && isEqual(held.value, value));
  if (waits === true) refuseDuplicate();
}

/**
 * Refuses a rule of a root table whose actions conflict with those of an older one for the same
 * frames: `check_conflicting_ftes` of fs_core.c.
 * @throws EEXIST
 */
export function checkConflict(matcher: Matcher, value: Uint8Array, actions: readonly Action[]): void {
  for (const place of matcher.table.classifier.places) {
    if (!(place instanceof Matcher) || place.slot !== matcher.slot || !isSameMask(place, matcher)) continue;
    const other = ruleOf(place, value);
    if (other === null) continue;
    const conflict = conflictOf(other, actions);
    if (conflict === undefined) continue;
    const hint = `${other.name} matches the same frames and ${conflict}`;
    refuse({ code: "EEXIST", reason: "conflicting_rule", path: "actions", hint, cite: CITE });
  }
}

const CITE = "docs/rules.md, Profiles";

/** The oldest living rule of a matcher with this value. A lookup finds all rules of this mask that have it. */
function ruleOf(matcher: Matcher, value: Uint8Array): OlderRule | null {
  const { device, table, mask } = matcher;
  const { classifier, domain } = table;
  KEY.set(value);
  if (domain.type === "fdb" && mask?.[EXT_DIRECTION] === 0) KEY[EXT_DIRECTION] = DIRECTION_WIRE;
  const rankHigh = classifier.rankHigh(matcher);
  for (let sequence = 0; ;) {
    const id = firstMatch(device.core, classifier.table, KEY, rankHigh, classifier.rankLow(matcher, sequence));
    const found = id < 0 ? null : (device.installed.at(id) as unknown as OlderRule);
    if (found === null || found.place !== matcher) return null;
    // A rule whose removal is pending counts as gone.
    if (!found.destroyed) return found;
    sequence = found.sequence + 1;
  }
}

/** Actions that an entry has as they are, or not at all. */
const CHANGES: ReadonlySet<ActionKind> = new Set(["packet_reformat", "modify_header", "pop_vlan", "push_vlan"]);

/** What a rule does that excludes these actions for the same frames. */
function conflictOf({ actions: older }: OlderRule, actions: readonly Action[]): string | undefined {
  const of = (list: readonly Action[], kind: ActionKind): Action | undefined => list.find((one) => one.kind === kind);
  const [drops, tag, old] = [of(older, "drop"), of(actions, "tag"), of(older, "tag")];
  if ((drops === undefined) !== (of(actions, "drop") === undefined))
    return drops === undefined ? "does not drop them" : "drops them";
  if (tag !== undefined && tag.operand !== (old?.operand ?? 0))
    return old === undefined ? "has no tag" : `has the tag ${old.operand}`;
  const [others, changes] = [older, actions].map((list) => list.filter(({ kind }) => CHANGES.has(kind)));
  return isEqual(changes!, others!) ? undefined : "has other changes";
}

function isSameMask(one: Matcher, other: Matcher): boolean {
  return one === other || (one.mask !== null && other.mask !== null && isEqual(one.mask, other.mask));
}

function refuseDuplicate(): never {
  const hint = "mlx5dv_dr_domain_allow_duplicate_rules(domain, true)";
  const cite = "mlx5dv_dr: LIMITATIONS";
  return refuse({ code: "EEXIST", reason: "duplicate_rule", path: "value", hint, cite });
}

function isEqual(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (one, i) => one === b[i]);
}
