/** Frames as hexadecimal digits: plain, or as tcpdump, Wireshark, hexdump and Open vSwitch print them. */
import { describe } from "../../base/checks.js";
import { unhex } from "../../base/hex.js";
import { LINK_TYPES } from "../capture/linkTypes.js";

/** A frame of a text. */
export interface HexFrame {
  readonly bytes: Uint8Array;
  /** LINKTYPE_*: Ethernet, unless the bytes begin with an IP packet (`tcpdump -x`) or a Linux cooked header. */
  readonly linkType: number;
}

/** Why a text is none, at the first character that does not fit. */
export interface HexFault {
  /** The first line is 1. */
  readonly line: number;
  /** The first column is 1. */
  readonly column: number;
  readonly fault: string;
}

/** A line of a dump: its offset, and what follows. Plain digits have no offset. */
const LINE = /^(\s*)(?:0x)?([\da-f]{3,16})(?::\s*|\s+)(?=\S)/i;
/** What tools print above a dump. */
const HEADING =
  /^\s*(?:\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[ T]|IP6? |ARP,|Frame \d+|Packet \(|\d+ packets? |listening on |tcpdump: |reading from )/;
const MAX_LINE = 32;
/** hexdump and `od -x`: words of a little-endian machine, without a colon behind the offset. */
const WORDS = /^\s*[\da-f]{6,8}(?:\s+[\da-f]{4})+\s*$/i;

/**
 * The bytes of a frame that a text has as hexadecimal digits: pairs, with blanks, colons or 0x between them; `packet=DIGITS`
 * of Open vSwitch; or a dump with offsets, with or without characters beside it (`tcpdump -x`, `-xx`, `-X`, Wireshark,
 * hexdump, od, xxd, Open vSwitch).
 *
 *     const frame = readHex("0x0000:  4500 001c 0001 0000 4011 ...");
 *
 * @returns the frame, or where the text does not fit
 * @throws TypeError the text is not a string
 */
export function readHex(text: string): HexFrame | HexFault {
  if (typeof text !== "string") throw new TypeError(`readHex: text must be a string, not ${describe(text)}`);
  const dump = dumpLines(text);
  const read = dump === undefined ? readPlain(text) : readLines(text.split("\n"), dump);
  if (!(read instanceof Uint8Array)) return read;
  return { bytes: read, linkType: linkTypeOf(read, dump !== undefined) };
}

/** The number of the line with offset 0 if the text is a dump. */
function dumpLines(text: string): number | undefined {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "" && !HEADING.test(line));
  const line = lines[first] ?? "";
  const found = LINE.exec(line);
  if (found === null || !/^0+$/.test(found[2] ?? "")) return undefined;
  const hasColon = /:\s*$/.test(found[0]) && !/^[\da-f]{2}:/i.test(line.slice(found[0].length));
  // Without a colon, groups of another length than the offset, or a second offset below it.
  const [group = ""] = /^[\da-f]+/i.exec(line.slice(found[0].length)) ?? [];
  return hasColon || group.length < (found[2]?.length ?? 0) ? first : undefined;
}

/** A dump with offsets in hexadecimal digits, or in seven octal ones, as od prints them, with the length at the end. */
function readLines(lines: readonly string[], first: number): Uint8Array | HexFault {
  const read = readDump(lines, first, 16);
  if (read instanceof Uint8Array) return read;
  const isOctal = /^[0-7]{7}\s*$/.test(lines.findLast((line) => line.trim() !== "") ?? "");
  const octal = isOctal ? readDump(lines, first, 8) : read;
  return octal instanceof Uint8Array ? octal : read;
}

function readDump(lines: readonly string[], first: number, radix: 8 | 16): Uint8Array | HexFault {
  const hasWords = WORDS.test(lines[first]?.replace(/\r$/, "") ?? "");
  const digits: string[] = [];
  let length = 0;
  for (let n = first; n < lines.length; n++) {
    const line = (lines[n] as string).replace(/\r$/, "");
    const at = (column: number, fault: string): HexFault => ({ line: n + 1, column: column + 1, fault });
    if (line.trim() === "") continue;
    if (length > 0 && HEADING.test(line)) return at(line.search(/\S/), ANOTHER);
    const found = LINE.exec(line) ?? /^(\s*)(?:0x)?([\da-f]{3,16}):?\s*$/i.exec(line);
    if (found === null)
      return at(line.search(/\S/), "a line of the dump begins with its offset, in hexadecimal digits");
    const [head, blanks = "", offset = ""] = found;
    const place = Number.parseInt(offset, radix);
    // The last word of an odd number of bytes has a zero in front.
    if (hasWords && place === length - 1 && head.length === line.length) return swapped(digits).subarray(0, place);
    if (place !== length) {
      const again = /^0+$/.test(offset) && length > 0;
      const fault = again ? ANOTHER : `the offset is ${offset}, and the lines before it have ${length} bytes`;
      return at(blanks.length, fault);
    }
    const read = readBytes(line, head.length, lines.slice(n + 1), hasWords ? undefined : radix);
    if ("fault" in read) return at(read.column, read.fault);
    digits.push(read.digits);
    length += read.digits.length / 2;
  }
  return hasWords ? swapped(digits) : unhex(digits.join(""));
}

const ANOTHER = "another frame begins here: one at a time";

/** The bytes of little-endian words. */
function swapped(digits: readonly string[]): Uint8Array {
  return unhex(digits.join("").replace(/(..)(..)/g, "$2$1"));
}

type LineBytes = { readonly digits: string } | { readonly column: number; readonly fault: string };

/**
 * The bytes of a line: groups of digits up to the characters that stand beside them.
 * @param radix of the offsets; undefined where the last one need not be the number of bytes
 */
function readBytes(line: string, from: number, rest: readonly string[], radix: number | undefined): LineBytes {
  // How many bytes the line has, as the next offset says.
  const next = radix === undefined ? undefined : rest.find((one) => one.trim() !== "");
  const [own, following] = [line, next ?? ""].map((one) => Number.parseInt(LINE.exec(one)?.[2] ?? "", radix));
  const step = (following ?? NaN) - (own ?? NaN);
  const most = step > 0 && step <= MAX_LINE ? step : 16;
  let digits = "";
  let at = from;
  while (at < line.length && digits.length < 2 * most) {
    const [blank = ""] = /^[\s-]*/.exec(line.slice(at)) ?? [];
    // Two blanks stand before the characters, and in the middle of lines of hexdump.
    if (digits !== "" && /\s{2}/.test(blank) && !(blank.length === 2 && digits.length === 16 && isGroup(line, at + 2)))
      break;
    at += blank.length;
    if (at >= line.length || line[at] === "|") break;
    const [group = ""] = /^[\da-f]+(?![^\s|-])/i.exec(line.slice(at)) ?? [];
    if (group === "" || group.length % 2 !== 0) {
      const word = /^\S+/.exec(line.slice(at))?.[0] ?? "";
      const wrong = word.search(/[^\da-f]/i);
      if (wrong < 0) return { column: at, fault: `odd number of digits (${word.length}); a byte has two` };
      return { column: at + wrong, fault: `"${word[wrong]}" is not a hexadecimal digit` };
    }
    digits += group;
    at += group.length;
  }
  if (digits.length > 2 * most) return { column: at, fault: `a line of the dump has ${most} bytes` };
  if (step > 0 && digits.length / 2 < step)
    return { column: at, fault: `the line has ${digits.length / 2} bytes, and the next offset is ${step} further` };
  return { digits };
}

/** Whether pairs of digits go on after the middle of a line. */
function isGroup(line: string, at: number): boolean {
  return /^[\da-f]{2}(?:\s[\da-f]{2}){0,7}(?:\s|$)/i.test(line.slice(at));
}

function readPlain(text: string): Uint8Array | HexFault {
  const start = /^(?:[^]*[\s,"'])?packet=(?=[\da-f])/i.exec(text)?.[0].length ?? 0;
  const end = start === 0 ? text.length : start + (/^[\da-f]+/i.exec(text.slice(start))?.[0].length ?? 0);
  let digits = "";
  let at = start + (/^\s*0x/i.exec(text.slice(start))?.[0].length ?? 0);
  for (; at < end; at++) {
    const char = text[at] as string;
    if (/[\da-f]/i.test(char)) digits += char;
    else if (!/[\s:]/.test(char)) return { ...placeOf(text, at), fault: `"${char}" is not a hexadecimal digit` };
  }
  if (digits.length % 2 === 0) return unhex(digits);
  return { ...placeOf(text, end), fault: `odd number of digits (${digits.length}); a byte has two` };
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

const IPV4 = 0x0800;
const IPV6 = 0x86dd;
const ARP = 0x0806;
const ADDRESS_END = 6;

/** Where the bytes begin: a Linux cooked header, or an IP packet, which is whole; only a dump may have padding behind it. */
function linkTypeOf(bytes: Uint8Array, isDump: boolean): number {
  if (isCooked(bytes)) return LINK_TYPES.LINUX_SLL;
  if (isCooked2(bytes)) return LINK_TYPES.LINUX_SLL2;
  const isEthernet = !isDump && (ipLength(bytes) !== bytes.length || carries(bytes, wordAt(bytes, 12), 14));
  return !isEthernet && isIpPacket(bytes) ? LINK_TYPES.RAW : LINK_TYPES.ETHERNET;
}

const wordAt = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);

/** Packet type, ARPHRD, length of the address, eight bytes for it, protocol: in Ethernet its end would be the type 0. */
function isCooked(bytes: Uint8Array): boolean {
  if (bytes.length < 16 || wordAt(bytes, 0) > 4 || ![0, ADDRESS_END].includes(wordAt(bytes, 4))) return false;
  return wordAt(bytes, 12) === 0 && carries(bytes, wordAt(bytes, 14), 16);
}

/** Protocol, zeros, interface, ARPHRD, packet type, length of the address, eight bytes for it. */
function isCooked2(bytes: Uint8Array): boolean {
  if (bytes.length < 20 || wordAt(bytes, 2) !== 0 || (bytes[10] ?? 0) > 4) return false;
  return [0, ADDRESS_END].includes(bytes[11] ?? 0) && wordAt(bytes, 18) === 0 && carries(bytes, wordAt(bytes, 0), 20);
}

/** Whether what a protocol announces stands at a byte. */
function carries(bytes: Uint8Array, protocol: number, at: number): boolean {
  const version = (bytes[at] ?? 0) >> 4;
  return (protocol === IPV4 && version === 4) || (protocol === IPV6 && version === 6) || protocol === ARP;
}

/** How long an IP packet says that it is. */
function ipLength(bytes: Uint8Array): number {
  return (bytes[0] ?? 0) >> 4 === 6 ? wordAt(bytes, 4) + 40 : wordAt(bytes, 2);
}

/** Whether the bytes are an IP packet of their own length, which Ethernet may have padded. */
function isIpPacket(bytes: Uint8Array): boolean {
  const [first = 0] = bytes;
  if (first >> 4 === 6) return bytes.length >= 40 && wordAt(bytes, 4) + 40 <= bytes.length;
  const length = 4 * (first & 15);
  if (first >> 4 !== 4 || length < 20 || bytes.length < length || wordAt(bytes, 2) < length) return false;
  let sum = 0;
  for (let at = 0; at < length; at += 2) sum += wordAt(bytes, at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum === 0xffff;
}
