/** Corrections of known mistakes: what was meant in place of what was written. */
import { EXT_PRESENT_OUTER } from "../../abi/key.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import type { TriedChange } from "../../explain/repair/context.js";
import { isOfMatch } from "../../explain/repair/ruleChange.js";
import type { Part } from "./changedCopy.js";
import { matchedText, replacedText } from "./questions.js";

/**
 * Whether a correction of a known mistake puts another value, mask or field in place of the mistaken one. It does not where
 * the rule takes by fewer bits a part of the frames that it takes today, or others by a range.
 */
export function isReplacement({ corrects, changes }: TriedChange, parts: readonly Part[]): boolean {
  return corrects && changes.every(isOfMatch) && parts.every(({ rule, after }) => isOther(rule, after));
}

function isOther(before: KeyMatch, after: KeyMatch): boolean {
  if (before.ranges.length > 0 || after.ranges.length > 0) return false;
  return maskedBits(after) >= maskedBits(before) || isDisjoint(before, after);
}

/** The masked bits of fields, without those that say which headers are there. */
function maskedBits({ mask }: KeyMatch): number {
  return mask.subarray(0, EXT_PRESENT_OUTER).reduce((sum, byte) => sum + bitsIn(byte), 0);
}

function bitsIn(byte: number): number {
  let bits = 0;
  for (let rest = byte; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}

function isDisjoint(a: KeyMatch, b: KeyMatch): boolean {
  return a.mask.some(
    (bits, i) => (((a.value[i] as number) ^ (b.value[i] as number)) & bits & (b.mask[i] as number)) !== 0,
  );
}

/** What a correction does, in a sentence. */
export function correctionText({ rule, changes }: TriedChange): string {
  const [now, replaced] = [matchedText(rule, changes), replacedText(rule, changes)];
  return `Corrects: frames with ${now} match; those with ${replaced} no longer do.`;
}
