/** Times in capture files. */

const LAST = 2n ** 64n - 1n;

/** The time, or the nearest one that a file can hold; null stays. */
export function inFile(time: bigint | null): bigint | null {
  if (time === null) return null;
  return time < 0n ? 0n : time > LAST ? LAST : time;
}
