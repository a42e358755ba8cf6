/**
 * Meters: two token buckets and a colour (docs/state.md; RFC 2697, RFC 2698, RFC 4115; layout in
 * src/abi/state.ts).
 * A rate is mantissa / 2^exponent units per nanosecond. Buckets are exact: the rest below a unit is
 * kept as a fraction of 2^exponent, so many short intervals fill as much as one long interval.
 */
import { COLOUR_UNDEFINED, FRAME_WIRE_LENGTH } from "../../../src/abi/engine";
import {
  METER_ACTIVE,
  METER_BOTH,
  METER_CBS,
  METER_CIR,
  METER_CIR_EXPONENT,
  METER_COMMITTED,
  METER_COMMITTED_FRACTION,
  METER_EBS,
  METER_EIR,
  METER_EIR_EXPONENT,
  METER_EXCESS,
  METER_EXCESS_FRACTION,
  METER_FLAGS,
  METER_LAST,
  METER_MODE,
  METER_OVERFLOW,
  METER_SIZE,
  METER_TIME,
  METER_UNITS_A_PACKET,
} from "../../../src/abi/state";
import { BRANCH_FRAME } from "../../branch/branch";
import { timeOf } from "./clock";
import { packetLength } from "../header/length";
import { freshMap } from "../../branch/refresh";
import { stateFlags, writeRegisterC, readRegisterC } from "./registerC";
import { Check, StateKind } from "../../../src/abi/trace";
import { noteCheck, noteState } from "../../branch/events";

const RED: u32 = 0;
const YELLOW: u32 = 1;
const GREEN: u32 = 2;

const MODE_PACKET: u32 = 0;
const MODE_WIRE: u32 = 1;
const MODE_WIRE_AND_GAP: u32 = 2;
/** Preamble, start of frame and interframe gap (IEEE 802.3). */
const GAP: u64 = 20;

/** More units than both buckets hold: each has less than 2^39. */
const FILLS: u64 = 1 << 40;

/** Writes the colour of the frame to the register. */
export function meter(branch: usize, at: usize): void {
  if (TRACED) noteState(StateKind.meter, at, METER_SIZE);
  const start = startColour(branch);
  const active = load<u8>(at, METER_FLAGS) & METER_ACTIVE;
  const now = active != 0 ? colour(at, start, costOf(branch, at), timeOf(branch)) : start;
  if (TRACED) noteStart(start, now);
  store<u8>(at, <u8>(now + 1), METER_LAST);
  writeRegisterC(branch, now);
}

function startColour(branch: usize): u32 {
  const start = stateFlags();
  if (start != COLOUR_UNDEFINED) return start;
  const before = readRegisterC(branch, GREEN);
  return before <= GREEN ? before : GREEN;
}

/**
 * The cost in units. It needs 64 bits: a length on the wire has 32 bits, and a cost can be larger.
 */
function costOf(branch: usize, at: usize): u64 {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  switch (<u32>load<u8>(at, METER_MODE)) {
    case MODE_PACKET:
      return <u64>packetLength(frame, freshMap(branch));
    case MODE_WIRE:
      return <u64>load<u32>(frame, FRAME_WIRE_LENGTH);
    case MODE_WIRE_AND_GAP:
      return <u64>load<u32>(frame, FRAME_WIRE_LENGTH) + GAP;
    default:
      return METER_UNITS_A_PACKET;
  }
}

function colour(at: usize, start: u32, cost: u64, time: u64): u32 {
  fill(at, time);
  const committed = load<u64>(at, METER_COMMITTED);
  const excess = load<u64>(at, METER_EXCESS);
  const both = load<u8>(at, METER_FLAGS) & METER_BOTH;
  if (TRACED) noteBuckets(at, start, cost);
  if (start == GREEN && cost <= committed && (both == 0 || cost <= excess)) {
    store<u64>(at, committed - cost, METER_COMMITTED);
    if (both != 0) store<u64>(at, excess - cost, METER_EXCESS);
    return GREEN;
  }
  if (start == RED || cost > excess) return RED;
  store<u64>(at, excess - cost, METER_EXCESS);
  return YELLOW;
}

/** Notes that the frame could have no better colour. */
function noteStart(start: u32, now: u32): void {
  if (start != GREEN && now == start) noteCheck(Check.meter_start, <u64>start);
}

/** Notes the buckets with too few tokens for the colours that the frame could have. */
function noteBuckets(at: usize, start: u32, cost: u64): void {
  const inPackets = load<u8>(at, METER_MODE) > MODE_WIRE_AND_GAP;
  const unit = inPackets ? METER_UNITS_A_PACKET : 1;
  const committed = load<u64>(at, METER_COMMITTED);
  if (start == GREEN && cost > committed) {
    const check = inPackets ? Check.meter_committed_packets : Check.meter_committed_bytes;
    noteCheck(check, cost / unit, committed / unit, load<u64>(at, METER_CBS) / unit);
  }
  const excess = load<u64>(at, METER_EXCESS);
  const ebs = load<u64>(at, METER_EBS);
  if (start == RED || ebs == 0 || cost <= excess) return;
  noteCheck(inPackets ? Check.meter_excess_packets : Check.meter_excess_bytes, cost / unit, excess / unit, ebs / unit);
}

/** Fills both buckets for the time since the last frame. Time that goes backwards counts as 0. */
function fill(at: usize, time: u64): void {
  const last = load<u64>(at, METER_TIME);
  if (time <= last) return;
  store<u64>(at, time, METER_TIME);
  const gone = time - last;
  const over = pour(
    at + METER_COMMITTED,
    at + METER_COMMITTED_FRACTION,
    load<u64>(at, METER_CBS),
    grown(at + METER_COMMITTED_FRACTION, gone, load<u8>(at, METER_CIR), load<u8>(at, METER_CIR_EXPONENT)),
  );
  const ebs = load<u64>(at, METER_EBS);
  if (load<u8>(at, METER_FLAGS) & METER_OVERFLOW) pour(at + METER_EXCESS, 0, ebs, over);
  pour(
    at + METER_EXCESS,
    at + METER_EXCESS_FRACTION,
    ebs,
    grown(at + METER_EXCESS_FRACTION, gone, load<u8>(at, METER_EIR), load<u8>(at, METER_EIR_EXPONENT)),
  );
}

/** The whole units of `gone` nanoseconds; the rest stays in the fraction. */
function grown(fraction: usize, gone: u64, mantissa: u32, exponent: u32): u64 {
  const below: u64 = ((<u64>1) << exponent) - 1;
  const sum = <u64>load<u32>(fraction) + (gone & below) * <u64>mantissa;
  store<u32>(fraction, <u32>(sum & below));
  return min<u64>(gone >> exponent, FILLS) * <u64>mantissa + (sum >> exponent);
}

/**
 * Adds units to a bucket of `size` units. Returns the overflow; an overflow clears the fraction.
 */
function pour(bucket: usize, fraction: usize, size: u64, units: u64): u64 {
  const sum = load<u64>(bucket) + units;
  if (sum < size) {
    store<u64>(bucket, sum);
    return 0;
  }
  store<u64>(bucket, size);
  if (fraction != 0) store<u32>(fraction, 0);
  return sum - size;
}
