/** When the frames of a witness come in, where frames of others came before. */
import type { Witness } from "./answer.js";

/** Nanoseconds between the last frame of others and the first one of a witness: meters are full again. */
export const WITNESS_PAUSE = 10_000_000_000n;
/** Nanoseconds between frames that have no time. */
const STEP = 1000n;

/**
 * The times of the frames of a witness, in nanoseconds of the device's clock.
 * @param start when the first of them comes in: `WITNESS_PAUSE` after the last frame of others
 * @returns a time for each frame of `before`, and at last that of the witness itself
 */
export function witnessTimes({ before, time }: Witness, start: bigint): bigint[] {
  let now = start;
  return [...before.map((one) => one.time), time].map((given, i) => {
    now = given === undefined ? now + (i === 0 ? 0n : STEP) : start + BigInt(given);
    return now;
  });
}
