/** Many rules of one matcher at once (docs/rules.md, "Many rules at once"). */
import { DEVICE_KEY_SIZE, INNER, LAYER_STATE, OUTER, STATE_VERSION, STATE_VERSION_SHIFT } from "../../abi/key.js";
import { BulkRules } from "../../engine/bulk.js";
import { refuse, SteeringError } from "../../errors.js";
import type { Action } from "../action/action.js";
import { checkActions } from "../action/list.js";
import { AsoAction } from "../action/asoActions.js";
import { describe, unsigned } from "../../checks.js";
import { living } from "../base/handle.js";
import type { MatchParameters } from "../match/match.js";
import { Matcher } from "../table/matcher.js";
import { checkSize, needsFixUp } from "../table/matcherChecks.js";
import { pendingOf, recordsOf, Rule } from "./rule.js";
import { allDirections } from "../table/directions.js";

/** One list for all rules, or one a rule. */
export type RuleActions = readonly Action[] | readonly (readonly Action[])[];

const CALL = "createRules";
/** The bits of ip_version in its byte. */

/** What was asked for, of which sizes are checked. */
interface Request {
  readonly matcher: Matcher;
  readonly mask: Uint8Array;
  /** All values, one behind the other. */
  readonly bytes: Uint8Array;
  /** Bytes of each. */
  readonly size: number;
  readonly count: number;
  /** The lists of actions: one, or one a rule. */
  readonly lists: readonly (readonly Action[])[];
}

/**
 * Makes many rules of a matcher, all or none. `values.match_buf` has the device bytes of all, one behind the other, each
 * `match_sz` long (448 where bytes come alone). Each rule is then one like those of mlx5dv_dr_rule_create.
 * @throws what mlx5dv_dr_rule_create does, with the number of the rule in `path`
 */
export function createRules(matcher: Matcher, values: MatchParameters | Uint8Array, actions: RuleActions): Rule[] {
  const request = requestOf(matcher, values, actions);
  const records = isPlain(request) ? recordsFor(request) : null;
  return records === null ? oneByOne(request) : atOnce(request, records);
}

function requestOf(matcher: Matcher, values: MatchParameters | Uint8Array, actions: RuleActions): Request {
  living(CALL, "matcher", matcher, Matcher).checkTakesRules(CALL);
  const { mask } = matcher;
  if (mask === null) throw new TypeError(`${CALL}: the matcher ${matcher.name} takes named fields only`);
  const bytes = values instanceof Uint8Array ? values : values.match_buf;
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`${CALL}: values.match_buf must be a Uint8Array, not ${describe(bytes)}`);
  }
  const given = values instanceof Uint8Array ? undefined : values.match_sz;
  const size = unsigned(CALL, "values.match_sz", given ?? DEVICE_KEY_SIZE, 32);
  if (size === 0 || size % 4 !== 0 || bytes.length % size !== 0) {
    const hint = `a multiple of 4, of which the ${bytes.length} bytes are a multiple`;
    refuse({ code: "EINVAL", call: CALL, reason: "bad_match_size", path: "values.match_sz", value: size, hint });
  }
  checkSize(CALL, "values", "value", matcher.table, size, size);
  const count = bytes.length / size;
  return { matcher, mask, bytes, size, count, lists: listsOf(actions, count) };
}

function listsOf(actions: RuleActions, count: number): (readonly Action[])[] {
  if (!Array.isArray(actions)) throw new TypeError(`${CALL}: actions must be an array, not ${describe(actions)}`);
  if (!Array.isArray(actions[0])) return [[...(actions as readonly Action[])]];
  if (actions.length !== count) {
    const hint = `one list for all, or one for each of the ${count} rules`;
    refuse({ code: "EINVAL", call: CALL, reason: "out_of_range", path: "actions.length", value: actions.length, hint });
  }
  return (actions as readonly unknown[]).map((list, n) => {
    if (Array.isArray(list)) return [...(list as readonly Action[])];
    throw new TypeError(`${CALL}: actions[${n}] must be an array, not ${describe(list)}`);
  });
}

/** That of rule `n` among what there is once, or once a rule. */
function ofRule<T>(each: readonly T[], n: number): T {
  return each[each.length === 1 ? 0 : n] as T;
}

/** Whether rules of the matcher differ in values and actions alone, and are made at once. */
function isPlain({ matcher, mask, lists }: Request): boolean {
  const { isRoot, domain } = matcher.table;
  // Each such rule has its connection for itself.
  if (lists.some((list) => list.some((one) => one instanceof AsoAction && one.linkTo(domain) !== null))) return false;
  if ((matcher.deviceMask?.samples ?? null) !== null || pendingOf(matcher) !== null) return false;
  if (!isRoot && !domain.allowsDuplicates) return false;
  return matcher.rules.values.sourcePort === undefined || !needsFixUp(mask);
}

/** What each list does, legality checked; null where some list does something else in each direction. */
function recordsFor({ matcher, lists }: Request): (readonly number[])[] | null {
  const directions = allDirections(matcher.table.domain.type);
  const records: (readonly number[])[] = [];
  for (const [n, list] of lists.entries()) {
    atRule(n, () => checkActions(CALL, matcher, directions, list));
    const { record, other } = recordsOf(directions, matcher.table.domain, list);
    if (other !== null) return null;
    records.push(record);
  }
  return records;
}

function atOnce(request: Request, records: readonly (readonly number[])[]): Rule[] {
  const { matcher, mask, size, count } = request;
  const { device } = matcher;
  const words = wordsOf(request);
  const bulk = new BulkRules(device.core, mask, matcher.criteria, size);
  const lay = (first: number): number => {
    bulk.clear();
    let next = first;
    while (next < count && bulk.add(words, next * (size >> 2), ofRule(records, next))) next++;
    return next;
  };
  // All are checked before the first one is made.
  checkAllVersions(request);
  for (let first = 0; first < count; first += bulk.count) {
    lay(first);
    const outside = bulk.firstOutside();
    if (outside >= 0) refuseValue(request, first + outside);
  }
  const rules: Rule[] = [];
  try {
    while (rules.length < count) {
      if (bulk.count < count) lay(rules.length);
      makeLaid(request, bulk, rules);
    }
  } catch (error) {
    for (const rule of rules.reverse()) rule.withdraw();
    throw error;
  }
  matcher.users += count;
  for (const rule of rules) for (const action of rule.actions) action.users++;
  return rules;
}

/** Makes the rules that are laid out, behind those that are there. @throws ENOMEM, and then some have no place in the core */
function makeLaid({ matcher, lists }: Request, bulk: BulkRules, rules: Rule[]): void {
  const { device } = matcher;
  const { classifier } = matcher.table;
  const first = rules.length;
  const sequence = classifier.nextSequence(bulk.count);
  for (let n = 0; n < bulk.count; n++) {
    const rule = new Rule(matcher, ofRule(lists, first + n), device.installed.nextId, null);
    rule.sequence = sequence + n;
    device.installed.add(rule);
    bulk.identify(n, rule.id);
    rules.push(rule);
  }
  const made = bulk.insert(classifier.table, classifier.rankHigh(matcher), classifier.rankLow(matcher, sequence));
  for (let n = 0; n < made; n++) (rules[first + n] as Rule).handle = bulk.handle(n);
  if (made < bulk.count) device.allocated(CALL, 0);
}

/** The values in words, in the order of the machine's bytes. */
function wordsOf({ bytes }: Request): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}

const VERSION_BYTES = [OUTER + LAYER_STATE, INNER + LAYER_STATE] as const;

function checkAllVersions(request: Request): void {
  const { matcher, bytes, size, count } = request;
  for (const [level, at] of VERSION_BYTES.entries()) {
    const wanted = (matcher.deviceMask?.versions[level] ?? 0) << STATE_VERSION_SHIFT;
    if (wanted === 0) continue;
    for (let n = 0; n < count; n++) {
      const found = at < size ? (bytes[n * size + at] ?? 0) & STATE_VERSION : 0;
      if (found !== wanted) refuseValue(request, n);
    }
  }
}

/** Says what is wrong with a value. */
function refuseValue({ matcher, bytes, size }: Request, n: number): never {
  atRule(n, () => matcher.keyOf(CALL, bytes.subarray(n * size, (n + 1) * size)));
  throw new Error(`${CALL}: rules[${n}] was thought to be wrong`);
}

function oneByOne({ matcher, bytes, size, count, lists }: Request): Rule[] {
  const rules: Rule[] = [];
  try {
    for (let n = 0; n < count; n++) {
      const value = bytes.subarray(n * size, (n + 1) * size);
      rules.push(atRule(n, () => Rule.create(CALL, matcher, value, ofRule(lists, n))));
    }
  } catch (error) {
    for (const rule of rules.reverse()) rule.takeBack();
    throw error;
  }
  return rules;
}

/** A refusal says which rule it was. */
function atRule<T>(n: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    const { code, call, reason, path, value, hint, cite } = error;
    return refuse({
      code,
      call,
      reason,
      path: `rules[${n}]${path === undefined ? "" : `.${path}`}`,
      value,
      hint,
      cite,
    });
  }
}
