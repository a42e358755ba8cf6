// Reference of ESP sequence numbers: the full number of a frame (RFC 4303, appendix A.2), and a set
// of the numbers seen. Written from docs/esp.md.

export interface Numbers {
  /** The highest authenticated number; before the first frame, the lowest acceptable one. */
  highest: bigint;
  /** Lower ones count as seen. */
  floor: bigint;
  seen: Set<bigint>;
  /** null: numbers are not checked. */
  size: bigint | null;
}

const HALF = 1n << 31n;
const LOW = 1n << 32n;

export function numbersFrom(first: bigint, size: number | null): Numbers {
  return { highest: first, floor: first, seen: new Set(), size: size === null ? null : BigInt(size) };
}

/**
 * The full number of a frame that carries its lower half (RFC 4303, A.2.1, cases A and B). There is
 * none below 0; after 2^64 the numbers would start again.
 */
export function wholeNumber({ highest, size }: Numbers, low: number, esn: boolean): bigint {
  const carried = BigInt(low);
  if (!esn) return carried;
  const window = size ?? HALF;
  const [th, tl] = [highest / LOW, highest % LOW];
  const bottom = (tl - window + 1n + LOW) % LOW;
  let upper = th;
  if (tl >= window - 1n && carried < bottom) upper = th + 1n;
  if (tl < window - 1n && carried >= bottom) upper = th - 1n;
  return (upper === LOW ? 0n : upper) * LOW + carried;
}

export type Refused = "esp_replay" | "esp_jump";

export function refusedNumber({ highest, floor, seen, size }: Numbers, number: bigint): Refused | null {
  if (number < 0n) return "esp_replay";
  if (size === null) return null;
  // Too far ahead in the next upper half: the frame is as well one left of the window, with the same.
  if (number - highest > HALF) return number / LOW > highest / LOW ? "esp_replay" : "esp_jump";
  return number < floor || number + size <= highest || seen.has(number) ? "esp_replay" : null;
}

/** Marks the number as authenticated. */
export function noteNumber(numbers: Numbers, number: bigint): void {
  if (number > numbers.highest) numbers.highest = number;
  if (numbers.size === null) return;
  numbers.seen.add(number);
}

/**
 * Changes the size: numbers known to the old window stay known, older ones count as seen. Without
 * an old window, nothing is known about the numbers of the frames that were `authenticated`.
 */
export function resize(numbers: Numbers, size: number | null, authenticated: bigint): void {
  const { highest } = numbers;
  const unknown = authenticated > 0n ? highest + 1n : highest;
  const left = numbers.size === null ? unknown : highest - numbers.size + 1n;
  if (left > numbers.floor) numbers.floor = left;
  numbers.size = size === null ? null : BigInt(size);
}
