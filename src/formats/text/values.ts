/** Words of a text that are values: numbers and addresses, and other values in the same notation. */
import { formatIpv4, formatIpv6, formatMac, parseIpv4, parseIpv6, parseMac } from "../../packet/addresses.js";

export interface ValueWord {
  /** Where it begins in the text. */
  readonly at: number;
  readonly text: string;
}

const VALUE =
  /(?<![\w.:-])(?:(?:[\da-f]{2}:){5}[\da-f]{2}|\d+(?:\.\d+){3}|[\da-f]{0,4}:[\da-f:.]+|0x[\da-f]+|\d+)(?![\w.:])/gi;

/** The values of a text, in its order. */
export function valueWords(text: string): ValueWord[] {
  return [...text.matchAll(VALUE)]
    .map(({ index, 0: word }) => ({ at: index, text: word }))
    .filter(({ text: word }) => !word.includes(":") || parseMac(word) !== undefined || parseIpv6(word) !== undefined);
}

/**
 * Another value in the same notation.
 * @param after what follows the value: a prefix says which bits count
 */
export function otherValue(text: string, after: string): string {
  const prefix = Number(/^\/(\d{1,3})(?![\d.x])/.exec(after)?.[1] ?? Number.NaN);
  const flipped = (value: bigint, width: number): bigint => {
    const bit = prefix > 0 && prefix <= width ? width - prefix : 0;
    return value ^ (1n << BigInt(bit));
  };
  const mac = parseMac(text);
  if (mac !== undefined) return formatMac(flipped(mac, 48));
  const ipv4 = parseIpv4(text);
  if (ipv4 !== undefined) return formatIpv4(flipped(ipv4, 32));
  const ipv6 = text.includes(":") ? parseIpv6(text) : undefined;
  if (ipv6 !== undefined) return formatIpv6(flipped(ipv6, 128));
  return inNotation(BigInt(text) ^ 1n, text);
}

/** A number in the notation of another. */
export function inNotation(value: bigint, like: string): string {
  return /^0x/i.test(like) ? `0x${value.toString(16).padStart(like.length - 2, "0")}` : String(value);
}

/** Whether a value of a text is that of a match, in the notation of scenario files. */
export function isValue(word: string, value: string): boolean {
  return word.toLowerCase() === value.toLowerCase() || numberOf(word) === numberOf(value);
}

/** A value of a match as the text would write it in place of `word`. */
export function valueLike(word: string, value: string): string {
  const number = numberOf(value);
  return typeof number === "bigint" && typeof numberOf(word) === "bigint" ? inNotation(number, word) : value;
}

function numberOf(text: string): bigint | string {
  return /^(?:\d+|0x[\da-f]+)$/i.test(text) ? BigInt(text) : text;
}
