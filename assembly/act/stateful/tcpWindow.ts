/**
 * The two sides of a connection and their windows (docs/conntrack.md; RFC 9293 section 3.10.7.4,
 * RFC 7323 section 2.3).
 * `take` selects the connection and the sending side of the current segment (tcpSegment.ts).
 */
import {
  BITS_CLOSED,
  BITS_LIBERAL,
  BITS_MAX_ACK,
  BITS_SCALE_SHIFT,
  BITS_UNACKED,
  CONNECTION_BITS,
  CONNECTION_BITS_STEP,
  CONNECTION_FIRST_SEQ,
  CONNECTION_FLAGS,
  CONNECTION_LAST,
  CONNECTION_LAST_ACK,
  CONNECTION_LAST_END,
  CONNECTION_LAST_SEQ,
  CONNECTION_LAST_SYN,
  CONNECTION_LAST_WIN,
  CONNECTION_REPEATS,
  CONNECTION_SIDE,
  CONNECTION_STATE,
  FLAG_MAX_ACK_WINDOW,
  FLAG_SACK,
  FLAG_ASSURED,
  FLAG_CHALLENGED,
  FLAG_HEARTBEAT,
  LAST_INDEX,
  LAST_ORIGINAL,
  LAST_SYN_NOTED,
  LAST_SYN_SACK,
  LAST_SYN_SCALE_SHIFT,
  REPEATS_COUNTER,
  REPEATS_EXCEEDED,
  REPEATS_SHIFT,
  SCALE_NONE,
  SegmentKind,
  SIDE_MAX_ACK,
  SIDE_MAX_WIN,
  SIDE_REPLY_END,
  SIDE_SENT_END,
  STATE_NUMBER,
  STATE_SHIFT,
  STATE_VALID,
} from "../../../src/abi/connection";
import { Check } from "../../../src/abi/trace";
import { noteCheck } from "../../branch/events";
import { be16, be32 } from "../../wire/cursor";
import { isAfter, permitsSack, reachWithSack, scaleOption, Segment } from "./tcpSegment";

/**
 * Bounds of the distance between the oldest valid acknowledgement and the last byte sent. The
 * distance is the window, at least MIN_ACK_WINDOW, and at most half the number space, so that
 * comparisons are unique.
 */
const MIN_ACK_WINDOW: u32 = 0xffff;
const MAX_ACK_WINDOW: u64 = 0x7fffffff;

/** Sides: 0 is the reply side, 1 the original side. */
namespace At {
  export let connection: usize = 0;
  export let sender: u32 = 0;
}

export function take(connection: usize, original: bool): void {
  At.connection = connection;
  At.sender = original ? 1 : 0;
}

// @ts-ignore: decorator
@inline
export function sender(): u32 {
  return At.sender;
}

// @ts-ignore: decorator
@inline
export function receiver(): u32 {
  return At.sender ^ 1;
}

function word(side: u32, field: usize): usize {
  return At.connection + <usize>side * CONNECTION_SIDE + field;
}

function get(side: u32, field: usize): u32 {
  return be32(word(side, field));
}

function set(side: u32, field: usize, value: u32): void {
  store<u32>(word(side, field), bswap(value));
}

function bitsAt(side: u32): usize {
  return At.connection + CONNECTION_BITS + <usize>side * CONNECTION_BITS_STEP;
}

// @ts-ignore: decorator
@inline
function has(side: u32, bit: u32): bool {
  return (load<u8>(bitsAt(side)) & bit) != 0;
}

function mark(side: u32, bit: u32, on: bool): void {
  const at = bitsAt(side);
  const bits: u32 = load<u8>(at);
  store<u8>(at, <u8>(on ? bits | bit : bits & ~bit));
}

function scaleOf(side: u32): u32 {
  return load<u8>(bitsAt(side)) >> BITS_SCALE_SHIFT;
}

export function sentEnd(side: u32): u32 {
  return get(side, SIDE_SENT_END);
}

/** Whether the connection has seen a segment of the side. */
export function isKnown(side: u32): bool {
  return get(side, SIDE_MAX_WIN) != 0;
}

/** Whether the sender's frames are not checked. */
export function isLiberal(): bool {
  return has(At.sender, BITS_LIBERAL);
}

/** Whether the sender has sent a FIN. */
export function closed(): bool {
  return has(At.sender, BITS_CLOSED);
}

/** Whether `by` has acknowledged everything that `side` has sent. */
export function acknowledges(by: u32, side: u32): bool {
  return has(by, BITS_MAX_ACK) && !isAfter(sentEnd(side), get(by, SIDE_MAX_ACK));
}

export function haveBothAcknowledged(): bool {
  return has(0, BITS_MAX_ACK) && has(1, BITS_MAX_ACK);
}

/** Whether the segment is in its window, or the sender is not checked. */
export function isChecked(): bool {
  return isLiberal() || isInWindow();
}

/** The same, for a segment without new data. */
export function isOld(): bool {
  if (isLiberal()) return true;
  if (!isInWindow()) return false;
  if (!isAfter(Segment.end, sentEnd(sender()))) return true;
  if (TRACED) noteCheck(Check.not_old, Segment.end, sentEnd(sender()));
  return false;
}

function isInWindow(): bool {
  const last = sentEnd(sender());
  if (isAfter(Segment.seq, get(sender(), SIDE_REPLY_END))) {
    if (TRACED) noteCheck(Check.seq_beyond, Segment.seq, get(sender(), SIDE_REPLY_END));
    return false;
  }
  if (isAfter(last, Segment.end) && last - Segment.end > get(receiver(), SIDE_MAX_WIN)) {
    if (TRACED) noteCheck(Check.seq_old, Segment.end, last, get(receiver(), SIDE_MAX_WIN));
    return false;
  }
  if (Segment.hasAck && !isAckInWindow()) return false;
  if (!closed() || !isAfter(Segment.end, last)) return true;
  if (TRACED) noteCheck(Check.after_fin, Segment.end, last);
  return false;
}

function isAckInWindow(): bool {
  const flags: u32 = load<u8>(At.connection, CONNECTION_FLAGS);
  const reach = flags & FLAG_SACK ? reachWithSack() : Segment.ack;
  const usual = <u64>max<u32>(get(sender(), SIDE_MAX_WIN), MIN_ACK_WINDOW);
  // An acknowledgement beyond the sent data wraps to a distance larger than the limit.
  const limit = min(usual << (flags & FLAG_MAX_ACK_WINDOW), MAX_ACK_WINDOW);
  if (<u64>(sentEnd(receiver()) - reach) <= limit) return true;
  if (TRACED) {
    const last = sentEnd(receiver());
    if (isAfter(reach, last)) noteCheck(Check.ack_beyond, reach, last, Segment.ack);
    else noteCheck(Check.ack_old, reach, last - <u32>limit, last);
  }
  return false;
}

/** Whether the RST ends the connection. */
export function isReset(): bool {
  if (Segment.seq == sentEnd(sender())) return true;
  return has(receiver(), BITS_MAX_ACK) && Segment.seq == get(receiver(), SIDE_MAX_ACK);
}

/**
 * Whether the RST is in the window, so that the receiver answers with a challenge (RFC 5961 section
 * 3.2).
 */
export function isChallenge(): bool {
  const from = has(receiver(), BITS_MAX_ACK) ? get(receiver(), SIDE_MAX_ACK) : sentEnd(sender());
  if (isAfter(Segment.seq, from) && !isAfter(Segment.seq, get(sender(), SIDE_REPLY_END))) return true;
  if (TRACED) noteCheck(Check.rst_seq, Segment.seq, sentEnd(sender()), get(sender(), SIDE_REPLY_END));
  return false;
}

/** Clears everything except configuration and reserved bits. */
export function begin(): void {
  const connection = At.connection;
  memory.fill(connection, 0, 2 * CONNECTION_SIDE);
  store<u32>(connection, 0, CONNECTION_LAST_END);
  store<u32>(connection, 0, CONNECTION_LAST_ACK);
  store<u32>(connection, 0, CONNECTION_LAST_SEQ);
  store<u16>(connection, 0, CONNECTION_LAST_WIN);
  clear(connection + CONNECTION_LAST, LAST_ORIGINAL | LAST_INDEX);
  clear(bitsAt(0), ~BITS_LIBERAL);
  clear(bitsAt(1), ~BITS_LIBERAL);
  clear(connection + CONNECTION_STATE, STATE_VALID | (STATE_NUMBER << STATE_SHIFT));
  clear(connection + CONNECTION_FLAGS, FLAG_ASSURED | FLAG_CHALLENGED | FLAG_HEARTBEAT);
  clear(connection + CONNECTION_REPEATS, REPEATS_EXCEEDED | (REPEATS_COUNTER << REPEATS_SHIFT));
  permitSack();
}

function clear(at: usize, bits: u32): void {
  store<u8>(at, <u8>((<u32>load<u8>(at)) & ~bits));
}

function permitSack(): void {
  store<u8>(At.connection, <u8>(load<u8>(At.connection, CONNECTION_FLAGS) | FLAG_SACK), CONNECTION_FLAGS);
}

/** Opens the only known side again. */
export function openAgain(): void {
  permitSack();
  openSide();
}

/** Opens the sender's side with a SYN or SYN-ACK. */
export function openSide(): void {
  openBy(sender(), Segment.end, Segment.window, scaleOption(SCALE_NONE), permitsSack());
}

function openBy(side: u32, end: u32, window: u32, scale: u32, sack: bool): void {
  set(side, SIDE_SENT_END, end);
  set(side, SIDE_REPLY_END, end + get(side ^ 1, SIDE_MAX_WIN));
  set(side, SIDE_MAX_WIN, max<u32>(window, 1));
  set(side, SIDE_MAX_ACK, 0);
  const liberal = load<u8>(bitsAt(side)) & BITS_LIBERAL;
  store<u8>(bitsAt(side), <u8>(liberal | BITS_UNACKED | (scale << BITS_SCALE_SHIFT)));
  if (!sack) clear(At.connection + CONNECTION_FLAGS, FLAG_SACK);
}

/** Begins a connection that the last SYN opens, and then the segment, which answers it. */
export function openWithLast(): void {
  const end = be32(At.connection + CONNECTION_LAST_END);
  const window = be16(At.connection + CONNECTION_LAST_WIN);
  const options: u32 = load<u8>(At.connection, CONNECTION_LAST_SYN);
  begin();
  openBy(receiver(), end, window, options >> LAST_SYN_SCALE_SHIFT, (options & LAST_SYN_SACK) != 0);
  openSide();
}

/** Notes the options of a SYN, which becomes the last frame. */
export function noteLast(): void {
  const sack = permitsSack() ? LAST_SYN_SACK : 0;
  const scale = scaleOption(SCALE_NONE) << LAST_SYN_SCALE_SHIFT;
  store<u8>(At.connection, <u8>(LAST_SYN_NOTED | sack | scale), CONNECTION_LAST_SYN);
}

/** Whether the last frame is a SYN of the receiver, with its options noted. */
function hasLast(): bool {
  const which: u32 = load<u8>(At.connection, CONNECTION_LAST) & (LAST_ORIGINAL | LAST_INDEX);
  const noted: u32 = load<u8>(At.connection, CONNECTION_LAST_SYN) & LAST_SYN_NOTED;
  return noted != 0 && which == (SegmentKind.syn | (receiver() == 1 ? LAST_ORIGINAL : 0));
}

/** Whether the segment, a SYN-ACK, answers the last SYN. */
export function answersLast(): bool {
  if (!hasLast()) {
    if (TRACED) noteCheck(Check.no_last_syn, Segment.ack);
    return false;
  }
  const from = be32(At.connection + CONNECTION_LAST_SEQ);
  const to = be32(At.connection + CONNECTION_LAST_END);
  if (isBetween(from, to)) return true;
  if (TRACED) noteCheck(Check.answers_last, Segment.ack, from, to);
  return false;
}

/** Whether the segment, a RST, refuses the last SYN. */
export function refusesLast(): bool {
  return hasLast() && Segment.hasAck && Segment.ack == be32(At.connection + CONNECTION_LAST_END);
}

/** Whether the segment, a SYN-ACK, answers the SYN that opened the receiver. */
export function answersFirst(): bool {
  const end = sentEnd(receiver());
  if (isKnown(sender())) {
    if (Segment.ack == end && !has(sender(), BITS_MAX_ACK)) return true;
    if (TRACED) noteCheck(Check.answers_first_again, Segment.ack, end);
    return false;
  }
  if (isBetween(firstSeq(), end)) return true;
  if (TRACED) noteCheck(Check.answers_first, Segment.ack, firstSeq(), end);
  return false;
}

/** Whether the segment's acknowledgement is after `from` and not after `to`. */
function isBetween(from: u32, to: u32): bool {
  return isAfter(Segment.ack, from) && !isAfter(Segment.ack, to);
}

/** The sequence number of the first SYN of a half-open connection. */
export function firstSeq(): u32 {
  const noted: u32 = load<u8>(At.connection, CONNECTION_LAST_SYN) & LAST_SYN_NOTED;
  return noted != 0 ? load<u32>(At.connection, CONNECTION_FIRST_SEQ) : be32(At.connection + CONNECTION_LAST_SEQ);
}

export function noteFirst(seq: u32): void {
  store<u32>(At.connection, seq, CONNECTION_FIRST_SEQ);
}

/** Updates the windows for a valid segment. */
export function advance(): void {
  const from = sender();
  const to = receiver();
  const limit = get(from, SIDE_REPLY_END);
  // Data beyond the window was in the receiver's real window, so the stored window grows by as
  // much.
  if (isAfter(Segment.end, limit)) set(to, SIDE_MAX_WIN, saturate(get(to, SIDE_MAX_WIN), Segment.end - limit));
  const win = scaled();
  if (win > get(from, SIDE_MAX_WIN)) set(from, SIDE_MAX_WIN, win);
  if (isAfter(Segment.end, sentEnd(from))) {
    set(from, SIDE_SENT_END, Segment.end);
    mark(from, BITS_UNACKED, true);
  }
  if (Segment.kind == SegmentKind.fin) mark(from, BITS_CLOSED, true);
  if (Segment.hasAck) acknowledge(win);
}

function saturate(a: u32, b: u32): u32 {
  return a + b < a ? 0xffffffff : a + b;
}

function scaled(): u32 {
  const syn = Segment.kind & (SegmentKind.syn | SegmentKind.syn_ack);
  if (syn || scaleOf(0) == SCALE_NONE || scaleOf(1) == SCALE_NONE) return Segment.window;
  return Segment.window << scaleOf(sender());
}

/** Updates both sides for an acknowledgement with window `win`. */
export function acknowledge(win: u32): void {
  const from = sender();
  const to = receiver();
  if (!has(from, BITS_MAX_ACK) || isAfter(Segment.ack, get(from, SIDE_MAX_ACK))) set(from, SIDE_MAX_ACK, Segment.ack);
  mark(from, BITS_MAX_ACK, true);
  const last = Segment.ack + max<u32>(win, 1);
  if (isAfter(last, get(to, SIDE_REPLY_END))) set(to, SIDE_REPLY_END, last);
  if (!isAfter(sentEnd(to), Segment.ack)) mark(to, BITS_UNACKED, false);
}
