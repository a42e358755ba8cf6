/**
 * The events of the traced core (layouts in src/abi/trace.ts). In: what happens to a branch. Out:
 * event records, one after the other, in memory that the host gave.
 *
 * Every call of a function here is under `if (TRACED)`. Other cores are compiled without these
 * statements (scripts/untraced.mjs), so they are byte for byte what they would be without events.
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_SIZE } from "../../src/abi/engine";
import { MAP_SIZE } from "../../src/abi/headers";
import { KEY_SIZE } from "../../src/abi/key";
import {
  EVENT_BRANCH,
  EVENT_BYTES,
  EVENT_HEAD,
  HASHED_BYTES,
  HASHED_FIELDS,
  HASHED_HEADER,
  HASHED_LEVEL,
  HASHED_VALUE,
  HASH_BYTES,
  HASH_ENTRY,
  HASH_INPUT,
  HASH_RECORD,
  HASH_VALUE,
  Check,
  SNAPSHOT_BYTES,
  SNAPSHOT_FRAME,
  SNAPSHOT_KEY,
  SNAPSHOT_MAP,
  STATE_ADDRESS,
  STATE_BEFORE,
  STATE_BYTES,
  STATE_KIND,
  STATE_ZERO,
  StateKind,
  TraceEvent,
} from "../../src/abi/trace";
import { BRANCH_FRAME, BRANCH_KEY, BRANCH_LOWER, BRANCH_MAP, numberInFrame } from "./branch";

namespace Events {
  /** The address of the next event. */
  export let next: usize = 0;
  export let end: usize = 0;
  /** Whether an event had no room. */
  export let lost: bool = false;
  /** The branch whose actions run at the moment. */
  export let branch: usize = 0;
}

/** Begins a trace in the memory from `start` to `end`. */
export function openEvents(start: usize, end: usize): void {
  Events.next = start;
  Events.end = end;
  Events.lost = false;
}

/** The address after the last event. */
export function eventsEnd(): usize {
  return Events.next;
}

/** Whether there was more than fits. */
export function eventsLost(): bool {
  return Events.lost;
}

/** Writes the head of an event; the address of its payload, 0 without room. */
function event(kind: TraceEvent, branch: u32, payload: usize): usize {
  const at = Events.next;
  const bytes: usize = (<usize>EVENT_HEAD + payload + 7) & ~7;
  if (Events.end - at < bytes) {
    Events.lost = true;
    return 0;
  }
  Events.next = at + bytes;
  store<u16>(at, <u16>kind);
  store<u16>(at, <u16>branch, EVENT_BRANCH);
  store<u32>(at, <u32>bytes, EVENT_BYTES);
  return at + EVENT_HEAD;
}

/** Notes up to four words about a branch. */
export function note(kind: TraceEvent, branch: usize, a: u32, b: u32 = 0, c: u32 = 0, d: u32 = 0): void {
  const at = event(kind, numberInFrame(branch), 16);
  if (at == 0) return;
  store<u32>(at, a);
  store<u32>(at, b, 4);
  store<u32>(at, c, 8);
  store<u32>(at, d, 12);
}

/** Notes that a branch was split. */
export function noteFork(branch: usize, copy: usize): void {
  note(TraceEvent.fork, branch, numberInFrame(copy));
}

/** Notes the result of a lookup, with the key that it took. */
export function noteLookup(branch: usize, table: usize, rule: usize): void {
  const at = event(TraceEvent.lookup, numberInFrame(branch), 16 + KEY_SIZE);
  if (at == 0) return;
  store<u32>(at, <u32>table);
  store<u32>(at, <u32>rule, 4);
  store<u64>(at, load<u64>(branch, BRANCH_LOWER), 8);
  memory.copy(at + 16, load<u32>(branch, BRANCH_KEY), KEY_SIZE);
}

/** Notes frame descriptor, key, frame map and bytes of a branch. */
export function noteSnapshot(kind: TraceEvent, branch: usize): void {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const length: usize = load<u32>(frame, FRAME_LENGTH);
  const at = event(kind, numberInFrame(branch), <usize>SNAPSHOT_BYTES + length);
  if (at == 0) return;
  memory.copy(at + SNAPSHOT_FRAME, frame, FRAME_SIZE);
  memory.copy(at + SNAPSHOT_KEY, load<u32>(branch, BRANCH_KEY), KEY_SIZE);
  memory.copy(at + SNAPSHOT_MAP, load<u32>(branch, BRANCH_MAP), MAP_SIZE);
  memory.copy(at + SNAPSHOT_BYTES, load<u32>(frame, FRAME_ADDRESS), length);
}

/** Notes which branch acts, for the state that its actions touch. */
export function noteActing(branch: usize): void {
  Events.branch = branch;
}

/** Notes bytes of an object with state, before they change. The host puts them back after a dry run. */
export function noteState(kind: StateKind, address: usize, length: u32): void {
  const at = event(TraceEvent.state, acting(), STATE_BEFORE + length);
  if (at == 0) return;
  store<u32>(at, kind, STATE_KIND);
  store<u32>(at, <u32>address, STATE_ADDRESS);
  store<u32>(at, length, STATE_BYTES);
  store<u32>(at, 0, STATE_ZERO);
  memory.copy(at + STATE_BEFORE, address, length);
}

/** The number of the branch whose actions run. */
function acting(): u32 {
  return Events.branch == 0 ? 0 : numberInFrame(Events.branch);
}

/** Notes a hash of RSS, its input, and the entry that it selects. */
export function noteHash(record: usize, hash: u32, entry: u32, input: usize, length: usize): void {
  const at = event(TraceEvent.hash, acting(), <usize>HASH_INPUT + length);
  if (at == 0) return;
  store<u32>(at, <u32>record, HASH_RECORD);
  store<u32>(at, hash, HASH_VALUE);
  store<u32>(at, entry, HASH_ENTRY);
  store<u32>(at, <u32>length, HASH_BYTES);
  memory.copy(at + HASH_INPUT, input, length);
}

/** Notes selected fields of a header: `length` bytes at `value`, which go into the hash. */
export function noteHashed(level: u32, fields: u32, header: u32, value: usize, length: usize): void {
  const at = event(TraceEvent.hashed, acting(), <usize>HASHED_VALUE + length);
  if (at == 0) return;
  store<u32>(at, level, HASHED_LEVEL);
  store<u32>(at, fields, HASHED_FIELDS);
  store<u32>(at, header, HASHED_HEADER);
  store<u32>(at, <u32>length, HASHED_BYTES);
  memory.copy(at + HASHED_VALUE, value, length);
}

/** Notes selected fields that are left out of the hash; `why` is HASHED_ABSENT or HASHED_FRAGMENT. */
export function noteLeftOut(level: u32, fields: u32, why: u32, offset: u32): void {
  if (fields == 0) return;
  const at = event(TraceEvent.hashed, acting(), HASHED_VALUE);
  if (at == 0) return;
  store<u32>(at, level, HASHED_LEVEL);
  store<u32>(at, fields, HASHED_FIELDS);
  store<u32>(at, why, HASHED_HEADER);
  store<u32>(at, offset, HASHED_BYTES);
}

/** Notes a check that the frame failed, with the numbers that it compared. */
export function noteCheck(check: Check, a: u64 = 0, b: u64 = 0, c: u64 = 0): void {
  const at = event(TraceEvent.check, acting(), 32);
  if (at == 0) return;
  store<u32>(at, check);
  store<u32>(at, 0, 4);
  store<u64>(at, a, 8);
  store<u64>(at, b, 16);
  store<u64>(at, c, 24);
}
