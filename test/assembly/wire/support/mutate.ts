/** Broken frames made from whole ones. */
import { Header } from "../../../../src/abi/headers.js";
import type { Random } from "../../../oracle/generate/frame.js";
import type { TestFrame } from "../../support/core.js";

/** A header of the frame that is to be broken, as the parser found it. */
export interface FoundHeader {
  kind: number;
  level: number;
  offset: number;
}

/** Bytes of a frame. */
export interface Place {
  at: number;
  size: number;
}

/** The fields that steer the parser, each as "offset bytes": lengths first of all, then types and versions. */
const STEERING: ReadonlyMap<number, readonly string[]> = new Map<number, string[]>([
  [Header.ethernet, ["12 2"]],
  [Header.vlan, ["2 2"]],
  [Header.loopback, ["0 4"]],
  [Header.linux_cooked, ["14 2"]],
  [Header.linux_cooked_v2, ["0 2"]],
  [Header.arp, ["4 1", "5 1"]],
  [Header.ipv4, ["0 1", "2 2", "6 2", "9 1", "20 4"]],
  [Header.ipv6, ["0 1", "4 2", "6 1"]],
  [Header.ipv6_hop_by_hop, ["0 1", "1 1", "2 2", "4 4"]],
  [Header.ipv6_routing, ["0 1", "1 1", "3 1"]],
  [Header.ipv6_destination, ["0 1", "1 1"]],
  [Header.ipv6_fragment, ["0 1", "2 2"]],
  [Header.ah, ["0 1", "1 1"]],
  [Header.tcp, ["12 1"]],
  [Header.udp, ["0 2", "2 2", "4 2", "6 2"]],
  // Flags, version and type, then a key or the first source route entry.
  [Header.gre, ["0 2", "0 2", "1 1", "2 2", "8 4", "11 1"]],
  [Header.vxlan_gpe, ["3 1"]],
  // Option length, type, then the first option's name and length.
  [Header.geneve, ["0 1", "2 2", "8 4", "11 1"]],
  [Header.gtpu, ["0 1", "1 1", "11 1"]],
  [Header.gtpu_extension, ["0 1", "3 1"]],
  [Header.mpls, ["2 1", "4 1"]],
  [Header.esp, ["0 4"]],
  [Header.macsec, ["0 1"]],
  [Header.nsh, ["1 1"]],
]);

/** Lengths at their ends, and the numbers that lead to other headers. */
const EXTREMES = [
  0, 1, 4, 5, 7, 8, 15, 20, 40, 0x3f, 0x40, 0x44, 0x45, 0x4f, 0x50, 0x60, 0x7f, 0x80, 0xc204, 0xff, 0x7fff, 0x8000,
  0xfff8, 0xffff, 0x10000, 0x7fffffff, 0xfffffff0, 0xffffffff,
];
const TYPES = [
  ...[0, 1, 4, 6, 17, 41, 43, 44, 47, 50, 51, 58, 60, 132, 255],
  ...[2152, 4500, 4789, 4790, 4791, 6081, 6635],
  ...[0x0800, 0x0806, 0x6558, 0x86dd, 0x8100, 0x8847, 0x8848, 0x88a8, 0x88e5],
];

/** One to three faults in a copy of `frame`. */
export function broken(frame: TestFrame, headers: readonly FoundHeader[], other: TestFrame, random: Random): TestFrame {
  const copy = { ...frame, bytes: frame.bytes.slice() };
  for (let left = random.between(1, 3); left > 0; left--) fault(copy, headers, other, random);
  return copy;
}

function fault(frame: TestFrame, headers: readonly FoundHeader[], other: TestFrame, random: Random): void {
  const kind = random.below(10);
  if (kind < 2) flip(frame.bytes, random);
  else if (kind < 5) steerWrong(frame, headers, random);
  else if (kind === 5) jumbo(frame, headers, random);
  else if (kind === 6) cut(frame, random.below(frame.bytes.length + 1));
  else if (kind === 7) splice(frame, other, random);
  else if (kind === 8) lengthen(frame, random);
  else frame.wireLength = Math.min(0xffffffff, frame.bytes.length + random.pick([1, 70000, 0x7fffffff, 0xffffffff]));
}

/** The first `length` bytes were captured, and the wire had as many as before. */
function cut(frame: TestFrame, length: number): void {
  frame.bytes = frame.bytes.slice(0, length);
  frame.wireLength = Math.max(frame.wireLength, length);
}

/** The frame cut at every byte, both as a capture would cut it and as a frame that short. */
export function* cuts(frame: TestFrame): Iterable<TestFrame> {
  for (let length = 0; length <= frame.bytes.length; length++) {
    const bytes = frame.bytes.slice(0, length);
    yield { ...frame, bytes, wireLength: Math.max(frame.wireLength, length) };
    yield { ...frame, bytes, wireLength: length };
  }
}

function flip(bytes: Uint8Array, random: Random): void {
  if (bytes.length === 0) return;
  // Faults in the first bytes change most of what follows.
  const reach = random.pick([bytes.length, 64, 20]);
  for (let left = random.between(1, 4); left > 0; left--) {
    const at = random.below(Math.min(reach, bytes.length));
    bytes[at] = random.chance(0.5) ? random.below(256) : (bytes[at] ?? 0) ^ (1 << random.below(8));
  }
}

function steerWrong(frame: TestFrame, headers: readonly FoundHeader[], random: Random): void {
  const places = placesIn(headers);
  if (places.length === 0) {
    flip(frame.bytes, random);
    return;
  }
  const { at, size } = random.pick(places);
  write(frame.bytes, at, size, wrongNumber(random, Math.max(frame.bytes.length - at, 1)));
}

/** Where the fields are that steer the parser. */
export function placesIn(headers: readonly FoundHeader[]): Place[] {
  return headers.flatMap(({ kind, offset }) =>
    (STEERING.get(kind) ?? []).map((text) => {
      const [at = 0, size = 0] = text.split(" ").map(Number);
      return { at: offset + at, size };
    }),
  );
}

/** A number for such a field. @param rest the bytes of the frame from there on */
export function wrongNumber(random: Random, rest: number): number {
  const kind = random.below(4);
  if (kind === 0) return random.pick(EXTREMES);
  if (kind === 1) return random.pick(TYPES);
  if (kind === 2) return random.word();
  const shift = random.below(4);
  return shift < 3 ? rest - 1 + shift : rest >> random.between(2, 3);
}

/** An IPv6 packet of length 0 with the option that says another one (RFC 2675). */
function jumbo(frame: TestFrame, headers: readonly FoundHeader[], random: Random): void {
  const found = headers.find(({ kind }) => kind === Header.ipv6);
  if (found === undefined) {
    steerWrong(frame, headers, random);
    return;
  }
  const { bytes } = frame;
  const option = found.offset + 40;
  write(bytes, found.offset + 4, 2, 0);
  write(bytes, found.offset + 6, 1, 0);
  write(bytes, option, 2, (random.pick([17, 6, 0, 44, 60]) << 8) | random.pick([0, 0, 1, 255]));
  write(bytes, option + 2, 2, 0xc204);
  const length = random.pick([0, 4, bytes.length - option, 65535, 65536, 66000, 0x7fffffff, 0xf0000000, 0xffffff00]);
  write(bytes, option + 4, 4, Math.max(length, 0));
  if (random.chance(0.5)) frame.wireLength = random.pick([Math.max(bytes.length, 70000), 0x80000000, 0xffffffff]);
}

export function write(bytes: Uint8Array, at: number, size: number, value: number): void {
  for (let i = 0; i < size && at + i < bytes.length; i++) bytes[at + i] = (value / 2 ** (8 * (size - 1 - i))) & 0xff;
}

function splice(frame: TestFrame, other: TestFrame, random: Random): void {
  const head = frame.bytes.subarray(0, random.below(frame.bytes.length + 1));
  const tail = other.bytes.subarray(random.below(other.bytes.length + 1));
  frame.bytes = new Uint8Array(head.length + tail.length);
  frame.bytes.set(head);
  frame.bytes.set(tail, head.length);
  frame.wireLength = Math.max(frame.wireLength, frame.bytes.length);
}

/** Bytes behind the end; now and then so many that lengths of more than 16 bits fit. */
function lengthen(frame: TestFrame, random: Random): void {
  const more = random.chance(0.02) ? random.between(65536, 70000) : random.between(1, 100);
  const bytes = new Uint8Array(frame.bytes.length + more).fill(random.below(256));
  bytes.set(frame.bytes);
  frame.bytes = bytes;
  frame.wireLength = Math.max(frame.wireLength, bytes.length);
}
