/**
 * Counts frames and bytes by outcome class, so that the host reads a few sums for many frames. In:
 * the outcomes of a batch. Out: the area `outcome_classes` (layout in src/abi/engine.ts).
 *
 * Two frames have one class exactly if they agree in verdict, reason, rules in order, metadata
 * registers with their values, the tables that a miss missed, and destinations in order: of each its kind, its status, and the
 * difference in length to the frame as it came in. Tags, lengths and bytes may differ.
 */
import {
  DESTINATIONS_PER_FRAME,
  FRAME_LENGTH,
  FRAME_SIZE,
  HITS_PER_FRAME,
  REGISTER_A,
  REGISTERS,
  MAX_CLASSES,
  CLASS_BYTES,
  CLASS_FIRST,
  CLASS_FRAMES,
  CLASS_HASH,
  CLASS_ROW,
  CLASS_SIZE,
  CLASS_SLOTS,
  CLASS_WORDS,
  CLASSES_COUNT,
  CLASSES_NUMBERS,
  CLASSES_RECORDS,
  CLASSES_SLOTS,
  CLASSES_SUMMED,
  CLASSES_USED,
  CLASSES_WORDS,
  MAX_CLASS_WORDS,
} from "../../src/abi/engine";
import {
  DEST_LENGTH,
  DEST_NEXT,
  DEST_QUEUE,
  DEST_STATUS,
  OUTCOME_DESTINATIONS,
  OUTCOME_HITS,
  OUTCOME_KEY,
  OUTCOME_MISSED,
  OUTCOME_REASON,
  OUTCOME_VERDICT,
  OUTCOME_WRITTEN,
  Reason,
} from "../../src/abi/outcome";
import { EXT_REGISTER_B, MISC2_REGISTER_A, MISC2_REGISTER_C_0 } from "../../src/abi/key";
import { productOfWords } from "../hash";
import { Classes, Rows } from "../rows";
import { firstDestination, outcomeAt } from "../branch/outcome";

/** The words of the longest class, and one to make them even. */
const MAX_WORDS: u32 = 6 + HITS_PER_FRAME + REGISTERS + 4 * DESTINATIONS_PER_FRAME;

/**
 * Stores the lengths of the frames of the batch, before rules change them. Call it before `steer`.
 */
export function keepLengths(count: u32): void {
  for (let i: usize = 0; i < count; i++) {
    store<u64>(Rows.lengths + (i << 3), load<u64>(Rows.frames + i * FRAME_SIZE, FRAME_LENGTH));
  }
}

/**
 * Sums rows of the batch from `first` on, until there is no room for another outcome class. Returns
 * the number of summed rows, including those before `first`.
 */
export function sumOutcomeClasses(first: u32, count: u32): u32 {
  let i = first;
  for (; i < count; i++) {
    const outcomeClass = classOf(i);
    if (outcomeClass == 0) break;
    store<u16>(
      Classes.start + ((<usize>i) << 1),
      <u16>((outcomeClass - Classes.start - CLASSES_RECORDS) / CLASS_SIZE),
      CLASSES_NUMBERS,
    );
    store<u64>(outcomeClass, load<u64>(outcomeClass, CLASS_FRAMES) + 1, CLASS_FRAMES);
    store<u64>(
      outcomeClass,
      load<u64>(outcomeClass, CLASS_BYTES) + load<u32>(Rows.lengths + ((<usize>i) << 3), 4),
      CLASS_BYTES,
    );
  }
  store<u32>(Classes.start, i, CLASSES_SUMMED);
  return i;
}

/** The outcome class of a frame, new if needed; 0 when there is no room for it. */
function classOf(i: u32): usize {
  const used = load<u32>(Classes.start, CLASSES_USED);
  if (used + MAX_WORDS > <u32>MAX_CLASS_WORDS) return 0;
  const begin = Classes.start + CLASSES_WORDS + ((<usize>used) << 2);
  const end = writeWords(i, begin);
  const hash = <u32>(productOfWords(begin, end) >> 32);
  let slot = hash & (CLASS_SLOTS - 1);
  for (; ; slot = (slot + 1) & (CLASS_SLOTS - 1)) {
    const number: u32 = load<u16>(Classes.start + ((<usize>slot) << 1), CLASSES_SLOTS);
    if (number == 0) break;
    const known = classAt(number - 1);
    if (load<u32>(known, CLASS_HASH) == hash && isSame(known, begin, end)) return known;
  }
  const number = load<u32>(Classes.start, CLASSES_COUNT);
  if (number == MAX_CLASSES) return 0;
  store<u16>(Classes.start + ((<usize>slot) << 1), <u16>(number + 1), CLASSES_SLOTS);
  store<u32>(Classes.start, number + 1, CLASSES_COUNT);
  const words = <u32>((end - begin) >> 2);
  store<u32>(Classes.start, used + words, CLASSES_USED);
  const outcomeClass = classAt(number);
  store<u64>(outcomeClass, 0, CLASS_FRAMES);
  store<u64>(outcomeClass, 0, CLASS_BYTES);
  store<u32>(outcomeClass, i, CLASS_ROW);
  store<u32>(outcomeClass, hash, CLASS_HASH);
  store<u32>(outcomeClass, used, CLASS_FIRST);
  store<u32>(outcomeClass, words, CLASS_WORDS);
  return outcomeClass;
}

// @ts-ignore: decorator
@inline
function classAt(number: u32): usize {
  return Classes.start + CLASSES_RECORDS + <usize>number * CLASS_SIZE;
}

// @ts-ignore: decorator
@inline
function isMiss(outcome: usize): bool {
  const reason: u32 = load<u16>(outcome, OUTCOME_REASON);
  return reason == Reason.no_rule || reason == Reason.table_miss;
}

/** Writes the words of a frame's outcome class, an even number; returns their end. */
// @ts-ignore: decorator
@inline
function writeWords(i: u32, begin: usize): usize {
  const outcome = outcomeAt(i);
  const written: u32 = load<u16>(outcome, OUTCOME_WRITTEN);
  const hits: u32 = load<u16>(outcome, OUTCOME_HITS);
  const destinations: u32 = load<u16>(outcome, OUTCOME_DESTINATIONS);
  const verdict: u32 = load<u8>(outcome, OUTCOME_VERDICT);
  store<u32>(begin, verdict | ((<u32>load<u16>(outcome, OUTCOME_REASON)) << 8));
  store<u32>(begin, hits | (destinations << 16), 4);
  store<u32>(begin, written, 8);
  let at = begin + 12;
  const rules = Rows.hits + <usize>(i * HITS_PER_FRAME) * 4;
  for (let n: usize = 0; n < hits; n++, at += 4) store<u32>(at, load<u32>(rules + (n << 2)));
  if (written != 0) at = writeRegisters(load<u32>(outcome, OUTCOME_KEY), written, at);
  const length = load<u32>(Rows.lengths + ((<usize>i) << 3));
  let destination = firstDestination(i);
  for (let n: u32 = 0; n < destinations; n++, at += 16) {
    if (n > 0) destination = load<u32>(destination, DEST_NEXT);
    // The queue and the flags of the destination.
    store<u64>(at, load<u64>(destination, DEST_QUEUE));
    store<u32>(at, load<u32>(destination, DEST_STATUS), 8);
    store<u32>(at, load<u32>(destination, DEST_LENGTH) - length, 12);
  }
  if (isMiss(outcome)) {
    store<u64>(at, load<u64>(outcome, OUTCOME_MISSED));
    at += 8;
  }
  if ((at & 4) == (begin & 4)) return at;
  store<u32>(at, 0);
  return at + 4;
}

/** C7 down to C0 are consecutive, then A; B is in `ext`. */
function writeRegisters(key: usize, written: u32, at: usize): usize {
  for (let n: u32 = 0; n < <u32>REGISTERS; n++) {
    if (!((written >> n) & 1)) continue;
    const byte: usize =
      n < <u32>REGISTER_A ? MISC2_REGISTER_C_0 - 4 * n : n == <u32>REGISTER_A ? MISC2_REGISTER_A : EXT_REGISTER_B;
    store<u32>(at, load<u32>(key + byte));
    at += 4;
  }
  return at;
}

// @ts-ignore: decorator
@inline
function isSame(outcomeClass: usize, begin: usize, end: usize): bool {
  if (load<u32>(outcomeClass, CLASS_WORDS) != <u32>((end - begin) >> 2)) return false;
  const other = Classes.start + CLASSES_WORDS + ((<usize>load<u32>(outcomeClass, CLASS_FIRST)) << 2);
  for (let at = begin; at < end; at += 8) if (load<u64>(at) != load<u64>(other + (at - begin))) return false;
  return true;
}
