/**
 * The control part of steering entries: the actions of an entry, and where it leads
 * (rdma-core 65.0, providers/mlx5/mlx5_ifc.h, ste_match_bwc_v1 and ste_mask_and_match_v1).
 *
 *     | format 8 | counter 24 | miss address ... 96 | next table 96..159 | ... | actions up to 255 |
 *
 * An entry that matches keeps two words of actions, one that only acts three.
 */
import type { DumpEntry } from "./tree.js";

/** Hexadecimal digits of the control part. */
export const TAG_DIGITS = 64;

const DIGITS_OF_WORD = 8;
/** The format of entries that match and mask words, whose actions begin at bit 160; those of others at bit 192. */
const MATCH = 4;
const NOP = 0;
/** Actions of two words; all others have one. */
const DOUBLE: ReadonlySet<number> = new Set([5, 6, 7, 10, 11, 14, 18, 34]);

export interface EntryAction {
  readonly id: number;
  readonly hex: string;
}

/** The actions of an entry of format 1. */
export function actionWords({ hex }: DumpEntry): EntryAction[] {
  const actions: EntryAction[] = [];
  const first = Number.parseInt(hex.slice(0, 2), 16) === MATCH ? 160 / 4 : 192 / 4;
  for (let at = first; at < TAG_DIGITS;) {
    const id = Number.parseInt(hex.slice(at, at + 2), 16);
    const words = DOUBLE.has(id) ? 2 : 1;
    if (id !== NOP) actions.push({ id, hex: hex.slice(at, at + words * DIGITS_OF_WORD) });
    at += words * DIGITS_OF_WORD;
  }
  return actions;
}

/** The ICM index of the table after an entry: bits 37 to 6 of its address. */
export function nextTable({ hex, later }: DumpEntry): number {
  // | base 39 to 32, and size 8 | base 31 to 5 27 | ... |
  const [high, low] = later ? [120 / 4, 128 / 4] : [56 / 4, 64 / 4];
  const above = Number.parseInt(hex.slice(high, high + 2), 16) & 0x3f;
  const below = Number.parseInt(hex.slice(low, low + DIGITS_OF_WORD), 16);
  return above * 2 ** 26 + Math.floor(below / 2 ** 6);
}
