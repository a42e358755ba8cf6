// Random meters, and arrival times of their frames.

import { type MeterParameters, type Mode, type Scaled, UNDEFINED } from "../act/meter.js";
import { type Random } from "./random.js";

/** Sizes from 0 to 2^39, mostly of a few frames. */
function randomSize(random: Random): Scaled {
  const roll = random.below(10);
  if (roll === 0) return { mantissa: 0, exponent: random.below(32) };
  if (roll === 1) return { mantissa: random.below(256), exponent: random.below(32) };
  if (roll === 2) return { mantissa: 255, exponent: 31 };
  // Wire lengths of frames cut by a capture, up to the maximum of 32 bits.
  if (roll === 3) return { mantissa: random.between(1, 255), exponent: random.between(22, 26) };
  return { mantissa: random.between(1, 255), exponent: random.between(0, 5) };
}

/** Rates from 0 to 255 units per nanosecond, mostly below one. */
function randomRate(random: Random): Scaled {
  const roll = random.below(8);
  if (roll < 2) return { mantissa: 0, exponent: random.below(32) };
  if (roll === 2) return { mantissa: random.pick([1, 255]), exponent: random.pick([0, 31]) };
  return { mantissa: random.between(1, 255), exponent: random.between(2, 28) };
}

/** Random meters, and the meters of the RFCs. */
export function randomMeter(random: Random): MeterParameters {
  const flags = random.pick([
    { overflow: random.chance(0.5), both: random.chance(0.5) },
    { overflow: true, both: false, eir: { mantissa: 0, exponent: 0 } }, // RFC 2697
    { overflow: false, both: true }, // RFC 2698
    { overflow: random.chance(0.5), both: false }, // RFC 4115
  ]);
  return {
    valid: random.chance(0.95),
    start: random.pick([0, 1, 2, 2, 2, UNDEFINED, UNDEFINED]),
    mode: random.below(4) as Mode,
    cbs: randomSize(random),
    cir: randomRate(random),
    ebs: randomSize(random),
    eir: randomRate(random),
    ...flags,
  };
}

/** A random wire length of a cut frame, often close to the maximum. */
export function longLength(random: Random): number {
  return random.chance(0.3) ? 2 ** 32 - random.between(1, 40) : random.between(2 ** 20, 2 ** 32 - 1);
}

const LATEST = 2n ** 64n - 1n;

/**
 * The next time: the same, a little later, later by the refill time of a few frames, much later, or
 * earlier.
 */
export function nextTime(random: Random, time: bigint, rates: readonly Scaled[]): bigint {
  const later = (by: bigint): bigint => (time + by > LATEST ? LATEST : time + by);
  const roll = random.below(20);
  if (roll < 6) return time;
  if (roll < 9) return later(BigInt(random.below(50)));
  if (roll < 16) {
    const { mantissa, exponent } = rates.length > 0 ? random.pick(rates) : { mantissa: 1, exponent: 0 };
    return later((BigInt(random.below(1000)) << BigInt(exponent)) / BigInt(mantissa || 1));
  }
  if (roll < 18) return later(random.bits(random.between(1, 40)));
  if (roll === 18) return random.chance(0.1) ? later(random.bits(random.between(50, 64))) : later(random.bits(20));
  return time - (random.bits(random.between(1, 40)) % (time + 1n));
}
