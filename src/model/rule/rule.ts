/**
 * Direct rules (mlx5dv_dr(3): Rule): created from device bytes or named fields, inserted into the
 * core, removed.
 */
import { EXT_DIRECTION, KEY_SIZE } from "../../abi/key.js";
import { insertRule, type FieldRange } from "../../engine/rules.js";
import { RuleMask } from "../../engine/ruleMask.js";
import { inCall, refuse } from "../../errors.js";
import type { Action } from "../action/action.js";
import { checkActions, recordOf } from "../action/list.js";
import { AsoAction } from "../action/asoActions.js";
import type { AsoLink } from "../action/asoObject.js";
import type { Classifier, Placed } from "../table/classifier.js";
import type { Domain } from "../table/domain.js";
import { fieldAtBit } from "../match/fields.js";
import { wrongType } from "../../base/checks.js";
import type { Hits } from "../base/hitCounts.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { checkAlive, Handle, living } from "../base/handle.js";
import type { Insertion, PendingRule, PendingRules } from "../table/pendingRules.js";
import { matchOf, type MatchFields, type MatchParameters } from "../match/match.js";
import { Matcher, type ListedActions } from "../table/matcher.js";
import { checkMask } from "../match/matcherChecks.js";
import { checkDuplicate, entryFor } from "./duplicates.js";
import { join, leave, type EntryRule, type RootEntry } from "./rootEntry.js";
import { directionsOf, type Direction } from "../table/directions.js";

const NO_RANGES: readonly FieldRange[] = Object.freeze([]);

/** A connection of another domain that one rule of a domain claims at a time. */
interface Claim {
  readonly link: AsoLink;
  readonly offset: number;
}

const NO_CLAIMS: readonly Claim[] = Object.freeze([]);

/** Claims the objects that the actions of a new rule need exclusively. */
function claimsOf(domain: Domain, actions: readonly Action[]): readonly Claim[] {
  let claims = NO_CLAIMS;
  for (const action of actions) {
    if (!(action instanceof AsoAction)) continue;
    const { offset } = action;
    const link = action.linkTo(domain);
    if (link === null || link === undefined) continue;
    link.used.add(offset);
    claims = [...claims, { link, offset }];
  }
  return claims;
}

/** Scratch mask and value of one direction of a rule. */
const DIRECTION_MASK = new Uint8Array(KEY_SIZE);
const DIRECTION_VALUE = new Uint8Array(KEY_SIZE);

export class Rule extends Handle implements Placed, PendingRule, EntryRule {
  declare readonly matcher: Matcher;
  declare readonly actions: readonly Action[];
  /** The number in outcomes. It is reused after the rule is destroyed. */
  declare readonly id: number;
  /** The rule in the core; 0 while it is pending, and where another rule of its entry has it. */
  declare handle: number;
  /**
   * The rule for frames from vports, where it differs from that for frames from the wire; 0 without
   * one.
   */
  declare secondHandle: number;
  declare sequence: number;
  /** Connections of other domains that it claims until it is destroyed. */
  declare claims: readonly Claim[];
  /** The rules of a root table for the same frames; null for no others. */
  declare entry: RootEntry | null;

  constructor(matcher: Matcher, actions: readonly Action[], id: number, name: string | null) {
    super(matcher.device, name);
    this.matcher = matcher;
    this.actions = actions;
    this.id = id;
    this.handle = 0;
    this.secondHandle = 0;
    this.sequence = 0;
    this.claims = NO_CLAIMS;
    this.entry = null;
  }

  /** The rule of its entry that is in the core. */
  get holder(): Rule {
    return (this.entry?.rules[0] as Rule | undefined) ?? this;
  }

  get place(): Matcher {
    return this.matcher;
  }

  get classifier(): Classifier {
    return this.matcher.table.classifier;
  }

  /**
   * Packets and bytes that hit the rule, from the moment that they are counted (docs/metrics.md).
   * @throws SteeringError EINVAL: they are not counted
   */
  hits(): Hits {
    return inCall("rule.hits", () => this.device.hitsOf([this.holder]));
  }

  protected override get ownName(): string {
    return `rule${this.id}`;
  }

  /**
   * mlx5dv_dr_rule_create: device bytes under the mask of the matcher.
   */
  static create(
    matcher: Matcher,
    value: MatchParameters | Uint8Array | null | undefined,
    actions: readonly Action[],
  ): Rule {
    // Not `living`: `instanceof` is fast with a class that is known when it is compiled.
    if (!(matcher instanceof Matcher)) wrongType("matcher", "a Matcher", matcher);
    checkAlive("matcher", matcher);
    matcher.checkTakesRules();
    const key = matcher.keyOf(value);
    const rule = add(matcher, matcher.mask as Uint8Array, key, NO_RANGES, actions, undefined);
    matcher.deviceMask?.leftOut?.keep(rule, value);
    rule.device.observer?.ruleAdded(rule);
    return rule;
  }

  /** A rule over named fields, which may have ranges; the device format has none. */
  static named(matcher: Matcher, fields: MatchFields, actions: readonly Action[], name?: string): Rule {
    living("matcher", matcher, Matcher).checkTakesRules();
    const { mask, value, ranges } = matchOf("match", fields);
    if (matcher.mask === null) checkMask(matcher.table, mask);
    else checkSameMask(matcher, mask, ranges, fields);
    const rule = add(matcher, mask, value, ranges, actions, name);
    rule.device.observer?.ruleAdded(rule);
    return rule;
  }

  destroy(): void {
    checkAlive("rule", this);
    this.destroyed = true;
    const held = pendingOf(this.matcher);
    if (held === null) this.remove();
    else held.destroy(this);
    this.device.observer?.ruleRemoved(this);
  }

  /** @internal Undoes the creation of the last rule of its domain. */
  takeBack(): void {
    this.destroyed = true;
    pendingOf(this.matcher)?.takeBack();
    this.remove();
    this.device.observer?.ruleRemoved(this);
  }

  /** @internal Inserts the rule into the core. @throws ENOMEM the rule is not inserted */
  insert(insertion: Insertion): void {
    const { mask, value, ranges, record, other } = insertion;
    if (other === null) {
      this.handle = this._insert(ranges, mask, value, record);
      return;
    }
    const [first, second] = other.keys;
    this.handle = this._insertDirection(insertion, first, record);
    try {
      this.secondHandle = this._insertDirection(insertion, second, other.record);
    } catch (error) {
      this.device.core.exports.removeRule(this.handle);
      this.handle = 0;
      throw error;
    }
  }

  private _insertDirection(insertion: Insertion, direction: number, record: readonly number[]): number {
    const { mask, value, ranges } = insertion;
    DIRECTION_MASK.set(mask instanceof RuleMask ? mask.key : mask);
    DIRECTION_VALUE.set(value);
    DIRECTION_MASK[EXT_DIRECTION] = 0xff;
    DIRECTION_VALUE[EXT_DIRECTION] = direction;
    return this._insert(ranges, DIRECTION_MASK, DIRECTION_VALUE, record);
  }

  private _insert(
    ranges: readonly FieldRange[],
    mask: Uint8Array | RuleMask,
    value: Uint8Array,
    actions: readonly number[],
  ): number {
    const { device, classifier, matcher, id, sequence } = this;
    const rankHigh = classifier.rankHigh(matcher);
    const rankLow = classifier.rankLow(matcher, sequence);
    const rule = { id, rankHigh, rankLow, mask, value, ranges, actions };
    return device.allocated(insertRule(device.core, classifier.table, rule));
  }

  /** @internal Removes the rule from the core, if it was inserted. */
  withdraw(): void {
    const { core, installed } = this.device;
    leave(this);
    if (this.handle !== 0) core.exports.removeRule(this.handle);
    if (this.secondHandle !== 0) core.exports.removeRule(this.secondHandle);
    installed.remove(this);
  }

  /** @internal Removes the rule from the core and releases what it uses. */
  remove(): void {
    this.withdraw();
    this.matcher.users--;
    for (const action of this.actions) action.users--;
    for (const { link, offset } of this.claims) link.used.delete(offset);
  }
}

/** The living direct rules of a device. */
export function* directRules(device: DeviceBase): Iterable<Rule> {
  for (const one of device.installed) if (one instanceof Rule) yield one;
}

/** The pending changes of a matcher's domain; null where changes apply at once. */
export function pendingOf({ table: { isRoot, domain } }: Matcher): PendingRules | null {
  return isRoot ? null : domain.pending;
}

function add(
  matcher: Matcher,
  wanted: Uint8Array,
  value: Uint8Array,
  ranges: readonly FieldRange[],
  given: readonly Action[],
  name: string | undefined,
): Rule {
  const { device, table } = matcher;
  const directions = directionsOf(table.domain.type, wanted, value);
  const last = lastActions(matcher, directions, given);
  // A copy: what is checked is what the rule keeps.
  const list = last?.actions ?? [...given];
  if (last === null) checkActions(matcher, directions, list);
  const merges = table.isRoot && matcher.rules.values.conflict !== undefined && ranges.length === 0;
  const older = merges ? entryFor(matcher, wanted, value, list) : null;
  if (!table.isRoot && !table.domain.allowsDuplicates) checkDuplicate(matcher, value);
  const { actions, record, other } = last ?? listActions(matcher, directions, list);
  const rule = new Rule(matcher, actions, device.installed.nextId, name ?? null);
  rule.sequence = table.classifier.nextSequence();
  const pending = pendingOf(matcher);
  const mask = wanted === matcher.mask ? matcher.ruleMask : wanted;
  if (older !== null) join(older, rule, directions);
  else if (pending === null) rule.insert({ mask, value, ranges, record, other });
  // The scratch key is reused by the next rule, so the pending change copies it.
  else pending.create(rule, { mask, value: value.slice(), ranges, record, other });
  device.installed.add(rule);
  matcher.users++;
  for (const action of actions) action.users++;
  if (last === null) rule.claims = claimsOf(table.domain, actions);
  return rule;
}

/** A list of direct actions, as its matcher keeps it. */
interface RuleList extends ListedActions {
  readonly actions: readonly Action[];
}

/** The last list of the matcher if it is this one: it needs no checks. */
function lastActions(matcher: Matcher, directions: readonly Direction[], actions: readonly Action[]): RuleList | null {
  const last = matcher.lastActions as RuleList | null;
  if (last === null || last.directions !== directions || last.actions.length !== actions.length) return null;
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i];
    if (action !== last.actions[i] || action?.destroyed !== false) return null;
  }
  return last;
}

/**
 * The records of checked actions. The matcher keeps them for its next rule, except with actions
 * whose checks and records depend on other rules.
 */
function listActions(matcher: Matcher, directions: readonly Direction[], actions: readonly Action[]): RuleList {
  const list = { directions, actions, ...recordsOf(directions, matcher.table.domain, actions) };
  if (!actions.some((action) => action instanceof AsoAction)) matcher.lastActions = list;
  return list;
}

/** The action records of both directions; `other` is null where one record serves both. */
export function recordsOf(
  [first, second]: readonly Direction[],
  domain: Domain | null,
  actions: readonly Action[],
): Pick<Insertion, "record" | "other"> {
  const record = recordOf(first as Direction, domain, actions);
  if (second === undefined) return { record, other: null };
  const otherRecord = recordOf(second, domain, actions);
  if (record.every((word, i) => word === otherRecord[i])) return { record, other: null };
  return { record, other: { keys: [(first as Direction).key, second.key], record: otherRecord } };
}

/**
 * Under a matcher with a mask, a rule by name must use exactly that mask. A range needs a field
 * that is masked in full.
 */
function checkSameMask(matcher: Matcher, mask: Uint8Array, ranges: readonly FieldRange[], fields: MatchFields): void {
  const asked = mask.slice();
  for (const { dword, shift, fieldMask } of ranges) {
    const bits = fieldMask * 2 ** shift;
    for (let byte = 0; byte < 4; byte++) {
      asked[dword + byte] = (asked[dword + byte] ?? 0) | (Math.floor(bits / 2 ** (24 - 8 * byte)) & 0xff);
    }
  }
  const wanted = matcher.mask as Uint8Array;
  const differs = asked.findIndex((bits, byte) => bits !== wanted[byte]);
  if (differs < 0) return;
  const missing = (wanted[differs] ?? 0) & ~(asked[differs] ?? 0);
  refuse({
    code: "EINVAL",
    reason: missing !== 0 ? "field_left_out" : "value_outside_mask",
    path: `match (${Object.keys(fields).join(", ")})`,
    hint: `the rule asks for exactly the bits that matcher ${matcher.name} masks; it differs at ${fieldAtBit(differs * 8 + Math.clz32((asked[differs] ?? 0) ^ (wanted[differs] ?? 0)) - 24)}`,
  });
}
