/**
 * Encodes the meters of a document as the 32 bytes of the device
 * (src/model/action/meterParameters.ts draws them).
 */
import {
  PARAMETERS_SIZE,
  SELECT_ACTIVE,
  SELECT_CBS,
  SELECT_CIR,
  SELECT_EBS,
  SELECT_EIR,
} from "../../model/action/meterParameters.js";
import {
  METER_MODES,
  START_COLORS,
  type ScenarioMeterNumber,
  type ScenarioAsoMeter,
  type ScenarioMeterRates,
  type ScenarioStep,
} from "./definition.js";

/** Units that a packet costs where packets are metered. */
const PACKET = 128;
const NANOSECONDS = 1e9;
const MANTISSA_END = 256;
const LAST_EXPONENT = 31;

/** Byte of the exponent; the mantissa follows. */
const PLACES: Readonly<Record<keyof ScenarioMeterRates, number>> = { cbs: 8, cir: 10, ebs: 16, eir: 18 };

/** The parameters of a meter. */
export function meterParameters(meter: ScenarioAsoMeter): Uint8Array {
  const { valid = true, bucket_overflow = false, both_buckets_on_green = false } = meter;
  const { start_color = "green", meter_mode = "l2_len" } = meter;
  const bytes = new Uint8Array(PARAMETERS_SIZE);
  bytes[0] =
    (valid ? 0x80 : 0) |
    (bucket_overflow ? 0x40 : 0) |
    (START_COLORS.indexOf(start_color) << 4) |
    (both_buckets_on_green ? 0x08 : 0) |
    METER_MODES.indexOf(meter_mode);
  const unit = meter_mode === "pkt" ? PACKET : 1;
  for (const name of Object.keys(PLACES) as (keyof ScenarioMeterRates)[]) {
    const { mantissa, exponent } = inDevice(name, meter[name] ?? 0, unit);
    const at = PLACES[name];
    [bytes[at], bytes[at + 1]] = [exponent, mantissa];
  }
  return bytes;
}

/** The meter that has these parameters. */
export function writtenMeter(parameters: Uint8Array): ScenarioAsoMeter {
  const first = parameters[0] as number;
  const rates = Object.entries(PLACES).map(([name, at]) => {
    return [name, { mantissa: parameters[at + 1] as number, exponent: (parameters[at] as number) & LAST_EXPONENT }];
  });
  return {
    ...((first & 0x80) === 0 ? { valid: false } : {}),
    ...((first & 0x40) === 0 ? {} : { bucket_overflow: true }),
    ...((first & 0x08) === 0 ? {} : { both_buckets_on_green: true }),
    start_color: START_COLORS[(first >> 4) & 3] as (typeof START_COLORS)[number],
    meter_mode: METER_MODES[first & 3] as (typeof METER_MODES)[number],
    ...(Object.fromEntries(rates) as ScenarioMeterRates),
  };
}

/** The members of a modification, as bits of `modify_field_select`. */
export function selected({ active, cbs, cir, ebs, eir }: ScenarioStep): bigint {
  const bits = [
    active === undefined ? 0 : SELECT_ACTIVE,
    cbs === undefined ? 0 : SELECT_CBS,
    cir === undefined ? 0 : SELECT_CIR,
    ebs === undefined ? 0 : SELECT_EBS,
    eir === undefined ? 0 : SELECT_EIR,
  ];
  return BigInt(bits.reduce((all, bit) => all | bit, 0));
}

interface DeviceNumber {
  readonly mantissa: number;
  readonly exponent: number;
}

function inDevice(name: keyof ScenarioMeterRates, value: ScenarioMeterNumber, unit: number): DeviceNumber {
  if (typeof value !== "number") return value;
  const units = value * unit;
  // Rates divide by the power of two, sizes multiply.
  return name === "cir" || name === "eir" ? nearest(units / NANOSECONDS, 0.5) : nearest(units, 2);
}

/** The mantissa and exponent nearest to a value; of two, the pair with the smaller exponent. */
function nearest(value: number, base: number): DeviceNumber {
  let best: DeviceNumber = { mantissa: 0, exponent: 0 };
  let distance = value;
  for (let exponent = 0; exponent <= LAST_EXPONENT; exponent++) {
    const mantissa = Math.min(Math.round(value / base ** exponent), MANTISSA_END - 1);
    const off = Math.abs(value - mantissa * base ** exponent);
    if (off < distance) [best, distance] = [{ mantissa, exponent }, off];
  }
  return best;
}
