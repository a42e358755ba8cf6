/** The frames that a change of a rule is about: those like the frame that it was tried with. */
import type { FieldRange } from "../../engine/rules.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import { ones } from "../../base/bits.js";
import { fieldNamed, writeField } from "../../model/match/fields.js";

/**
 * Frames that a changed rule is meant to take: they match the fields that stay, and have in those that change what a frame
 * has, or lack their headers as it does.
 * @param key the key of the frame, which the changed match takes
 * @param meant the names of fields whose bits all count: a changed mask may leave out some of them
 */
export function likeFrame(before: KeyMatch, after: KeyMatch, key: Uint8Array, meant: readonly string[]): KeyMatch {
  const stays = before.ranges.filter((range) => after.ranges.some((other) => isSame(range, other)));
  const mask = before.mask.map((bits, byte) => bits | (after.mask[byte] as number));
  for (const range of [...before.ranges, ...after.ranges])
    if (!stays.some((one) => isSame(one, range))) cover(mask, range);
  for (const name of meant) {
    const field = fieldNamed(name);
    if (field !== undefined) writeField(mask, field, ones(field.width));
  }
  const value = mask.map((bits, byte) => {
    const [a, b] = [before.value[byte] as number, after.value[byte] as number];
    const same = (before.mask[byte] as number) & (after.mask[byte] as number) & ~(a ^ b);
    return (a & same) | ((key[byte] as number) & bits & ~same);
  });
  return { mask, value, ranges: stays };
}

function isSame(a: FieldRange, b: FieldRange): boolean {
  return a.dword === b.dword && a.shift === b.shift && a.low === b.low && a.high === b.high;
}

/** Masks the field of a range. */
function cover(mask: Uint8Array, { dword, shift, fieldMask }: FieldRange): void {
  const view = new DataView(mask.buffer, mask.byteOffset);
  view.setUint32(dword, (view.getUint32(dword) | (fieldMask << shift)) >>> 0);
}
