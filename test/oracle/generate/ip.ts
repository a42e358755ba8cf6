// Random frames, network layer: IPv4 with options, IPv6 with extension headers, and their checksums.

import { onesComplementSum, pseudoHeader } from "../wire/checksum.js";
import { BOGUS, type Checksum, type Draw, be, putChecksum, some, wrongLength } from "./draw.js";
import { tcp, upper } from "./upper.js";
import { type Random } from "./random.js";

export interface Layer3 {
  ethertype: number;
  bytes: number[];
}

/** Either version. */
export function ip(draw: Draw): Layer3 {
  return draw.random.below(9) < 5 ? ipv4(draw) : ipv6(draw);
}

/** The checksum to write, computed with the checksum field 0. */
const complement = (sum: number): number => 0xffff - sum;

const checksumOver =
  (addresses: number[]): Checksum =>
  (protocol, segment) =>
    complement(onesComplementSum(pseudoHeader(addresses, protocol, segment.length), segment));

const ADDRESSES4 = [
  [0x0a000001, 0xc0a80101],
  [0x0a000002, 0xe0000001],
] as const;

export function ipv4(draw: Draw): Layer3 {
  const { random } = draw;
  const addresses = [...some(random, ADDRESSES4[0], 4), ...some(random, ADDRESSES4[1], 4)];
  const { protocol, bytes } = upper(draw, checksumOver(addresses));
  const options = random.chance(0.2) ? ipv4Options(random) : [];
  const ihl = random.chance(BOGUS) ? random.below(16) : 5 + options.length / 4;
  const version = random.chance(BOGUS) ? random.below(16) : 4;
  const length = wrongLength(random, 20 + options.length + bytes.length);
  const reservedAndDf = random.pick([0, 0x4000, 0x8000, 0xc000]);
  const header = [
    (version << 4) | ihl,
    ...some(random, [0, 0xb8], 1),
    ...be(length, 2),
    ...random.bytes(2),
    ...be(reservedAndDf | (random.chance(0.1) ? fragmentWord(random) : 0), 2),
    ...some(random, [1, 64, 255], 1),
    protocol,
    ...[0, 0],
    ...addresses,
    ...options,
  ];
  putChecksum(random, header, 10, complement(onesComplementSum(header)));
  return { ethertype: 0x0800, bytes: [...header, ...bytes] };
}

/** More-fragments bit and offset: first fragments are as frequent as the others. */
function fragmentWord(random: Random): number {
  return random.pick([0x2000, 0x2000, 0x2000 | random.between(1, 0x1fff), random.between(1, 0x1fff)]);
}

/**
 * Up to 40 bytes: no-operations, routes whose pointer is inside or beyond them, others; some
 * contain anything.
 */
function ipv4Options(random: Random): number[] {
  const size = random.between(1, 10) * 4;
  if (random.chance(0.2)) return random.bytes(size);
  const options: number[] = [];
  while (options.length < size) {
    const type = random.pick([1, 1, 7, 68, 131, 137, 148]);
    if (type === 1) options.push(1);
    else {
      const data = random.between(0, 9);
      const length = random.chance(BOGUS) ? random.below(60) : 2 + data;
      options.push(type, length, ...random.bytes(data));
      // A pointer of 4 is at the first hop; a pointer after the option means the end of the route.
      if (data > 0) options[options.length - data] = random.pick([4, length, length + 1, length + 1]) & 0xff;
    }
    if (random.chance(0.1)) options.push(0);
  }
  return options.slice(0, size);
}

const EXTENSIONS = [0, 43, 44, 51, 60];
const ADDRESSES6 = [0xfe80_0000_0000_0000_0000_0000_0000_0001n, 0xff02_0000_0000_0000_0000_0000_0000_0001n];

export function ipv6(draw: Draw): Layer3 {
  const { random } = draw;
  const addresses = [...some(random, ADDRESSES6, 16), ...some(random, ADDRESSES6, 16)];
  const { protocol, bytes: payload } = upper(draw, checksumOver(addresses));
  let next = protocol;
  let bytes = payload;
  const count = random.pick([0, 0, 0, 1, 2, 3]);
  for (let i = 0; i < count; i++) {
    const kind = random.pick(EXTENSIONS);
    bytes = [...extension(random, kind, next), ...bytes];
    next = kind;
  }
  const jumbo = random.chance(0.03);
  if (jumbo) {
    const length = bytes.length + 8;
    bytes = [...jumboOption(next, random.pick([length, length + 1, 65536, 66000, 0x7fffffff])), ...bytes];
    next = 0;
  }
  const length = jumbo || random.chance(BOGUS) ? 0 : wrongLength(random, bytes.length);
  const version = random.chance(BOGUS) ? random.below(16) : 6;
  return { ethertype: 0x86dd, bytes: [...fixedHeader(random, version, length, next, addresses), ...bytes] };
}

function fixedHeader(random: Random, version: number, length: number, next: number, addresses: number[]): number[] {
  return [
    ...be((BigInt(version) << 28n) | (random.chance(0.5) ? 0x0b80_0001n : random.bits(28)), 4),
    ...be(length, 2),
    next,
    ...some(random, [1, 64, 255], 1),
    ...addresses,
  ];
}

/** A hop-by-hop header with the jumbo payload option (RFC 2675 section 2). */
function jumboOption(next: number, length: number): number[] {
  return [next, 0, 0xc2, 4, ...be(length, 4)];
}

/** A packet with a correct jumbo payload length: TCP with `length` bytes of data. */
export function jumbo({ random }: Draw, length: number): number[] {
  const addresses = random.bytes(32);
  const data = new Array<number>(length).fill(random.below(256));
  const segment = tcp(random, data, checksumOver(addresses));
  const option = jumboOption(6, 8 + segment.length);
  return fixedHeader(random, 6, 0, 0, addresses).concat(option, segment);
}

function extension(random: Random, kind: number, next: number): number[] {
  if (kind === 44) {
    // Offset in the upper 13 bits, then two reserved ones, then M. More than a third are atomic.
    const offset = random.between(1, 0x1fff) << 3;
    const word = random.pick([0, 0, 1, offset | random.below(2)]) | (random.below(4) << 1);
    return [next, random.below(256), ...be(word, 2), ...random.bytes(4)];
  }
  const units = random.pick([0, 0, 1, 2, 5]);
  const size = kind === 51 ? (units + 2) * 4 : (units + 1) * 8;
  const says = random.chance(BOGUS) ? random.below(256) : units;
  // Zeros are padding options (Pad1), an unused routing header, an AH of sequence 0; some contain
  // anything.
  const body = random.chance(0.8) ? be(0, size - 2) : random.bytes(size - 2);
  if (kind === 43) body[1] = random.pick([0, 0, 0, 1, random.below(256)]);
  return [next, says, ...body];
}
