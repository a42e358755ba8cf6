/**
 * Connection tracking: the effect of a frame on a connection (docs/conntrack.md; layout in
 * src/abi/connection.ts).
 * A bad or invalid frame changes nothing: all checks precede the first write.
 */
import {
  CONNECTION_FLAGS,
  CONNECTION_LAST,
  CONNECTION_LAST_ACK,
  CONNECTION_LAST_END,
  CONNECTION_LAST_SEQ,
  CONNECTION_LAST_WIN,
  CONNECTION_REPEATS,
  CONNECTION_SIZE,
  CONNECTION_STATE,
  CONNECTION_TIME,
  ConnectionState,
  DIRECTION_ORIGINAL,
  FLAG_ASSURED,
  FLAG_CHALLENGED,
  FLAG_HEARTBEAT,
  LAST_INDEX,
  LAST_ORIGINAL,
  REPEATS_COUNTER,
  REPEATS_EXCEEDED,
  REPEATS_LIMIT,
  REPEATS_SHIFT,
  SegmentKind,
  STATE_FREEZE,
  STATE_NUMBER,
  STATE_SHIFT,
  STATE_VALID,
  SYNDROME_BAD,
  SYNDROME_CHANGED,
  SYNDROME_INVALID,
  SYNDROME_TRAP,
  SYNDROME_VALID,
} from "../../../src/abi/connection";
import { BRANCH_FRAME } from "../../branch/branch";
import { be16, be32 } from "../../wire/cursor";
import { timeOf } from "./clock";
import { freshMap } from "../../branch/refresh";
import { isAfter, readSegment, Segment } from "./tcpSegment";
import {
  acknowledge,
  acknowledges,
  advance,
  answersFirst,
  answersLast,
  begin,
  closed,
  firstSeq,
  haveBothAcknowledged,
  isChallenge,
  isChecked,
  isKnown,
  isLiberal,
  isOld,
  isReset,
  noteFirst,
  noteLast,
  openAgain,
  openSide,
  openWithLast,
  receiver,
  refusesLast,
  sender,
  sentEnd,
  take,
} from "./tcpWindow";
import { Check, StateKind } from "../../../src/abi/trace";
import { noteCheck, noteState } from "../../branch/events";

// States before a connection is valid.
const EMPTY: u32 = 8;
const HALF_OPEN: u32 = 9;
/** Not a state: the frame is invalid. */
const REFUSED: u32 = 10;

const SECOND: u64 = 1_000_000_000;

/** Returns the syndrome of the branch's frame; `direction` is the direction of the rule. */
export function track(branch: usize, connection: usize, direction: u32): u32 {
  if (TRACED) noteState(StateKind.connection, connection, CONNECTION_SIZE);
  if (load<u8>(connection, CONNECTION_STATE) & STATE_FREEZE) return SYNDROME_TRAP;
  if (!readSegment(load<u32>(branch, BRANCH_FRAME), freshMap(branch))) return SYNDROME_INVALID | SYNDROME_BAD;
  const original = direction == DIRECTION_ORIGINAL;
  const time = timeOf(branch);
  const before = stateOf(connection);
  const now = isLate(connection, before, time) ? EMPTY : before;
  take(connection, original);
  const next = judge(now);
  if (next == REFUSED) return SYNDROME_INVALID;
  const begun = Segment.kind == SegmentKind.syn && next == HALF_OPEN && now != HALF_OPEN;
  note(connection, original, now, begun);
  enter(connection, next);
  if (load<u64>(connection, CONNECTION_TIME) <= time) store<u64>(connection, kept(time), CONNECTION_TIME);
  return next == now ? SYNDROME_VALID : SYNDROME_CHANGED;
}

function stateOf(connection: usize): u32 {
  const state: u32 = load<u8>(connection, CONNECTION_STATE);
  if (state & STATE_VALID) return (state >> STATE_SHIFT) & STATE_NUMBER;
  return lastIndex(connection) == SegmentKind.syn ? HALF_OPEN : EMPTY;
}

function enter(connection: usize, state: u32): void {
  const old: u32 = load<u8>(connection, CONNECTION_STATE);
  const number: u32 = STATE_NUMBER << STATE_SHIFT;
  const fresh = state >= EMPTY ? old & ~STATE_VALID : (old & ~number) | STATE_VALID | (state << STATE_SHIFT);
  store<u8>(connection, <u8>fresh, CONNECTION_STATE);
}

/**
 * The time as stored: one more, since 0 means that the connection had no frame yet. The largest
 * time is stored like the one before it.
 */
// @ts-ignore: decorator
@inline
function kept(time: u64): u64 {
  return min(time, u64.MAX_VALUE - 1) + 1;
}

function isLate(connection: usize, state: u32, time: u64): bool {
  const last = load<u64>(connection, CONNECTION_TIME);
  const seconds = timeOut(connection, state);
  if (seconds == 0 || last == 0 || time < last || time - last < <u64>seconds * SECOND) return false;
  if (TRACED) noteCheck(Check.timed_out, (time - last + 1) / SECOND, seconds, state);
  return true;
}

/** The timeout of a state in seconds; 0 for none. */
function timeOut(connection: usize, state: u32): u32 {
  switch (state) {
    case HALF_OPEN:
    case ConnectionState.fin_wait:
    case ConnectionState.time_wait:
      return 120;
    case ConnectionState.syn_received:
    case ConnectionState.close_wait:
      return 60;
    case ConnectionState.last_ack:
      return 30;
    case ConnectionState.established:
      return load<u8>(connection, CONNECTION_REPEATS) & REPEATS_EXCEEDED ? 300 : 0;
    default:
      return 0;
  }
}

/** Changes the windows and returns the next state; REFUSED if the segment is invalid. */
function judge(now: u32): u32 {
  if (Segment.kind == SegmentKind.rst) return reset(now);
  switch (now) {
    case EMPTY:
      return Segment.kind == SegmentKind.syn ? startOver() : wrongKind(now);
    case HALF_OPEN:
      return open();
    case ConnectionState.syn_received:
      return answer();
    case ConnectionState.established:
      if (Segment.kind == SegmentKind.syn) return now;
      if (Segment.kind == SegmentKind.syn_ack) return step(isOld()) ? now : unexpected(now);
      if (!step(isChecked())) return REFUSED;
      return Segment.kind == SegmentKind.fin ? ConnectionState.fin_wait : now;
    case ConnectionState.time_wait:
      if (Segment.kind == SegmentKind.syn) {
        return isLiberal() || isAfter(Segment.seq, sentEnd(sender())) ? startOver() : now;
      }
    // falls through
    case ConnectionState.fin_wait:
    case ConnectionState.close_wait:
    case ConnectionState.last_ack:
      return close(now);
    default:
      // SPEC: states that the device does not have.
      return wrongKind(now);
  }
}

/** The kind of the segment is not accepted in this state. */
function wrongKind(now: u32): u32 {
  if (TRACED) noteCheck(Check.kind, Segment.kind, now);
  return REFUSED;
}

/** Updates the windows if the segment passes; returns `passes`. */
function step(passes: bool): bool {
  if (passes) advance();
  return passes;
}

function startOver(): u32 {
  begin();
  openSide();
  noteFirst(Segment.seq);
  return HALF_OPEN;
}

/**
 * A SYN or SYN-ACK that does not fit a valid connection. SPEC: a SYN alone changes nothing, because
 * it may be forged; the other side answers it with an ACK (RFC 5961 section 4), or with a SYN-ACK
 * if it has no such connection.
 */
function unexpected(now: u32): u32 {
  return Segment.kind == SegmentKind.syn ? now : beginWithLast();
}

/** Begins a connection if the SYN-ACK answers the last SYN. */
function beginWithLast(): u32 {
  if (!answersLast()) return REFUSED;
  openWithLast();
  acknowledge(Segment.window);
  return ConnectionState.syn_received;
}

/**
 * State half-open: accepts SYN and SYN-ACK. The second segment may be a SYN too (RFC 9293 section
 * 3.5, simultaneous open).
 */
function open(): u32 {
  const syn = Segment.kind == SegmentKind.syn;
  if (!syn && Segment.kind != SegmentKind.syn_ack) return wrongKind(HALF_OPEN);
  if (!isKnown(receiver())) {
    if (syn) return openFirst();
    if (TRACED) noteCheck(Check.no_syn);
    return REFUSED;
  }
  const known = isKnown(sender());
  if (known && step(isOld())) return syn ? HALF_OPEN : ConnectionState.syn_received;
  if (syn) {
    if (known) return REFUSED;
    openSide();
    return HALF_OPEN;
  }
  if (!answersFirst() && (!isLiberal() || answersLast())) return beginWithLast();
  openSide();
  acknowledge(Segment.window);
  return ConnectionState.syn_received;
}

/**
 * A SYN of the side that opens the connection: the first one again, or another one. SPEC: another
 * one may be forged. The SYN-ACK shows which of the two the other side has taken.
 */
function openFirst(): u32 {
  const first = isKnown(sender()) ? firstSeq() : Segment.seq;
  noteFirst(first);
  if (first == Segment.seq) openAgain();
  return HALF_OPEN;
}

/** State SYN received. */
function answer(): u32 {
  const again = Segment.kind == SegmentKind.syn || Segment.kind == SegmentKind.syn_ack;
  if (!step(again ? isOld() : isChecked())) return again ? unexpected(ConnectionState.syn_received) : REFUSED;
  if (Segment.kind == SegmentKind.fin) return ConnectionState.fin_wait;
  return Segment.hasAck && haveBothAcknowledged() ? ConnectionState.established : ConnectionState.syn_received;
}

/** States after the first FIN of either side. */
function close(now: u32): u32 {
  const fin = Segment.kind == SegmentKind.fin;
  if (!fin && Segment.kind != SegmentKind.ack) return unexpected(now);
  const first = !closed();
  if (!step(isChecked())) return REFUSED;
  switch (now) {
    case ConnectionState.fin_wait:
      if (first && fin) return ConnectionState.last_ack;
      return first && acknowledges(sender(), receiver()) ? ConnectionState.close_wait : now;
    case ConnectionState.close_wait:
      return first && fin ? ConnectionState.last_ack : now;
    case ConnectionState.last_ack:
      return acknowledges(sender(), receiver()) && acknowledges(receiver(), sender()) ? ConnectionState.time_wait : now;
    default:
      return now;
  }
}

function reset(now: u32): u32 {
  if (now == EMPTY || (now > <u32>ConnectionState.time_wait && now != HALF_OPEN)) return wrongKind(now);
  if (isLiberal()) return EMPTY;
  if (now == HALF_OPEN) {
    const bySeq = isKnown(sender()) && Segment.seq == sentEnd(sender());
    const byAck = Segment.hasAck && isKnown(receiver()) && Segment.ack == sentEnd(receiver());
    if (bySeq || byAck || refusesLast()) return EMPTY;
    if (TRACED) noteCheck(Check.rst_half_open, Segment.seq, Segment.ack);
    return REFUSED;
  }
  if (isReset()) return EMPTY;
  return isChallenge() ? now : REFUSED;
}

/** Records a valid frame in the connection. `begun`: it is the first frame. */
function note(connection: usize, original: bool, now: u32, begun: bool): void {
  const which = Segment.kind | (original ? LAST_ORIGINAL : 0);
  const last: u32 = load<u8>(connection, CONNECTION_LAST) & (LAST_ORIGINAL | LAST_INDEX);
  let flags: u32 = load<u8>(connection, CONNECTION_FLAGS) | FLAG_HEARTBEAT;
  if (now == <u32>ConnectionState.established && Segment.kind & (SegmentKind.ack | SegmentKind.fin)) {
    flags |= FLAG_ASSURED;
  }
  // An ACK after a RST is valid only if the RST ended nothing, so the ACK answers a challenge. So
  // does an ACK after a SYN of the other side.
  const other: u32 = original ? 0 : LAST_ORIGINAL;
  if (Segment.kind == SegmentKind.ack && (last == (SegmentKind.rst | other) || last == (SegmentKind.syn | other))) {
    flags |= FLAG_CHALLENGED;
  }
  store<u8>(connection, <u8>flags, CONNECTION_FLAGS);
  if (Segment.kind == SegmentKind.syn) noteLast();

  repeat(
    connection,
    !begun &&
      last == which &&
      be32(connection + CONNECTION_LAST_SEQ) == Segment.seq &&
      be32(connection + CONNECTION_LAST_END) == Segment.end &&
      be32(connection + CONNECTION_LAST_ACK) == Segment.ack &&
      be16(connection + CONNECTION_LAST_WIN) == Segment.window,
  );
  store<u32>(connection, bswap(Segment.seq), CONNECTION_LAST_SEQ);
  store<u32>(connection, bswap(Segment.end), CONNECTION_LAST_END);
  store<u32>(connection, bswap(Segment.ack), CONNECTION_LAST_ACK);
  store<u16>(connection, bswap<u16>(<u16>Segment.window), CONNECTION_LAST_WIN);
  const kept: u32 = load<u8>(connection, CONNECTION_LAST) & ~(LAST_ORIGINAL | LAST_INDEX);
  store<u8>(connection, <u8>(kept | which), CONNECTION_LAST);
}

function repeat(connection: usize, repeated: bool): void {
  const old: u32 = load<u8>(connection, CONNECTION_REPEATS);
  const limit = old & REPEATS_LIMIT;
  let fresh = old & ~(REPEATS_EXCEEDED | (REPEATS_COUNTER << REPEATS_SHIFT));
  if (repeated) {
    const counted = ((old >> REPEATS_SHIFT) & REPEATS_COUNTER) + 1;
    fresh |= (old & REPEATS_EXCEEDED) | (min<u32>(counted, REPEATS_COUNTER) << REPEATS_SHIFT);
    if (limit != 0 && counted > limit) fresh |= REPEATS_EXCEEDED;
  }
  store<u8>(connection, <u8>fresh, CONNECTION_REPEATS);
}

// @ts-ignore: decorator
@inline
function lastIndex(connection: usize): u32 {
  return load<u8>(connection, CONNECTION_LAST) & LAST_INDEX;
}
