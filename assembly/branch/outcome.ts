/**
 * The outcome of each frame: verdict, hits, destinations. In: what actions decide about branches.
 * Out: outcome, hit and destination records that the host reads (layouts in src/abi/outcome.ts).
 */
import {
  DESTINATIONS_PER_FRAME,
  FRAME_ADDRESS,
  FRAME_LINK,
  FRAME_SIZE,
  FRAME_VPORT,
  HITS_PER_FRAME,
  VPORT_UPLINK,
} from "../../src/abi/engine";
import {
  DEST_ADDRESS,
  DEST_CHANGED,
  DEST_COPY,
  DEST_ESP,
  DEST_ETHERNET,
  DEST_NEXT,
  DEST_PORT,
  DEST_QUEUE,
  DEST_RAW_IP,
  DEST_SIZE,
  DEST_STATUS,
  OUTCOME_DESTINATIONS,
  OUTCOME_HITS,
  OUTCOME_KEY,
  OUTCOME_LAST,
  OUTCOME_REASON,
  OUTCOME_SIZE,
  OUTCOME_VERDICT,
  OUTCOME_WRITTEN,
  Reason,
  Verdict,
} from "../../src/abi/outcome";
import { Link } from "../../src/abi/headers";
import { EXT_REGISTER_B, KEY_SIZE, MISC2_REGISTER_A, MISC2_REGISTER_C_7 } from "../../src/abi/key";
import { reserve } from "../arena";
import { REASONS } from "../memory";
import { Rows } from "../rows";
import {
  ASIDE,
  BRANCH_FLAGS,
  BRANCH_FRAME,
  BRANCH_INDEX,
  BRANCH_KEY,
  BRANCH_TAG,
  BRANCH_WRITTEN,
  CHANGED,
  ESP_BITS,
  ESP_SHIFT,
  HAS_TAG,
  HAS_VERDICT,
  SHARED,
} from "./branch";
import { StateKind, TraceEvent } from "../../src/abi/trace";
import { note, noteState } from "./events";

// @ts-ignore: decorator
@inline
export function outcomeAt(index: u32): usize {
  return Rows.outcomes + <usize>index * OUTCOME_SIZE;
}

// @ts-ignore: decorator
@inline
export function firstDestination(index: u32): usize {
  return Rows.destinations + <usize>index * DEST_SIZE;
}

/**
 * A chunk of destinations that are not a frame's first: | next chunk 4 | 0 28 | destination 32 | ... |.
 * Chunks are reserved when they are first needed, and kept for later batches.
 */
const CHUNK: usize = 4096;

namespace Copies {
  export let first: usize = 0;
  export let current: usize = 0;
  /** The address of the next destination, and the end of the chunk. */
  export let next: usize = 0;
  export let end: usize = 0;
}

/** Called before the first outcome of a batch. */
// @ts-ignore: decorator
@inline
export function openOutcomes(): void {
  useChunk(Copies.first);
}

/** Forgets all chunks. */
export function dropChunks(): void {
  Copies.first = 0;
}

// @ts-ignore: decorator
@inline
function useChunk(chunk: usize): void {
  Copies.current = chunk;
  Copies.next = chunk + DEST_SIZE;
  Copies.end = chunk + select<usize>(CHUNK, DEST_SIZE, chunk != 0);
}

/** The next free destination; 0 when memory is full. */
function takeDestination(): usize {
  if (Copies.next == Copies.end && !nextChunk()) return 0;
  const destination = Copies.next;
  Copies.next = destination + DEST_SIZE;
  return destination;
}

function nextChunk(): bool {
  const before = Copies.current;
  let chunk: usize = before == 0 ? 0 : load<u32>(before);
  if (chunk == 0) {
    chunk = reserve(CHUNK);
    if (chunk == 0) return false;
    store<u32>(chunk, 0);
    if (before == 0) Copies.first = chunk;
    else store<u32>(before, <u32>chunk);
  }
  useChunk(chunk);
  return true;
}

// @ts-ignore: decorator
@inline
export function openOutcome(index: u32): void {
  const outcome = outcomeAt(index);
  v128.store(outcome, i64x2.splat(0));
  v128.store(outcome, i64x2.splat(0), OUTCOME_KEY);
}

// @ts-ignore: decorator
@inline
export function countReason(reason: u32, times: u32): void {
  const counter = REASONS + ((<usize>reason) << 3);
  if (TRACED) noteState(StateKind.reason, counter, 8);
  store<u64>(counter, load<u64>(counter) + times);
}

/** Replaces the verdict of an outcome; its tag stays. */
export function replaceVerdict(outcome: usize, verdict: u32, reason: u32): void {
  store<u8>(outcome, <u8>verdict, OUTCOME_VERDICT);
  store<u16>(outcome, <u16>reason, OUTCOME_REASON);
}

/**
 * Sets the verdict of a branch. The best verdict of a frame's branches counts, of equal ones the
 * first; the reason of the others is counted.
 */
// @ts-ignore: decorator
@inline
export function setVerdict(branch: usize, verdict: u32, reason: u32): void {
  if (TRACED) note(TraceEvent.verdict, branch, verdict, reason);
  const flags = load<u32>(branch, BRANCH_FLAGS);
  store<u32>(branch, flags | HAS_VERDICT, BRANCH_FLAGS);
  if (flags & ASIDE) {
    if (reason != Reason.none) countReason(reason, 1);
    return;
  }
  const outcome = outcomeAt(load<u32>(branch, BRANCH_INDEX));
  const verdictBefore: u32 = load<u8>(outcome, OUTCOME_VERDICT);
  if (verdictBefore != Verdict.none && !outranks(outcome, verdict, reason)) return;
  // One word: verdict, flags, reason, tag.
  const tag: u64 = flags & HAS_TAG ? ((<u64>load<u32>(branch, BRANCH_TAG)) << 32) | (HAS_TAG << 8) : 0;
  store<u64>(outcome, tag | (<u64>verdict) | ((<u64>reason) << 16));
  const written = load<u32>(branch, BRANCH_WRITTEN);
  if (written == 0 && verdictBefore == Verdict.none) return;
  store<u16>(outcome, <u16>written, OUTCOME_WRITTEN);
  store<u32>(outcome, load<u32>(branch, BRANCH_KEY), OUTCOME_KEY);
}

/** Drops a branch, for a reason; false, so that what could not go on can say so in one step. */
export function drop(branch: usize, reason: u32): bool {
  setVerdict(branch, Verdict.drop, reason);
  return false;
}

/**
 * Copies the registers that a fork wrote to the frame's own key, since other frames will use the
 * fork.
 */
export function keepRegisters(index: u32): void {
  const outcome = outcomeAt(index);
  const key: usize = load<u32>(outcome, OUTCOME_KEY);
  const own = Rows.keys + <usize>index * KEY_SIZE;
  if (load<u16>(outcome, OUTCOME_WRITTEN) == 0 || key == own) return;
  memory.copy(own + MISC2_REGISTER_C_7, key + MISC2_REGISTER_C_7, MISC2_REGISTER_A + 4 - MISC2_REGISTER_C_7);
  store<u32>(own, load<u32>(key, EXT_REGISTER_B), EXT_REGISTER_B);
  store<u32>(outcome, <u32>own, OUTCOME_KEY);
}

/** Whether the verdict of a branch replaces that of the outcome. */
function outranks(outcome: usize, verdict: u32, reason: u32): bool {
  const better = precedence(verdict) > precedence(load<u8>(outcome, OUTCOME_VERDICT));
  const lost: u32 = better ? load<u16>(outcome, OUTCOME_REASON) : reason;
  if (lost != Reason.none) countReason(lost, 1);
  return better;
}

function precedence(verdict: u32): u32 {
  switch (verdict) {
    case Verdict.deliver:
      return 4;
    case Verdict.transmit:
    case Verdict.forward:
      return 3;
    case Verdict.miss:
      return 2;
    default:
      return 1;
  }
}

/** Lists a rule that the frame hit, up to HITS_PER_FRAME. */
// @ts-ignore: decorator
@inline
export function hit(index: u32, id: u32): void {
  const outcome = outcomeAt(index);
  const hits: u32 = load<u16>(outcome, OUTCOME_HITS);
  if (hits >= <u32>HITS_PER_FRAME) return;
  store<u32>(Rows.hits + <usize>(index * HITS_PER_FRAME + hits) * 4, id);
  store<u16>(outcome, <u16>(hits + 1), OUTCOME_HITS);
}

/**
 * Adds a queue, or a port (DEST_PORT), to the destinations. out/deliver.ts decides whether a queue
 * takes the frame.
 */
// @ts-ignore: decorator
@inline
export function deliverTo(branch: usize, queue: u32, flags: u32): void {
  const index = load<u32>(branch, BRANCH_INDEX);
  const outcome = outcomeAt(index);
  const state = load<u32>(branch, BRANCH_FLAGS);
  const number: u32 = load<u16>(outcome, OUTCOME_DESTINATIONS);
  let destination = firstDestination(index);
  if (number != 0) {
    destination = anotherDestination(branch, number, flags);
    if (destination == 0) return;
  }
  if (TRACED) note(TraceEvent.destination, branch, queue, flags | (state & ASIDE ? DEST_COPY : 0));
  store<u16>(outcome, <u16>(number + 1), OUTCOME_DESTINATIONS);
  let kind = state & ASIDE ? flags | DEST_COPY : flags;
  if (state & (CHANGED | ESP_BITS)) kind |= changes(branch);
  // Two fields at a time: queue and flags, address and length.
  store<u64>(destination, (<u64>queue) | ((<u64>kind) << 32), DEST_QUEUE);
  store<u64>(destination, load<u64>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS), DEST_ADDRESS);
  // Status and tag.
  store<u64>(destination, state & HAS_TAG ? (<u64>load<u32>(branch, BRANCH_TAG)) << 32 : 0, DEST_STATUS);
  store<u32>(branch, state | SHARED, BRANCH_FLAGS);
  if (flags & DEST_COPY) return;
  setVerdict(branch, flags & DEST_PORT ? egressVerdict(index) : Verdict.deliver, Reason.none);
}

/** The destination flags of bytes that changed or could not be decrypted. */
function changes(branch: usize): u32 {
  const state = load<u32>(branch, BRANCH_FLAGS);
  const esp = ((state & ESP_BITS) >> ESP_SHIFT) << DEST_ESP;
  if (!(state & CHANGED)) return esp;
  const link: u32 = load<u8>(load<u32>(branch, BRANCH_FRAME), FRAME_LINK);
  if (link == Link.ethernet) return esp | DEST_CHANGED | DEST_ETHERNET;
  return esp | (link == Link.raw_ip ? DEST_CHANGED | DEST_RAW_IP : DEST_CHANGED);
}

/** The verdict of a frame that leaves by a port: it came from the wire, or from a function. */
export function egressVerdict(index: u32): u32 {
  return load<u32>(Rows.frames + <usize>index * FRAME_SIZE, FRAME_VPORT) == VPORT_UPLINK
    ? Verdict.forward
    : Verdict.transmit;
}

/**
 * A further destination of a frame, after its last; 0 if the frame has as many as it may have, or
 * memory is full.
 */
function anotherDestination(branch: usize, number: u32, flags: u32): usize {
  const destination: usize = number >= <u32>DESTINATIONS_PER_FRAME ? 0 : takeDestination();
  if (destination == 0) {
    if (flags & DEST_COPY || load<u32>(branch, BRANCH_FLAGS) & HAS_VERDICT) countReason(Reason.copy_limit, 1);
    else setVerdict(branch, Verdict.drop, Reason.copy_limit);
    return 0;
  }
  const index = load<u32>(branch, BRANCH_INDEX);
  const outcome = outcomeAt(index);
  const last: usize = number == 1 ? firstDestination(index) : load<u32>(outcome, OUTCOME_LAST);
  store<u32>(last, <u32>destination, DEST_NEXT);
  store<u32>(outcome, <u32>destination, OUTCOME_LAST);
  return destination;
}
