// Reference of header changes: plain bytes, the headers found by the reference parser, and big
// integers. Written from docs/rules.md (Modify header), test/vectors/modify-fields.json and RFC
// 1624.

import { ethernetSize } from "../wire/link.js";
import { type Bits, type Modify, type ModifyField, modifyField } from "./modifyFields.js";
import { type HeaderSeen, type Level } from "../wire/packet.js";

/** Result of the parser. */
export interface Found {
  headers: readonly HeaderSeen[];
}

/** Metadata registers with a value; missing ones are 0. `written`: a rule has written it. */
export interface Registers {
  values: Map<string, bigint>;
  written: Set<string>;
}

export function noRegisters(): Registers {
  return { values: new Map(), written: new Set() };
}

/** Input of the actions of a list. */
interface State {
  bytes: Uint8Array;
  /** The headers at the start of the list. */
  first: Uint8Array;
  found: Found;
  registers: Registers;
}

/**
 * Runs a list of actions on a frame; each action sees the result of the one before. Returns new
 * bytes; changes registers in place.
 */
export function modifyHeader(
  bytes: Uint8Array,
  found: Found,
  list: readonly Modify[],
  registers: Registers,
): Uint8Array {
  return list.reduce((before, action) => {
    const after = before.slice();
    modify({ bytes: after, first: bytes, found, registers }, action);
    if (after.some((byte, i) => byte !== before[i])) mendChecksums(before, after, found.headers);
    return after;
  }, bytes);
}

function modify(state: State, action: Modify): void {
  const field = modifyField(action.field);
  const value = read(state, field);
  switch (action.type) {
    case "set":
      write(state, field, action.offset ?? 0, action.length || 32, BigInt(action.data >>> 0));
      break;
    case "add":
      if (value !== null) write(state, field, 0, field.width, value + BigInt(action.data >>> 0));
      break;
    case "copy": {
      if (value === null) return;
      const part = value >> BigInt(action.src_offset ?? 0);
      write(state, modifyField(action.to), action.dst_offset ?? 0, action.length || 32, part);
    }
  }
}

/** The value of a field; null if the frame does not have it. */
function read(state: State, field: ModifyField): bigint | null {
  const { bytes, registers } = state;
  if (field.register !== undefined) return registers.values.get(field.register) ?? 0n;
  const place = placeOf(state, field);
  return place && (number(bytes, place) >> BigInt(place.shift)) & ones(field.width);
}

/** Writes the low `length` bits of `data` into the field, starting at bit `offset`. */
function write(state: State, field: ModifyField, offset: number, length: number, data: bigint): void {
  const { bytes, registers } = state;
  if (offset + length > field.width) throw new Error(`${length} bits from ${offset} on are beyond ${field.width}`);
  const old = read(state, field);
  if (old === null) return;
  const mask = ones(length) << BigInt(offset);
  const value = (old & ~mask) | ((data << BigInt(offset)) & mask);
  if (field.register !== undefined) {
    registers.values.set(field.register, value);
    registers.written.add(field.register);
    return;
  }
  const place = placeOf(state, field) as Place;
  const shift = BigInt(place.shift);
  const whole = (number(bytes, place) & ~(ones(field.width) << shift)) | (value << shift);
  for (let i = 0; i < place.size; i++) {
    bytes[place.at + i] = Number((whole >> BigInt(8 * (place.size - 1 - i))) & 0xffn);
  }
}

interface Place extends Bits {
  /** Offset in the frame. */
  at: number;
}

const ones = (width: number): bigint => (1n << BigInt(width)) - 1n;

function number(bytes: Uint8Array, { at, size }: Place): bigint {
  return bytes.subarray(at, at + size).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function placeOf({ first, found }: State, { level, places }: ModifyField): Place | null {
  for (const [kind, bits] of places) {
    if (kind === "ethertype") {
      const at = etherTypeAt(first, found, level);
      return at === null ? null : { ...bits, at };
    }
    const header = found.headers.find((one) => one.kind === kind && one.level === level);
    if (header) return { ...bits, at: header.offset + bits.byte };
  }
  return null;
}

/** After the last complete tag, or at the end of the Ethernet header. */
function etherTypeAt(bytes: Uint8Array, { headers }: Found, level: Level): number | null {
  const ethernet = headers.find((one) => one.kind === "ethernet" && one.level === level);
  if (!ethernet) return null;
  const last = headers.filter((one) => one.kind === "vlan" && one.level === level).at(-1);
  return last ? last.offset + 2 : ethernet.offset + ethernetSize(bytes, ethernet.offset) - 2;
}

/**
 * Updates all checksums that cover changed bytes, innermost first, because an outer checksum covers
 * the inner ones. `before` and `after` have the same headers.
 */
function mendChecksums(before: Uint8Array, after: Uint8Array, headers: readonly HeaderSeen[]): void {
  for (const level of ["inner", "outer"] as const) {
    const of = headers.filter((one) => one.level === level);
    const ip = of.find(({ kind }) => kind === "ipv4" || kind === "ipv6");
    for (const { kind, offset } of of) {
      const covered = (bytes: Uint8Array): Uint8Array => bytes.subarray(offset);
      if (kind === "ipv4") {
        const length = ((before[offset] ?? 0) & 15) * 4;
        mend(before, after, offset + 10, (bytes) => bytes.subarray(offset, offset + length), false);
      }
      if (kind === "gre" && ((before[offset] ?? 0) & 0x80) !== 0) mend(before, after, offset + 4, covered, false);
      const checksum = offset + (UPPER.get(kind) ?? 0);
      // ICMPv6 has a pseudo header for IPv6 only (RFC 4443 section 2.3).
      if (!ip || !UPPER.has(kind) || (kind === "icmpv6" && ip.kind === "ipv4")) continue;
      const [start, end] = addresses(before, ip, of);
      const withPseudoHeader = (bytes: Uint8Array): Uint8Array => joined(bytes.subarray(start, end), covered(bytes));
      mend(before, after, checksum, withPseudoHeader, kind === "udp");
    }
  }
}

/** Concatenates the parts. */
export function joined(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Upper layers with a pseudo header, and the position of their checksum. */
const UPPER = new Map([
  ["tcp", 16],
  ["udp", 6],
  ["icmpv6", 2],
]);

/**
 * The addresses of an IP header that are in the pseudo header: while an IPv6 routing header has
 * segments left, its destination is not the final one (RFC 8200 section 8.1).
 */
function addresses(bytes: Uint8Array, ip: HeaderSeen, headers: readonly HeaderSeen[]): [start: number, end: number] {
  if (ip.kind === "ipv4") return [ip.offset + 12, ip.offset + 20];
  const routed = headers.some(({ kind, offset }) => kind === "ipv6_routing" && bytes[offset + 3] !== 0);
  return [ip.offset + 8, ip.offset + (routed ? 24 : 40)];
}

/** Updates the 16 bits at `at` for the changes in the bytes that they cover. */
function mend(
  before: Uint8Array,
  after: Uint8Array,
  at: number,
  covered: (bytes: Uint8Array) => Uint8Array,
  udp: boolean,
): void {
  const old = ((before[at] ?? 0) << 8) | (before[at + 1] ?? 0);
  // RFC 768: no checksum was computed.
  if (udp && old === 0) return;
  const now = byDifference(old, covered(before), covered(after)) || (udp ? 0xffff : 0);
  [after[at], after[at + 1]] = [now >> 8, now & 0xff];
}

/**
 * RFC 1624 section 3, equation 3: HC' = ~(~HC + ~m + m'), for each 16-bit word m that changed to
 * m'.
 */
export function byDifference(checksum: number, before: Uint8Array, after: Uint8Array): number {
  let sum = ~checksum & 0xffff;
  const word = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  for (let i = 0; i < before.length; i += 2) {
    const m = word(before, i);
    const now = word(after, i);
    if (m === now) continue;
    sum += (~m & 0xffff) + now;
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  }
  return ~sum & 0xffff;
}
