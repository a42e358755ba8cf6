// Reference of meters: token buckets in exact arithmetic, written from docs/state.md (Meters), the
// parameter table of the device's flow meter object, and RFC 2697, 2698 and 4115. Buckets count in
// units of 2^-31, which every exponent divides, so no rate is ever rounded.

import { be } from "../generate/draw.js";
import { type Frame, behindLink, parsed } from "./rewrite.js";

export const RED = 0;
export const YELLOW = 1;
export const GREEN = 2;
/** A start colour that comes from an earlier meter. */
export const UNDEFINED = 3;

/**
 * Cost of a frame: its IP bytes, its bytes on the wire, its bytes on the wire plus 20, or 128 per
 * frame.
 */
export type Mode = 0 | 1 | 2 | 3;

/** mantissa * 2^exponent units, or mantissa / 2^exponent units per nanosecond. */
export interface Scaled {
  mantissa: number;
  exponent: number;
}

export interface MeterParameters {
  valid: boolean;
  overflow: boolean;
  start: number;
  both: boolean;
  mode: Mode;
  cbs: Scaled;
  cir: Scaled;
  ebs: Scaled;
  eir: Scaled;
}

/** The 32 bytes in device format. */
export function parameterBytes({ valid, overflow, start, both, mode, ...sizes }: MeterParameters): Uint8Array {
  const head = (Number(valid) << 7) | (Number(overflow) << 6) | (start << 4) | (Number(both) << 3) | mode;
  const scaled = ({ mantissa, exponent }: Scaled): number[] => [exponent, mantissa];
  const { cbs, cir, ebs, eir } = sizes;
  const words = [be(head, 1), be(0, 7), scaled(cbs), scaled(cir), be(0, 4), scaled(ebs), scaled(eir), be(0, 12)];
  return Uint8Array.from(words.flat());
}

const POINT = 31n;

interface Bucket {
  size: bigint;
  held: bigint;
}

export interface Meter {
  parameters: MeterParameters;
  active: boolean;
  committed: Bucket;
  excess: Bucket;
  /** The latest time seen, in nanoseconds; at first the time of creation. */
  time: bigint;
}

/**
 * Inputs of the cost of a frame: its length on the wire, and the length of its IP packet as
 * docs/state.md defines it.
 */
export interface Cost {
  wireLength: number;
  ipLength: number;
}

const units = ({ mantissa, exponent }: Scaled): bigint => (BigInt(mantissa) << BigInt(exponent)) << POINT;
const perNanosecond = ({ mantissa, exponent }: Scaled): bigint => BigInt(mantissa) << (POINT - BigInt(exponent));
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const wholeUnits = (fixed: bigint): bigint => (fixed >> POINT) << POINT;

/** SPEC: a size of 0 is one large frame. */
const sizeOf = (size: Scaled, mode: Mode): bigint =>
  size.mantissa === 0 ? BigInt(mode === 3 ? 128 : 16384) << POINT : units(size);

/** `active`: for a meter of an object, whether its parameters are valid. */
export function newMeter(parameters: MeterParameters, time: bigint, active = parameters.valid): Meter {
  const full = (size: bigint): Bucket => ({ size, held: size });
  const committed = full(sizeOf(parameters.cbs, parameters.mode));
  return { parameters, active, committed, excess: full(units(parameters.ebs)), time };
}

/** Fields selected by modify_field_select of the device. */
export const SELECT = { active: 1n, cbs: 2n, cir: 4n, ebs: 8n, eir: 16n } as const;

/** Buckets keep their tokens, cut to the new size; SPEC: a new rate starts with whole units. */
export function modifyMeter(meter: Meter, select: bigint, active: boolean, to: MeterParameters): void {
  if (select & SELECT.active) meter.active = active;
  if (select & SELECT.cir) meter.committed.held = wholeUnits(meter.committed.held);
  if (select & SELECT.eir) meter.excess.held = wholeUnits(meter.excess.held);
  for (const name of ["cbs", "cir", "ebs", "eir"] as const) {
    if (select & SELECT[name]) meter.parameters = { ...meter.parameters, [name]: to[name] };
  }
  const { cbs, ebs, mode } = meter.parameters;
  resize(meter.committed, sizeOf(cbs, mode));
  resize(meter.excess, units(ebs));
}

function resize(bucket: Bucket, size: bigint): void {
  bucket.size = size;
  bucket.held = least(bucket.held, size);
}

/** Colour of a frame. `start` is the colour that it arrives with, never UNDEFINED. */
export function colour(meter: Meter, start: number, time: bigint, cost: Cost): number {
  if (!meter.active) return start;
  fill(meter, time);
  const price = BigInt(priceOf(meter.parameters.mode, cost)) << POINT;
  const { committed, excess } = meter;
  const { both } = meter.parameters;
  if (start === GREEN && price <= committed.held && (!both || price <= excess.held)) {
    committed.held -= price;
    if (both) excess.held -= price;
    return GREEN;
  }
  if (start === RED || price > excess.held) return RED;
  excess.held -= price;
  return YELLOW;
}

function priceOf(mode: Mode, { wireLength, ipLength }: Cost): number {
  return [ipLength, wireLength, wireLength + 20, 128][mode] as number;
}

function fill(meter: Meter, now: bigint): void {
  const { committed, excess, time } = meter;
  const { overflow, cir, eir } = meter.parameters;
  const gone = now < time ? 0n : now - time;
  meter.time = time + gone;
  const have = committed.held + perNanosecond(cir) * gone;
  committed.held = least(have, committed.size);
  const over = overflow ? wholeUnits(have - committed.held) : 0n;
  excess.held = least(excess.held + perNanosecond(eir) * gone + over, excess.size);
}

/**
 * Chargeable length of a frame: the length field of the first IP header; else all bytes after the
 * link header and its tags.
 */
export function costOf(frame: Frame): Cost {
  const { bytes, wireLength } = frame;
  const headers = parsed(frame).headers.filter(({ level }) => level === "outer");
  const ip = headers.find(({ kind }) => kind === "ipv4" || kind === "ipv6");
  if (ip) {
    const [at, more] = ip.kind === "ipv4" ? [ip.offset + 2, 0] : [ip.offset + 4, 40];
    return { wireLength, ipLength: (bytes[at] as number) * 256 + (bytes[at + 1] as number) + more };
  }
  return { wireLength, ipLength: wireLength - behindLink(frame) };
}
