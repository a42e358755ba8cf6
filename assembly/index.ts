/**
 * Every export of the core. Addresses and handles are plain numbers. Arguments are valid, since the
 * host checks them (src/model), and every read of a frame is bounded by the length of the frame.
 *
 * Folders import in the direction of a frame's path, never back:
 *
 *     memory, arena, rows, epoch <- wire <- branch <- classify <- forward <- act <- walk
 *                     memory <- crypto <- esp <- act
 *                                 branch <- esp, out <- walk
 */
import { FRAME_SIZE } from "../src/abi/engine";
import { MAP_SIZE } from "../src/abi/headers";
import { KEY_SIZE } from "../src/abi/key";
import { openFrameBlocks } from "./branch/bytes";
import { openNumbers } from "./act/stateful/clock";
import { growToArena } from "./arena";
import { openMultipliers } from "./hash";
import { FIXED } from "./memory";
import { closeRows, growRows, Lists, Rows } from "./rows";
import { deliver } from "./out/deliver";
import { countBatch, HitCounts } from "./out/hits";
import { keepLengths as keep } from "./out/outcomeClasses";
import { BRANCH_LOWER, openBranch, openBranches } from "./branch/branch";
import { lookup } from "./classify/lookup/lookup";
import { openBitmaps } from "./classify/bitmaps/candidates";
import { walk } from "./walk/walk";
import { openBatch, parseFrame } from "./wire/parse";
import { Required } from "./wire/required";

export { areaAddress, bytesOpen, rowsOpen } from "./areas";
export { openBytes, openClasses } from "./rows";
export { arenaTop, arenaUsed, limitArena } from "./arena";
export { skipNumbers } from "./act/stateful/clock";
export { clearCache, dropCache, isCachePaused, limitCache } from "./walk/flowCache";
export { setSeed } from "./act/stateful/sampler";
export { createRecord, releaseRecord } from "./act/records";
export { setFdb, setVport } from "./forward/eswitch";
export {
  createTable,
  destroyTable,
  emptySendTable,
  emptyTable,
  removeRule,
  rerankRule,
  setMiss,
  stageValue,
} from "./classify/table";
export { reachable } from "./walk/reachableActions";
export { keepTable, reserveRules, trimTable } from "./classify/table";
export { firstOutside, insertRules } from "./act/bulk";
export { changeActions, insertKnown, insertRule } from "./act/install";
export { createCounters, releaseCounters } from "./act/count";
export {
  clearQueue,
  createCompletionQueue,
  createQueue,
  destroyCompletionQueue,
  resizeCompletionQueue,
  resizeQueue,
  shareBuffers,
  takeBuffer,
  destroyQueue,
  holdCompletion,
  postBuffer,
  setDatagrams,
  setQueueFlags,
  takeCompletions,
} from "./out/queue";

export { countHits } from "./out/hits";
export { writeColumns } from "./out/columns";
export { keepLengths, sumOutcomeClasses } from "./out/outcomeClasses";

export { createCipher, releaseCipher, setCipherKey } from "./crypto/cipher";
export { open, openMany, seal, sealMany } from "./crypto/gcm";

export { declareGeneveOption } from "./wire/geneve";
export { declareVxlanPorts } from "./wire/udp";
export { declareSample } from "./wire/sample";

/**
 * Takes the memory of the fixed areas and writes their constant parts; false when memory is full.
 * The first call of all.
 */
export function openMemory(): bool {
  // Unreached: the module is larger than its room, or the host has not 1 MiB.
  if (__heap_base > FIXED || !growToArena()) return false;
  closeRows();
  openBranches();
  openBitmaps();
  openMultipliers();
  return true;
}

/**
 * Takes memory for batches of `rows` frames; false when memory is full. Areas with an element for each
 * frame have other addresses then. Call it while no batch is steered.
 */
export function openRows(rows: u32): bool {
  if (!growRows(rows)) return false;
  openBranches();
  return true;
}

/**
 * Parses the first `count` frames of the batch: fills the groups of their keys in `wanted` (bit n
 * is group n) and their maps.
 */
export function parse(count: u32, wanted: u32): void {
  openBatch();
  for (let i: usize = 0; i < count; i++) {
    parseFrame(Rows.frames + i * FRAME_SIZE, Rows.keys + i * KEY_SIZE, Rows.maps + i * MAP_SIZE, wanted);
  }
}

/**
 * Takes the first `count` frames of the batch from bytes to outcome. They begin at the table
 * `root`.
 */
export function steer(root: usize, count: u32): void {
  loopBack(root, count, 0);
}

/**
 * The same for frames that the queue `sender` sent and the port loops back: only the rules of
 * `root` see them.
 */
export function loopBack(root: usize, count: u32, sender: usize): void {
  openFrameBlocks();
  openNumbers(count, sender != 0);
  const counts = HitCounts.count != 0;
  if (counts) keep(count);
  parse(count, Required.fields);
  walk(root, count, sender);
  deliver(count);
  if (counts) countBatch(count);
}

/**
 * Looks the first `count` keys of the batch up in one table, from a lower bound of rank. The area
 * `found` has the rules.
 */
export function classify(table: usize, count: u32, lowerHigh: u32, lowerLow: u32): void {
  const lower = ((<u64>lowerHigh) << 32) | (<u64>lowerLow);
  for (let i: u32 = 0; i < count; i++) {
    store<u64>(openBranch(i, table), lower, BRANCH_LOWER);
    store<u32>(Lists.round + ((<usize>i) << 2), i);
  }
  lookup(table, Lists.round, count);
}
