/** How fast a bucket of a meter fills, and when it has enough for a frame (docs/state.md, "Meters"). */
import {
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
  METER_OVERFLOW,
  METER_UNITS_A_PACKET,
} from "../../abi/state.js";
import type { Core } from "../../engine/core.js";

export type Bucket = "committed" | "excess";
export type MeterUnits = "bytes" | "packets";

/** Where a meter has the mantissa and the exponent of a rate, the size of the bucket, its tokens and their fraction. */
const PLACES = {
  committed: [METER_CIR, METER_CIR_EXPONENT, METER_CBS, METER_COMMITTED, METER_COMMITTED_FRACTION],
  excess: [METER_EIR, METER_EIR_EXPONENT, METER_EBS, METER_EXCESS, METER_EXCESS_FRACTION],
} as const satisfies Record<Bucket, readonly number[]>;

/** A bucket that has too few tokens. */
export interface Refill {
  /** Units a second. */
  readonly rate: number;
  /** Nanoseconds until it has enough; null if it never has, or if that follows from more than its own rate. */
  readonly wait: bigint | null;
  readonly cause: "rate" | "size" | "overflow";
}

const UNITS: Readonly<Record<MeterUnits, bigint>> = { bytes: 1n, packets: BigInt(METER_UNITS_A_PACKET) };

/**
 * @param at the address of the meter in the core, after the walk: no frame takes from a bucket that has too little for it
 * @param cost what the frame costs, in `units`
 */
export function refillOf(core: Core, at: number, bucket: Bucket, units: MeterUnits, cost: bigint): Refill {
  const [rateAt, exponentAt, size, tokens, fractionAt] = PLACES[bucket];
  const mantissa = core.u8[at + rateAt] as number;
  const exponent = core.u8[at + exponentAt] as number;
  const unit = UNITS[units];
  const rate = (mantissa * 1e9) / 2 ** exponent / Number(unit);
  const needed = cost * unit;
  if (needed > core.u64(at + size)) return { rate, wait: null, cause: "size" };
  const overflows = bucket === "excess" && ((core.u8[at + METER_FLAGS] as number) & METER_OVERFLOW) !== 0;
  if (overflows || mantissa === 0) return { rate, wait: null, cause: overflows ? "overflow" : "rate" };
  const fraction = BigInt(core.u32[(at + fractionAt) >> 2] as number);
  const missing = ((needed - core.u64(at + tokens)) << BigInt(exponent)) - fraction;
  const wait = (missing + BigInt(mantissa) - 1n) / BigInt(mantissa);
  return { rate, wait: wait > 0n ? wait : null, cause: "rate" };
}

/** `, which refills at about 1000 packets/s: enough in 1 ms` */
export function refillText({ rate, wait, cause }: Refill, units: MeterUnits): string {
  if (cause === "size") return ": the frame costs more than a full bucket has";
  const about = `${Number(rate.toPrecision(3))} ${units}/s`;
  if (cause === "overflow") return `, which gets what the committed bucket cannot hold and about ${about}`;
  if (rate === 0) return ", which never refills: its rate is 0";
  return `, which refills at about ${about}${wait === null ? "" : `: enough in ${timeText(wait)}`}`;
}

const SCALES = [
  ["s", 1e9],
  ["ms", 1e6],
  ["us", 1e3],
] as const;

/** Three digits, rounded up: the bucket has enough by then. */
function timeText(nanoseconds: bigint): string {
  const [name, scale] = SCALES.find(([, one]) => Number(nanoseconds) >= one) ?? ["ns", 1];
  const time = Number(nanoseconds) / scale;
  const digit = 10 ** Math.max(0, 2 - Math.floor(Math.log10(time)));
  return `${Math.ceil(time * digit) / digit} ${name}`;
}
