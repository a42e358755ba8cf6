/**
 * Rules that match the same frames as an older one. A DR table refuses them on request
 * (mlx5dv_dr_domain_allow_duplicate_rules). In a root table, which the kernel writes, they are one
 * entry (rootEntry.ts).
 */
import { DIRECTION_WIRE, EXT_DIRECTION, KEY_SIZE } from "../../abi/key.js";
import { firstMatch, valueOf } from "../../engine/rules.js";
import { refuse } from "../../errors.js";
import type { Handle } from "../base/handle.js";
import { Matcher } from "../table/matcher.js";
import { checkAgreement, type EntryRule } from "./rootEntry.js";
import type { Action } from "../action/action.js";

/** A rule of a matcher, as the rules after it see it. */
type OlderRule = EntryRule & Handle;

const KEY = new Uint8Array(KEY_SIZE);

/**
 * Refuses a rule whose value another one of its matcher has.
 * @throws EEXIST
 */
export function checkDuplicate(matcher: Matcher, value: Uint8Array): void {
  const { mask } = matcher;
  // SPEC: rules with masks of their own are never duplicates.
  if (mask === null) return;
  if (olderRule(matcher, mask, value, () => true) !== null) refuseDuplicate();
  const { pending } = matcher.table.domain;
  const waits = pending?.some((rule, held) => rule.matcher === matcher && isEqual(held.value, value));
  if (waits === true) refuseDuplicate();
}

/**
 * The rule of a root table whose entry a new rule joins: the same mask, priority and value. Null for
 * none.
 * @throws EEXIST the actions conflict with those of the entry
 */
export function entryFor(
  { slot, table }: Matcher,
  mask: Uint8Array,
  value: Uint8Array,
  actions: readonly Action[],
): OlderRule | null {
  for (const place of table.classifier.places) {
    if (!(place instanceof Matcher) || place.slot !== slot) continue;
    if (place.mask !== null && !isEqual(place.mask, mask)) continue;
    const isOfEntry = (rule: OlderRule): boolean =>
      hasValue(rule, value) && (place.mask !== null || hasMask(place, rule, mask));
    const older = olderRule(place, mask, value, isOfEntry);
    if (older === null) continue;
    checkAgreement(older, actions);
    return older;
  }
  return null;
}

/** The oldest living rule of a matcher that a value hits, and that a test accepts. */
function olderRule(
  matcher: Matcher,
  mask: Uint8Array,
  value: Uint8Array,
  accepts: (rule: OlderRule) => boolean,
): OlderRule | null {
  for (let sequence = 0; ;) {
    KEY.set(value);
    if (matcher.table.domain.type === "fdb" && mask[EXT_DIRECTION] === 0) KEY[EXT_DIRECTION] = DIRECTION_WIRE;
    const found = hitFrom(matcher, sequence);
    if (found === null) return null;
    // A rule whose removal is pending counts as gone.
    if (!found.destroyed && accepts(found)) return found;
    sequence = found.sequence + 1;
  }
}

/** The first rule of a matcher, from a sequence number on, that the key hits. */
function hitFrom(matcher: Matcher, sequence: number): OlderRule | null {
  const { device, table } = matcher;
  const { classifier } = table;
  const [high, low] = [classifier.rankHigh(matcher), classifier.rankLow(matcher, sequence)];
  const id = firstMatch(device.core, classifier.table, KEY, high, low);
  const found = id < 0 ? null : (device.installed.at(id) as unknown as OlderRule);
  return found?.place === matcher ? found : null;
}

/** A field with a range is 0 in the value of the core. */
function hasValue({ device: { core }, handle }: OlderRule, value: Uint8Array): boolean {
  const own = valueOf(core, handle);
  own[EXT_DIRECTION] = value[EXT_DIRECTION] as number;
  return isEqual(own, value);
}

/**
 * Whether a rule that the key hits has this mask: the key still hits it with all other bits
 * flipped, and with no masked one. A rule with a record for each direction masks no direction.
 */
function hasMask(matcher: Matcher, rule: OlderRule, mask: Uint8Array): boolean {
  const splits = rule.secondHandle !== 0;
  if (splits && mask[EXT_DIRECTION] !== 0) return false;
  const flips = (byte: number, bits: number): boolean => {
    KEY[byte]! ^= bits;
    return hitFrom(matcher, rule.sequence) !== rule;
  };
  for (let byte = 0; byte < KEY_SIZE; byte++) if (!splits || byte !== EXT_DIRECTION) KEY[byte]! ^= ~mask[byte]!;
  if (flips(0, 0)) return false;
  return mask.every((bits, byte) => {
    for (let bit = 1; bit <= bits; bit <<= 1) {
      if ((bits & bit) === 0) continue;
      const leaves = flips(byte, bit);
      KEY[byte]! ^= bit;
      if (!leaves) return false;
    }
    return true;
  });
}

function refuseDuplicate(): never {
  const hint = "mlx5dv_dr_domain_allow_duplicate_rules(domain, true)";
  const cite = "mlx5dv_dr: LIMITATIONS";
  return refuse({ code: "EEXIST", reason: "duplicate_rule", path: "value", hint, cite });
}

function isEqual(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (one, i) => one === b[i]);
}
