/** Parses and formats MAC, IPv4 and IPv6 addresses as text. */
import { bytesOf } from "./bytes.js";

const ZERO = 0x30;
const NINE = 0x39;
const DOT = 0x2e;
const DASH = 0x2d;
const COLON = 0x3a;

/** Parses "66:11:22:33:44:55", or the same with "-". @returns undefined for other text */
export function parseMac(text: string): bigint | undefined {
  if (!/^[0-9a-f]{1,2}([:-][0-9a-f]{1,2}){5}$/i.test(text)) return undefined;
  // 48 bits, which a double holds.
  let value = 0;
  let byte = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === COLON || code === DASH) {
      value = value * 256 + byte;
      byte = 0;
    } else byte = byte * 16 + (code <= NINE ? code - ZERO : (code & 0x1f) + 9);
  }
  return BigInt(value * 256 + byte);
}

/** Parses "11.134.200.6". @returns undefined for other text */
export function parseIpv4(text: string): bigint | undefined {
  const value = ipv4Number(text);
  return value === undefined ? undefined : BigInt(value);
}

/** As `parseIpv4`: four numbers of one to three digits. */
function ipv4Number(text: string): number | undefined {
  let value = 0;
  let byte = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= ZERO && code <= NINE && digits < 3) {
      byte = byte * 10 + code - ZERO;
      digits++;
    } else if (code === DOT && digits > 0 && byte < 256 && dots < 3) {
      value = value * 256 + byte;
      byte = 0;
      digits = 0;
      dots++;
    } else return undefined;
  }
  return dots === 3 && digits > 0 && byte < 256 ? value * 256 + byte : undefined;
}

/** Parses "fe80::1" and the other forms of RFC 4291 section 2.2. @returns undefined for other text */
export function parseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const words = wordsOf(halves[0] as string);
  const tail = wordsOf(halves[1] ?? "");
  if (words === undefined || tail === undefined) return undefined;
  const missing = 8 - words.length - tail.length;
  // "::" stands for at least one group.
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  for (let i = 0; i < missing; i++) words.push(0);
  words.push(...tail);
  let value = 0n;
  for (let i = 0; i < 8; i += 2) {
    value = (value << 32n) | BigInt((words[i] as number) * 0x10000 + (words[i + 1] as number));
  }
  return value;
}

function wordsOf(text: string): number[] | undefined {
  const words: number[] = [];
  if (text === "") return words;
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    const ipv4 = i === parts.length - 1 ? ipv4Number(part) : undefined;
    if (ipv4 !== undefined) words.push(ipv4 >>> 16, ipv4 & 0xffff);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) words.push(Number.parseInt(part, 16));
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
