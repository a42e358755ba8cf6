/**
 * Flow meter parameters as the device has them, 32 big-endian bytes (`flow_meter_parameters` of the Adapters PRM), and the meter of the core
 * that they make (METER_* in src/abi/state.ts).
 *
 *     0                          1                8          9        10         11
 *     | valid 1, overflow 1, start 2, both 1, - 1, mode 2 | 0 | - 3, CBS exponent 5 | mantissa | - 3, CIR exponent 5 | mantissa |
 *     16         17         18         19
 *     | - 3, EBS exponent 5 | mantissa | - 3, EIR exponent 5 | mantissa |
 */
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
  METER_MODE,
  METER_OVERFLOW,
  METER_SIZE,
  METER_START,
  METER_TIME,
  METER_UNITS_A_PACKET,
} from "../../abi/state.js";

export const PARAMETERS_SIZE = 32;
const PACKETS_MODE = 3;
/** SPEC: the meaning of a CBS of 0: one large frame, or one packet. */
const MIN_BYTES = 16384n;
const MIN_PACKETS = BigInt(METER_UNITS_A_PACKET);

const CBS_AT = 8;
const CIR_AT = 10;
const EBS_AT = 16;
const EIR_AT = 18;

/** Bits of `modify_field_select`. */
export const SELECT_ACTIVE = 1;
export const SELECT_CBS = 2;
export const SELECT_CIR = 4;
export const SELECT_EBS = 8;
export const SELECT_EIR = 16;

/** Whether the `valid` bit is set. */
export function isValid(parameters: Uint8Array): boolean {
  return ((parameters[0] ?? 0) & 0x80) !== 0;
}

/** The start colour; 3 is undefined. */
export function startColour(parameters: Uint8Array): number {
  return ((parameters[0] ?? 0) >> 4) & 3;
}

/** A meter of the core, with full buckets. */
export function meterOf(parameters: Uint8Array, active: boolean, time: bigint): Uint8Array {
  const meter = new Uint8Array(METER_SIZE);
  const view = new DataView(meter.buffer);
  const first = parameters[0] ?? 0;
  view.setUint8(METER_MODE, first & 3);
  view.setUint8(METER_START, startColour(parameters));
  const flags = ((first & 0x40) !== 0 ? METER_OVERFLOW : 0) | ((first & 0x08) !== 0 ? METER_BOTH : 0);
  view.setUint8(METER_FLAGS, flags | (active ? METER_ACTIVE : 0));
  setSizes(view, parameters, SELECT_CBS | SELECT_CIR | SELECT_EBS | SELECT_EIR);
  view.setBigUint64(METER_COMMITTED, view.getBigUint64(METER_CBS, true), true);
  view.setBigUint64(METER_EXCESS, view.getBigUint64(METER_EBS, true), true);
  view.setBigUint64(METER_TIME, BigInt.asUintN(64, time), true);
  return meter;
}

/** Changes the selected parameters. Buckets keep their tokens, up to the new size. */
export function changeMeter(meter: Uint8Array, parameters: Uint8Array, active: boolean, select: number): void {
  const view = new DataView(meter.buffer, meter.byteOffset, meter.length);
  if ((select & SELECT_ACTIVE) !== 0) {
    const flags = view.getUint8(METER_FLAGS) & ~METER_ACTIVE;
    view.setUint8(METER_FLAGS, active ? flags | METER_ACTIVE : flags);
  }
  setSizes(view, parameters, select);
  for (const [bucket, fraction, size] of [
    [METER_COMMITTED, METER_COMMITTED_FRACTION, METER_CBS],
    [METER_EXCESS, METER_EXCESS_FRACTION, METER_EBS],
  ] as const) {
    const most = view.getBigUint64(size, true);
    if (view.getBigUint64(bucket, true) < most) continue;
    view.setBigUint64(bucket, most, true);
    view.setUint32(fraction, 0, true);
  }
}

function setSizes(view: DataView, parameters: Uint8Array, select: number): void {
  if ((select & SELECT_CBS) !== 0) {
    const least = view.getUint8(METER_MODE) === PACKETS_MODE ? MIN_PACKETS : MIN_BYTES;
    view.setBigUint64(METER_CBS, sizeAt(parameters, CBS_AT) || least, true);
  }
  if ((select & SELECT_EBS) !== 0) view.setBigUint64(METER_EBS, sizeAt(parameters, EBS_AT), true);
  if ((select & SELECT_CIR) !== 0)
    setRate(view, METER_CIR, METER_CIR_EXPONENT, METER_COMMITTED_FRACTION, parameters, CIR_AT);
  if ((select & SELECT_EIR) !== 0)
    setRate(view, METER_EIR, METER_EIR_EXPONENT, METER_EXCESS_FRACTION, parameters, EIR_AT);
}

/** A new rate starts without a fraction: the old fraction has another exponent. */
function setRate(
  view: DataView,
  mantissaAt: number,
  exponentAt: number,
  fraction: number,
  parameters: Uint8Array,
  at: number,
): void {
  view.setUint8(mantissaAt, parameters[at + 1] ?? 0);
  view.setUint8(exponentAt, (parameters[at] ?? 0) & 0x1f);
  view.setUint32(fraction, 0, true);
}

/** mantissa * 2^exponent */
function sizeAt(parameters: Uint8Array, at: number): bigint {
  return BigInt(parameters[at + 1] ?? 0) << BigInt((parameters[at] ?? 0) & 0x1f);
}

/**
 * The parameters with the state that ASO objects show: tokens at bytes 12 and 20, the time at byte
 * 24.
 */
export function withState(parameters: Uint8Array, meter: Uint8Array): Uint8Array {
  const block = parameters.slice(0, PARAMETERS_SIZE);
  const view = new DataView(block.buffer);
  const state = new DataView(meter.buffer, meter.byteOffset, meter.length);
  const clipped = (value: bigint): number => Number(value > 0xffffffffn ? 0xffffffffn : value);
  view.setUint32(12, clipped(state.getBigUint64(METER_COMMITTED, true)));
  view.setUint32(20, clipped(state.getBigUint64(METER_EXCESS, true)));
  view.setBigUint64(24, state.getBigUint64(METER_TIME, true));
  return block;
}
