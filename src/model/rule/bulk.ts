/** Creates many rules of one matcher in one call (docs/rules.md, "Many rules at once"). */
import { DEVICE_KEY_SIZE, INNER, LAYER_STATE, OUTER, STATE_VERSION, STATE_VERSION_SHIFT } from "../../abi/key.js";
import { BulkRules, ofRule } from "../../engine/bulk.js";
import { inCall, mistyped, refuse, SteeringError } from "../../errors.js";
import type { Action } from "../action/action.js";
import { checkActions } from "../action/list.js";
import { AsoAction } from "../action/asoActions.js";
import { checkArray, checkBytes, checkObject, unsigned, wrongType } from "../../base/checks.js";
import { living } from "../base/handle.js";
import type { MatchParameters } from "../match/match.js";
import { Matcher } from "../table/matcher.js";
import { checkSize, needsFixUp } from "../match/matcherChecks.js";
import { pendingOf, recordsOf, Rule } from "./rule.js";
import { allDirections } from "../table/directions.js";

/** One action list for all rules, or one for each rule. */
export type RuleActions = readonly Action[] | readonly (readonly Action[])[];

/** The arguments, with their sizes checked. */
interface Request {
  readonly matcher: Matcher;
  readonly mask: Uint8Array;
  /** All values, back to back. */
  readonly bytes: Uint8Array;
  /** Bytes of each value. */
  readonly size: number;
  readonly count: number;
  /** The action lists: one, or one for each rule. */
  readonly lists: readonly (readonly Action[])[];
}

/**
 * Makes many rules of a matcher, or none. Each rule equals one made by `mlx5dv_dr_rule_create`.
 * @param values `match_buf` holds the device bytes of all rules back to back, each `match_sz` bytes
 *   long (448 where bytes come alone)
 * @param actions one list for all rules, or a list for each
 * @returns the rules, in the order of their values
 * @throws as `mlx5dv_dr_rule_create`, with the number of the rule in `path`
 * @example
 * createRules(matcher, { match_sz: 448, match_buf: bytesOfAll }, [mlx5dv_dr_action_create_drop()]);
 */
export function createRules(matcher: Matcher, values: MatchParameters | Uint8Array, actions: RuleActions): Rule[] {
  return inCall("createRules", () => {
    const request = requestOf(matcher, values, actions);
    const records = isPlain(request) ? recordsFor(request) : null;
    return records === null ? oneByOne(request) : atOnce(request, records);
  });
}

function requestOf(matcher: Matcher, values: MatchParameters | Uint8Array, actions: RuleActions): Request {
  living("matcher", matcher, Matcher).checkTakesRules();
  const { mask } = matcher;
  if (mask === null) mistyped(`the matcher ${matcher.name} takes named fields only`);
  checkObject("values", values);
  const bytes = values instanceof Uint8Array ? values : values.match_buf;
  checkBytes("values.match_buf", bytes);
  const given = values instanceof Uint8Array ? undefined : values.match_sz;
  const size = unsigned("values.match_sz", given ?? DEVICE_KEY_SIZE, 32);
  if (size === 0 || bytes.length % size !== 0) {
    const hint = `a size of which the ${bytes.length} bytes are a multiple`;
    refuse({ code: "EINVAL", reason: "bad_match_size", path: "values.match_sz", value: size, hint });
  }
  checkSize("values", "value", matcher.table, size, size);
  const count = bytes.length / size;
  return { matcher, mask, ...wholeWords(bytes, size), count, lists: listsOf(actions, count) };
}

/** The same values in whole words, without the bytes after the device format. */
function wholeWords(bytes: Uint8Array, given: number): { bytes: Uint8Array; size: number } {
  const used = Math.min(given, DEVICE_KEY_SIZE);
  const size = (used + 3) & ~3;
  if (size === given) return { bytes, size };
  const words = new Uint8Array((bytes.length / given) * size);
  for (let from = 0, to = 0; from < bytes.length; from += given, to += size) {
    words.set(bytes.subarray(from, from + used), to);
  }
  return { bytes: words, size };
}

function listsOf(actions: RuleActions, count: number): (readonly Action[])[] {
  checkArray("actions", actions);
  if (!Array.isArray(actions[0])) return [[...(actions as readonly Action[])]];
  if (actions.length !== count) {
    const hint = `one list for all, or one for each of the ${count} rules`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "actions.length", value: actions.length, hint });
  }
  return (actions as readonly unknown[]).map((list, n) => {
    if (Array.isArray(list)) return [...(list as readonly Action[])];
    wrongType(`actions[${n}]`, "an array", list);
  });
}

/**
 * Whether the rules differ in values and actions only, so that the core can insert them in one
 * call.
 */
function isPlain({ matcher, mask, lists }: Request): boolean {
  const { isRoot, domain } = matcher.table;
  // A rule with a connection of another domain claims it alone.
  if (lists.some((list) => list.some((one) => one instanceof AsoAction && one.linkTo(domain) !== null))) return false;
  if ((matcher.deviceMask?.samples ?? null) !== null || pendingOf(matcher) !== null) return false;
  if (!isRoot && !domain.allowsDuplicates) return false;
  return matcher.rules.values.sourcePort === undefined || !needsFixUp(mask);
}

/**
 * The action records of each list, after its checks; null where a list needs different actions in
 * each direction.
 */
function recordsFor({ matcher, lists }: Request): (readonly number[])[] | null {
  const directions = allDirections(matcher.table.domain.type);
  const records: (readonly number[])[] = [];
  for (const [n, list] of lists.entries()) {
    atRule(n, () => checkActions(matcher, directions, list));
    const { record, other } = recordsOf(directions, matcher.table.domain, list);
    if (other !== null) return null;
    records.push(record);
  }
  return records;
}

function atOnce(request: Request, records: readonly (readonly number[])[]): Rule[] {
  const { matcher, mask, bytes, size, count } = request;
  const { device } = matcher;
  const bulk = new BulkRules(device.core, mask, matcher.criteria, size);
  const operations = records.reduce((sum, record) => sum + record.length / 2, 0);
  if (!bulk.open(count, operations)) device.noMemory();
  // Checks all rules before the first one is made.
  checkAllVersions(request);
  for (let first = 0; first < count; first += bulk.count) {
    bulk.lay(bytes, first, records);
    const outside = bulk.firstOutside();
    if (outside >= 0) refuseValue(request, first + outside);
  }
  const rules: Rule[] = [];
  try {
    while (rules.length < count) {
      if (bulk.count < count) bulk.lay(bytes, rules.length, records);
      makeLaid(request, bulk, rules);
    }
  } catch (error) {
    for (const rule of rules.reverse()) rule.withdraw();
    throw error;
  }
  matcher.users += count;
  // One list for all rules, or one for each.
  const { lists } = request;
  for (const list of lists) for (const action of list) action.users += count / lists.length;
  const { observer } = matcher.device;
  if (observer !== null) for (const rule of rules) observer.ruleAdded(rule);
  return rules;
}

/**
 * Inserts the staged rules after the existing ones. @throws ENOMEM some of them have no place in
 * the core
 */
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
  if (made < bulk.count) device.allocated(0);
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

/** Refuses a value and says which rule it breaks. */
function refuseValue({ matcher, bytes, size }: Request, n: number): never {
  atRule(n, () => matcher.keyOf({ match_buf: bytes.subarray(n * size, (n + 1) * size) }));
  throw new Error(`createRules: rules[${n}] was thought to be wrong`);
}

function oneByOne({ matcher, bytes, size, count, lists }: Request): Rule[] {
  const rules: Rule[] = [];
  try {
    for (let n = 0; n < count; n++) {
      const value = { match_buf: bytes.subarray(n * size, (n + 1) * size) };
      rules.push(atRule(n, () => Rule.create(matcher, value, ofRule(lists, n))));
    }
  } catch (error) {
    for (const rule of rules.reverse()) rule.takeBack();
    throw error;
  }
  return rules;
}

/** Adds the number of the rule to a refusal. */
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
