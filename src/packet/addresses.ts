/** Parses and formats MAC, IPv4 and IPv6 addresses as text. */
import { bytesOf } from "./bytes.js";

/** Parses "66:11:22:33:44:55", or the same with "-". @returns undefined for other text */
export function parseMac(text: string): bigint | undefined {
  if (!/^[0-9a-f]{1,2}([:-][0-9a-f]{1,2}){5}$/i.test(text)) return undefined;
  return text.split(/[:-]/).reduce((value, byte) => (value << 8n) | BigInt(`0x${byte}`), 0n);
}

/** Parses "11.134.200.6". @returns undefined for other text */
export function parseIpv4(text: string): bigint | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined;
  let value = 0n;
  for (const part of text.split(".")) {
    if (Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

/** Parses "fe80::1" and the other forms of RFC 4291 section 2.2. @returns undefined for other text */
export function parseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const words = halves.map(wordsOf);
  const [head, tail] = words;
  if (head === undefined || words.includes(undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  // "::" stands for at least one group.
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...head, ...Array.from({ length: missing }, () => 0n), ...(tail ?? [])];
  return all.reduce((value, word) => (value << 16n) | word, 0n);
}

function wordsOf(text: string): bigint[] | undefined {
  if (text === "") return [];
  const words: bigint[] = [];
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    const ipv4 = i === parts.length - 1 ? parseIpv4(part) : undefined;
    if (ipv4 !== undefined) words.push(ipv4 >> 16n, ipv4 & 0xffffn);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) words.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return words;
}

export function formatMac(value: bigint): string {
  return macText(bytesOf(value, 6));
}

export function formatIpv4(value: bigint): string {
  return ipv4Text(bytesOf(value, 4));
}

export function formatIpv6(value: bigint): string {
  return ipv6Text(bytesOf(value, 16));
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The text of six bytes. */
export function macText(bytes: Uint8Array): string {
  let text = HEX[bytes[0] ?? 0] ?? "";
  for (let i = 1; i < 6; i++) text += `:${HEX[bytes[i] ?? 0]}`;
  return text;
}

/** The text of four bytes. */
export function ipv4Text(bytes: Uint8Array): string {
  return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
}

/** The text of sixteen bytes in the form of RFC 5952: the longest run of zero groups, of two at least, as "::". */
export function ipv6Text(bytes: Uint8Array): string {
  const words = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  let best = { at: -1, length: 1 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (at + length < 8 && words[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
  }
  const hex = (list: number[]): string => list.map((word) => word.toString(16)).join(":");
  if (best.at < 0) return hex(words);
  return `${hex(words.slice(0, best.at))}::${hex(words.slice(best.at + best.length))}`;
}
