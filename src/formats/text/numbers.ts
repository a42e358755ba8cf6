/** Numbers and addresses of a text; what is none is refused with what stands there, and what could. */
import { ones } from "../../base/bits.js";
import { integerOf } from "../../base/integer.js";
import { parseIpv4, parseIpv6, parseMac } from "../../packet/addresses.js";
import { notImported, type Word } from "./refusal.js";

/** A number, decimal or hexadecimal after `0x`, of at most `bits` bits. @throws NotImported */
export function numberOf(word: Word, what: string, bits = 32): number {
  return Number(bigOf(word, what, bits));
}

/** The same with every bit of a wide number. @throws NotImported */
export function bigOf(word: Word, what: string, bits: number): bigint {
  const value = integerOf(word.text) ?? notImported(word, `${what} is a number, not ${quoted(word.text)}`);
  if (value >> BigInt(bits) !== 0n) notImported(word, `${what} has ${bits} bits: 0 to ${ones(bits)}`);
  return value;
}

/** An address as a number, of the kind of a match field. @throws NotImported */
export function addressOf(word: Word, kind: "mac" | "ipv4" | "ipv6"): bigint {
  const value = { mac: parseMac, ipv4: parseIpv4, ipv6: parseIpv6 }[kind](word.text);
  return value ?? notImported(word, `${quoted(word.text)} is not ${NAMES[kind]}`);
}

const NAMES = { mac: "a MAC address", ipv4: "an IPv4 address", ipv6: "an IPv6 address" };

/** A word as a refusal shows it: a variable of the text that has no value, with what gives it one. */
export function quoted(text: string): string {
  const name = /^\$\{?(\w+)/.exec(text)?.[1];
  return name === undefined ? `"${text}"` : `${text}, a variable that the text does not set (--set ${name}=... does)`;
}

/** The mask of a prefix. */
export function prefixMask(length: number, width: number): bigint {
  return ones(length) << BigInt(width - length);
}
