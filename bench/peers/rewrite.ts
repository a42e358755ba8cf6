/**
 * Header changes in plain JavaScript: incremental checksum updates (RFC 1624) and encapsulation. A
 * change also updates the record of the parser, so that no frame is parsed again.
 */
import { Header } from "../../src/abi/headers.js";
import { be16, be32 } from "./cursor.js";
import * as at from "./record.js";

/** Checksums that cover a field. */
export const COVER_IP = 1;
export const COVER_L4 = 2;

/** A number of 1, 2 or 4 bytes in a header, aligned as the header's checksum reads it, is set or added to. */
export interface PlainChange {
  header: Header;
  offset: number;
  size: 1 | 2 | 4;
  add: boolean;
  value: number;
  /** Word of the record that has the field in its low bits. */
  word: number;
  /** COVER_* bits. */
  covered: number;
}

/** Where the headers of a frame are; -1: it has none. */
export class Places {
  ethernet = -1;
  ip = -1;
  tcp = -1;
  udp = -1;

  /** From the list of headers of a frame at `frame`. */
  find(lists: Int32Array, list: number, frame: number): void {
    this.ethernet = this.ip = this.tcp = this.udp = -1;
    const end = list + at.LIST_FIRST + 2 * lists[list]!;
    for (let entry = list + at.LIST_FIRST; entry < end; entry += 2) {
      const offset = frame + lists[entry + 1]!;
      const kind = lists[entry]!;
      if (kind === Header.ethernet) this.ethernet = offset;
      else if (kind === Header.ipv4) this.ip = offset;
      else if (kind === Header.tcp) this.tcp = offset;
      else if (kind === Header.udp) this.udp = offset;
    }
  }

  of(header: Header): number {
    if (header === Header.ethernet) return this.ethernet;
    if (header === Header.ipv4) return this.ip;
    return header === Header.tcp ? this.tcp : this.udp;
  }
}

/** Makes the changes in order, and updates the checksums once. */
export function change(
  bytes: Uint8Array,
  places: Places,
  changes: readonly PlainChange[],
  fields: Int32Array,
  record: number,
): void {
  let ip = 0;
  let l4 = 0;
  for (let i = 0; i < changes.length; i++) {
    const { header, offset, size, add, value, word, covered } = changes[i]!;
    const start = places.of(header);
    if (start < 0) continue;
    const place = start + offset;
    let difference: number;
    if (size === 4) {
      const old = be32(bytes, place);
      const now = add ? (old + value) | 0 : value;
      put16(bytes, place, now >>> 16);
      put16(bytes, place + 2, now);
      fields[record + word] = now;
      difference = 0x1fffe - (old >>> 16) - (old & 0xffff) + (now >>> 16) + (now & 0xffff);
    } else if (size === 2) {
      const old = be16(bytes, place);
      const now = (add ? old + value : value) & 0xffff;
      put16(bytes, place, now);
      fields[record + word] = (fields[record + word]! & ~0xffff) | now;
      difference = 0xffff - old + now;
    } else {
      const old = bytes[place]!;
      const now = (add ? old + value : value) & 0xff;
      bytes[place] = now;
      fields[record + word] = (fields[record + word]! & ~0xff) | now;
      difference = 0xffff + ((now - old) << (offset & 1 ? 0 : 8));
    }
    if (covered & COVER_IP) ip += difference;
    if (covered & COVER_L4) l4 += difference;
  }
  if (ip !== 0) mend(bytes, places.ip + 10, ip);
  if (l4 === 0) return;
  if (places.tcp >= 0) mend(bytes, places.tcp + 16, l4);
  else if (places.udp >= 0 && be16(bytes, places.udp + 6) !== 0) {
    mend(bytes, places.udp + 6, l4);
    if (be16(bytes, places.udp + 6) === 0) put16(bytes, places.udp + 6, 0xffff);
  }
}

function mend(bytes: Uint8Array, place: number, difference: number): void {
  put16(bytes, place, ~folded((~be16(bytes, place) & 0xffff) + difference));
}

function folded(sum: number): number {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum;
}

function put16(bytes: Uint8Array, place: number, value: number): void {
  bytes[place] = value >>> 8;
  bytes[place + 1] = value;
}

const ETHERNET = 14;
const IPV4 = 20;

/** Ethernet, IPv4, UDP and a tunnel header, which are prepended to frames. */
export class PlainTunnel {
  readonly #data: Uint8Array;
  /** The sum of the IPv4 header without what each frame has its own of. */
  readonly #sum: number;

  /** The checksum and the lengths in `data` are 0. */
  constructor(data: Uint8Array) {
    this.#data = data;
    let sum = 0;
    for (let i = ETHERNET; i < ETHERNET + IPV4; i += 2) sum += be16(data, i);
    this.#sum = sum;
  }

  get length(): number {
    return this.#data.length;
  }

  /** In front of the frame at `start`, which goes to `end`. The headers of the frame inside say which flow it is of. */
  put(bytes: Uint8Array, start: number, end: number, inside: Places): void {
    const front = start - this.#data.length;
    bytes.set(this.#data, front);
    const ip = front + ETHERNET;
    const udp = ip + IPV4;
    put16(bytes, ip + 2, end - ip);
    put16(bytes, ip + 10, ~folded(this.#sum + end - ip));
    put16(bytes, udp, entropy(bytes, start, inside));
    put16(bytes, udp + 4, end - udp);
  }
}

/** FNV-1a over addresses, protocol and ports, in 14 bits (docs/rules.md, Packet reformat). */
function entropy(bytes: Uint8Array, start: number, { ip, tcp, udp }: Places): number {
  let hash = 0x811c9dc5;
  if (ip < 0) hash = fnv(hash, bytes, start, 12);
  else {
    hash = fnv(hash, bytes, ip + 12, 8);
    hash = fnv(hash, bytes, ip + 9, 1);
    const ports = tcp >= 0 ? tcp : udp;
    if (ports >= 0) hash = fnv(hash, bytes, ports, 4);
  }
  return 0xc000 | ((hash ^ (hash >>> 14) ^ (hash >>> 28)) & 0x3fff);
}

function fnv(hash: number, bytes: Uint8Array, offset: number, length: number): number {
  for (let i = offset; i < offset + length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash;
}
