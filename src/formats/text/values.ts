/** Words of a text that are values: numbers, addresses and flags, and other values in the same notation. */
import { VPORT_UPLINK } from "../../abi/engine.js";
import { formatIpv4, formatIpv6, formatMac, parseIpv4, parseIpv6, parseMac } from "../../packet/addresses.js";

export interface ValueWord {
  /** Where it begins in the text. */
  readonly at: number;
  readonly text: string;
}

const VALUE =
  /(?<![\w.-]|(?<!"):)(?:(?:[\da-f]{2}:){5}[\da-f]{2}|\d+(?:\.\d+){3}|(?!(?<=\w"):)[\da-f]{0,4}:[\da-f:.]+|0x[\da-f]+|\d+|(?:[+-][a-z]+)+)(?![\w.:])/gi;

/** The values of a text, in its order. */
export function valueWords(text: string): ValueWord[] {
  return [...text.matchAll(VALUE)]
    .map(({ index, 0: word }) => ({ at: index, text: word }))
    .filter(({ text: word }) => !word.includes(":") || parseMac(word) !== undefined || parseIpv6(word) !== undefined);
}

/** Whether the number of a function is that of the wire. */
export function isUplink(vport: number): boolean {
  return vport === VPORT_UPLINK;
}

/** Whether a word is an IPv4 address, or a mask like one. */
export function isDotted(word: string): boolean {
  return parseIpv4(word) !== undefined;
}

/** A number of 32 bits as an IPv4 address. */
export function dotted(value: bigint): string {
  return formatIpv4(value);
}

/** Other values in the same notation, each with another bit changed: of a value with a mask some bits do not count. */
export function* otherValues(text: string): Generator<string> {
  const mac = parseMac(text);
  const ipv4 = parseIpv4(text);
  const ipv6 = text.includes(":") ? parseIpv6(text) : undefined;
  if (/^[+-]/.test(text)) yield text.replace(/[+-](?=[a-z]+$)/, (sign) => (sign === "+" ? "-" : "+"));
  else if (mac !== undefined) yield* changed(mac, 48, formatMac);
  else if (ipv4 !== undefined) yield* changed(ipv4, 32, formatIpv4);
  else if (ipv6 !== undefined) yield* changed(ipv6, 128, formatIpv6);
  else yield* changed(BigInt(text), 16, (value) => inNotation(value, text));
}

/** Bits of a value that are changed, evenly apart. */
const CHANGED_BITS = 8;

function* changed(value: bigint, width: number, format: (value: bigint) => string): Generator<string> {
  for (let n = 0; n < CHANGED_BITS; n++) yield format(value ^ (1n << BigInt((n * width) / CHANGED_BITS)));
}

/** A number in the notation of another. */
export function inNotation(value: bigint, like: string): string {
  return /^0x/i.test(like) ? `0x${value.toString(16).padStart(like.length - 2, "0")}` : String(value);
}

/** Whether a value of a text is that of a match, in the notation of scenario files. */
export function isValue(word: string, value: string): boolean {
  const [words, values] = [word, value].map((one) => one.toLowerCase().split("/").map(numberOf)) as [Part[], Part[]];
  return words.length === values.length && words.every((part, n) => part === values[n]);
}

/** A value of a match as the text would write it in place of `word`. */
export function valueLike(word: string, value: string): string {
  const number = numberOf(value);
  // Fields of ARP are numbers of the device.
  if (typeof number === "bigint" && number < 2n ** 32n && parseIpv4(word) !== undefined) return formatIpv4(number);
  return typeof number === "bigint" && typeof numberOf(word) === "bigint" ? inNotation(number, word) : value;
}

type Part = bigint | string;

function numberOf(text: string): Part {
  return /^(?:\d+|0x[\da-f]+)$/i.test(text) ? BigInt(text) : text;
}
