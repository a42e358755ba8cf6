/**
 * Masks by number: the host numbers the masks that it inserts many rules of, so that it stages such
 * a mask once. In: a table and a number. Out: the stored mask, if it is still there.
 *
 *     0        4
 *     | number | mask |       entry number & (ENTRIES - 1)
 *
 * Invariant: an entry names a living mask, because a mask knows its entry and clears it when it is
 * dropped. Numbers are never reused. A mask has at most one entry, and an entry that another mask
 * takes is merely forgotten.
 */
import { KNOWN_MASKS_SIZE } from "../../src/abi/engine";
import { KNOWN_MASKS } from "../memory";
import { MASK_KNOWN, MASK_TABLE } from "./mask";

const ENTRY_SHIFT: usize = 3;
const ENTRIES: u32 = <u32>((<usize>KNOWN_MASKS_SIZE) >> ENTRY_SHIFT);
const NAMED: usize = 4;

// @ts-ignore: decorator
@inline
function entryOf(number: u32): usize {
  return KNOWN_MASKS + ((<usize>(number & (ENTRIES - 1))) << ENTRY_SHIFT);
}

/** The mask of a number in a table; 0 if it is not known there. */
export function knownMask(table: usize, number: u32): usize {
  const entry = entryOf(number);
  if (load<u32>(entry) != number) return 0;
  const mask: usize = load<u32>(entry, NAMED);
  return mask != 0 && <usize>load<u32>(mask, MASK_TABLE) == table ? mask : 0;
}

/** Gives a living mask a number that is not 0. */
export function rememberMask(mask: usize, number: u32): void {
  forgetMask(mask);
  const entry = entryOf(number);
  store<u32>(entry, number);
  store<u32>(entry, <u32>mask, NAMED);
  store<u32>(mask, number, MASK_KNOWN);
}

/** Clears the entry of a mask. */
export function forgetMask(mask: usize): void {
  const entry = entryOf(load<u32>(mask, MASK_KNOWN));
  if (<usize>load<u32>(entry, NAMED) == mask) store<u64>(entry, 0);
}
