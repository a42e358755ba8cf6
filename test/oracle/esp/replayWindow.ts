// The second opinion on sequence numbers of ESP: which frame has which number (RFC 4303, appendix A.2), and which numbers were
// seen, as a set. Written from docs/esp.md.

export interface Numbers {
  /** The highest that was authenticated; before the first the lowest that is welcome. */
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
 * The whole number of a frame, of which it carries the lower half (RFC 4303, A.2.1, cases A and B). Below 0 there is none;
 * behind 2^64 they would begin anew.
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
  if (number - highest > HALF) return "esp_jump";
  return number < floor || number + size <= highest || seen.has(number) ? "esp_replay" : null;
}

/** The number was authenticated. */
export function noteNumber(numbers: Numbers, number: bigint): void {
  if (number > numbers.highest) numbers.highest = number;
  if (numbers.size === null) return;
  numbers.seen.add(number);
}

/**
 * Another size: what the old window knew stays, older numbers count as seen. Where there was none, nothing is known of the
 * numbers of frames that were `authenticated`.
 */
export function resize(numbers: Numbers, size: number | null, authenticated: bigint): void {
  const { highest } = numbers;
  const unknown = authenticated > 0n ? highest + 1n : highest;
  const left = numbers.size === null ? unknown : highest - numbers.size + 1n;
  if (left > numbers.floor) numbers.floor = left;
  numbers.size = size === null ? null : BigInt(size);
}
