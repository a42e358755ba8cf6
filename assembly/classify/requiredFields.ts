/**
 * The required fields of a mask: what the parser must fill so that keys can be matched under it.
 * In: a mask with the presence bits of all its fields. Out: NEEDS_* and groups of the key, as
 * `parseFrame` takes them (wire/parse.ts).
 */
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_TUNNEL,
  GROUP_MISC4,
  GROUP_SIZE,
  PRESENT_SAMPLE,
  INNER,
  KEY_SIZE,
  LAYER_OK,
  MISC_TAGS2,
  OK_IPV4_CHECKSUM,
  OK_L4_CHECKSUM,
  OUTER,
  TAGS2_INNER_CVLAN,
  TAGS2_INNER_SVLAN,
  NEEDS_INNER,
  NEEDS_INNER_IPV4_CHECKSUM,
  NEEDS_INNER_L4_CHECKSUM,
  NEEDS_OUTER_IPV4_CHECKSUM,
  NEEDS_OUTER_L4_CHECKSUM,
} from "../../src/abi/key";
import { NEEDS_NOTHING } from "../wire/required";
import { samplesInner } from "../wire/sample";

const INNER_TAGS2: u32 = TAGS2_INNER_CVLAN | TAGS2_INNER_SVLAN;

export function needsOf(mask: usize): u32 {
  let needs = NEEDS_NOTHING;
  for (let block: usize = 0; block < <usize>KEY_SIZE; block += 16) {
    if (v128.any_true(v128.load(mask + block))) needs |= groupOf(block);
  }
  if (readsInner(mask)) needs |= NEEDS_INNER;
  // Samples are the last presence bits. A mask of presence alone matches any value.
  if (bswap(load<u32>(mask, EXT_PRESENT_TUNNEL)) >= <u32>PRESENT_SAMPLE) {
    needs |= 1 << GROUP_MISC4;
    if (samplesInner()) needs |= NEEDS_INNER;
  }
  const outer: u32 = load<u8>(mask + OUTER, LAYER_OK);
  const inner: u32 = load<u8>(mask + INNER, LAYER_OK);
  if (outer & OK_IPV4_CHECKSUM) needs |= NEEDS_OUTER_IPV4_CHECKSUM;
  if (outer & OK_L4_CHECKSUM) needs |= NEEDS_OUTER_L4_CHECKSUM;
  if (inner & OK_IPV4_CHECKSUM) needs |= NEEDS_INNER_IPV4_CHECKSUM;
  if (inner & OK_L4_CHECKSUM) needs |= NEEDS_INNER_L4_CHECKSUM;
  return needs;
}

/**
 * The group of a key byte, as a set. A range requires it; the mask has the presence of its field.
 */
export function groupOf(byte: usize): u32 {
  const group = <u32>(byte >> 6);
  return 1 << group;
}

/**
 * Every field of the inner packet has its presence in the mask, except for fields that are always
 * present.
 */
function readsInner(mask: usize): bool {
  if (load<u32>(mask, EXT_PRESENT_INNER) != 0) return true;
  if (load<u8>(mask, MISC_TAGS2) & INNER_TAGS2) return true;
  for (let at: usize = INNER; at < <usize>INNER + GROUP_SIZE; at += 16) {
    if (v128.any_true(v128.load(mask + at))) return true;
  }
  return false;
}
