// Random frames of the everyday headers, from the inside out: payload, L4, L3, VLAN tags, link layer, then a cut. Most
// frames are sane; at a steady rate a length, a version or a header's end is not. Values come from small pools half the
// time, so that frames collide with one another's rules.

import { type Random } from "./random.js";

export { Random } from "./random.js";
export { type RandomRule, randomRuleFor } from "./generateRule.js";

export interface GeneratedFrame {
  bytes: Uint8Array;
  linkType: number;
  wireLength: number;
  port: number;
}

/** How often each thing that can be wrong is wrong. */
const BOGUS = 0.04;
const VXLAN_PORT = 4789;

export function randomFrame(random: Random): GeneratedFrame {
  const linkType = random.chance(0.75) ? 1 : random.pick([0, 12, 14, 101, 108, 113, 228, 229, 276]);
  const whole = linkLayer(random, linkType);
  // A cut anywhere, in the first headers, or in the first bytes.
  const cut = random.below(Math.min(random.pick([whole.length, 64, 4]), whole.length) + 1);
  const captured = random.chance(0.25) ? cut : whole.length;
  // A wire length that is longer than what was built stands for a cut behind the last header.
  const wireLength = random.chance(BOGUS) ? whole.length + random.between(1, 70000) : whole.length;
  return { bytes: Uint8Array.from(whole.slice(0, captured)), linkType, wireLength, port: random.between(1, 2) };
}

/** Big-endian bytes of a number. */
function be(value: number | bigint, length: number): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt(value), i = 0; i < length; i++, rest >>= 8n) bytes.unshift(Number(rest & 0xffn));
  return bytes;
}

/** A value from a small pool half the time, else any. */
function some(random: Random, pool: readonly (number | bigint)[], length: number): number[] {
  return random.chance(0.5) ? be(random.pick(pool), length) : random.bytes(length);
}

// ---------------------------------------------------------------------------------------------------------------------
// Link layers

interface Packet {
  ethertype: number;
  bytes: number[];
}

const AF_IPV6 = [10, 24, 28, 30];

function linkLayer(random: Random, linkType: number): number[] {
  if (linkType === 1) return ethernet(random, 0);
  const packet = linkType === 228 ? ipv4(random, 0) : linkType === 229 ? ipv6(random, 0) : layer3(random, 0);
  const { ethertype, bytes } = packet;
  switch (linkType) {
    case 0:
    case 108: {
      const family = ethertype === 0x0800 ? 2 : ethertype === 0x86dd ? random.pick(AF_IPV6) : random.below(40);
      const order = be(family, 4);
      return [...(linkType === 0 && random.chance(0.5) ? order.reverse() : order), ...bytes];
    }
    case 113: {
      const tags = vlanTags(random, ethertype);
      return [...random.bytes(14), ...tags, ...bytes];
    }
    case 276: {
      const [high = 0, low = 0, ...rest] = vlanTags(random, ethertype);
      return [high, low, ...be(0, 2), ...random.bytes(16), ...rest, ...bytes];
    }
    default:
      return bytes;
  }
}

/** The EtherType, or tags and the EtherType behind them. */
function vlanTags(random: Random, ethertype: number): number[] {
  const count = random.pick([0, 0, 1, 2, 3]);
  const tags = Array.from({ length: count }, () => [
    ...be(random.pick([0x8100, 0x8100, 0x88a8]), 2),
    ...some(random, [1, 2, 0x6002, 0x1fff], 2),
  ]);
  return [...tags.flat(), ...be(ethertype, 2)];
}

const MACS = [0x661122334455n, 0x020000000001n, 0xffffffffffffn];

function ethernet(random: Random, depth: number): number[] {
  const { ethertype, bytes } = layer3(random, depth);
  // Padding behind the IP packet, as switches add to short frames.
  const padding = random.chance(0.2) ? random.bytes(random.between(1, 30)) : [];
  const type = vlanTags(random, random.chance(BOGUS) ? random.pick([0x0800, 0x86dd, 0x0026]) : ethertype);
  return [...some(random, MACS, 6), ...some(random, MACS, 6), ...type, ...bytes, ...padding];
}

// ---------------------------------------------------------------------------------------------------------------------
// Layer 3

function layer3(random: Random, depth: number): Packet {
  const roll = random.below(20);
  if (roll < 10) return ipv4(random, depth);
  if (roll < 18) return ipv6(random, depth);
  // ARP, MPLS, MACsec, PTP, TPIDs that are not tags, 802.3 lengths, RoCE v1.
  const ethertype = random.pick([0x0806, 0x8847, 0x88e5, 0x88f7, 0x9100, 0x9200, 0x0026, 0x05ff, 0x8915]);
  return { ethertype, bytes: random.bytes(random.between(0, 60)) };
}

function ipv4(random: Random, depth: number): Packet {
  const { protocol, bytes } = layer4(random, depth);
  const options = random.chance(0.2) ? random.between(1, 10) * 4 : 0;
  const ihl = random.chance(BOGUS) ? random.below(16) : 5 + options / 4;
  const version = random.chance(BOGUS) ? random.below(16) : 4;
  const length = wrongLength(random, 20 + options + bytes.length);
  const reservedAndDf = random.pick([0, 0x4000, 0x8000, 0xc000]);
  const header = [
    (version << 4) | ihl,
    ...some(random, [0, 0xb8], 1),
    ...be(length, 2),
    ...random.bytes(2),
    ...be(reservedAndDf | (random.chance(0.2) ? fragmentWord(random) : 0), 2),
    ...some(random, [1, 64, 255], 1),
    protocol,
    ...random.bytes(2),
    ...some(random, [0x0a000001, 0xc0a80101], 4),
    ...some(random, [0x0a000002, 0xe0000001], 4),
  ];
  return { ethertype: 0x0800, bytes: [...header, ...random.bytes(options), ...bytes] };
}

/** More-fragments bit and offset: a first one as often as the others. */
function fragmentWord(random: Random): number {
  return random.pick([0x2000, 0x2000, 0x2000 | random.between(1, 0x1fff), random.between(1, 0x1fff)]);
}

const EXTENSIONS = [0, 43, 44, 51, 60];

function ipv6(random: Random, depth: number): Packet {
  const upper = layer4(random, depth);
  let next = upper.protocol;
  let bytes = upper.bytes;
  const count = random.pick([0, 0, 1, 2, 3]);
  for (let i = 0; i < count; i++) {
    const kind = random.pick(EXTENSIONS);
    bytes = [...extension(random, kind, next), ...bytes];
    next = kind;
  }
  const jumbo = random.chance(0.04);
  if (jumbo) {
    const length = bytes.length + 8;
    bytes = [next, 0, 0xc2, 4, ...be(random.pick([length, 65536, 66000, 0x7fffffff]), 4), ...bytes];
    next = 0;
  }
  const length = jumbo || random.chance(BOGUS) ? 0 : wrongLength(random, bytes.length);
  const version = random.chance(BOGUS) ? random.below(16) : 6;
  const addresses = [0xfe80_0000_0000_0000_0000_0000_0000_0001n, 0xff02_0000_0000_0000_0000_0000_0000_0001n];
  const header = [
    ...be((BigInt(version) << 28n) | (random.chance(0.5) ? 0x0b80_0001n : random.bits(28)), 4),
    ...be(length, 2),
    next,
    ...some(random, [1, 64, 255], 1),
    ...some(random, addresses, 16),
    ...some(random, addresses, 16),
  ];
  return { ethertype: 0x86dd, bytes: [...header, ...bytes] };
}

function extension(random: Random, kind: number, next: number): number[] {
  if (kind === 44) {
    // Offset in the upper 13 bits, then two reserved ones, then M. A third are atomic.
    const word = random.pick([0, 1, (random.between(1, 0x1fff) << 3) | random.below(2)]) | (random.below(4) << 1);
    return [next, random.below(256), ...be(word, 2), ...random.bytes(4)];
  }
  const units = random.pick([0, 0, 1, 2, 5]);
  const size = kind === 51 ? (units + 2) * 4 : (units + 1) * 8;
  const says = random.chance(BOGUS) ? random.below(256) : units;
  // Zeros are options that pad (Pad1), an unused routing header, an AH of sequence 0; some hold anything.
  const body = random.chance(0.8) ? be(0, size - 2) : random.bytes(size - 2);
  return [next, says, ...body];
}

/** A length as it is, or short, or nothing, or beyond the frame. */
function wrongLength(random: Random, length: number): number {
  if (!random.chance(BOGUS * 3)) return Math.min(length, 65535);
  return random.pick([0, random.below(length + 1), random.below(20), Math.min(length + random.between(1, 80), 65535)]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Layer 4

interface Upper {
  protocol: number;
  bytes: number[];
}

/** ESP, GRE, AH, OSPF, SCTP, "no next header", mobility, HIP, Shim6, IP in IP: payload, or the end of the walk. */
const OTHERS = [50, 47, 51, 89, 132, 59, 135, 139, 140, 4, 41, 255];

function layer4(random: Random, depth: number): Upper {
  const roll = random.below(20);
  const payload = random.bytes(random.below(40));
  if (roll < 6) return { protocol: 6, bytes: [...tcp(random), ...payload] };
  if (roll < 11) return { protocol: 17, bytes: udp(random, 0, payload) };
  if (roll < 15) return { protocol: 17, bytes: udp(random, VXLAN_PORT, vxlan(random, depth)) };
  if (roll < 18) return { protocol: random.pick([1, 58]), bytes: [...random.bytes(8), ...payload] };
  return { protocol: random.pick(OTHERS), bytes: payload };
}

const PORTS = [53, 80, 443, 4790, 4791, 6081, 2152];

function tcp(random: Random): number[] {
  const options = random.pick([0, 0, 4, 12, 40]);
  const dataOffset = random.chance(BOGUS * 2) ? random.below(16) : 5 + options / 4;
  const flags = random.pick([0x002, 0x010, 0x018, random.below(0x1000)]);
  return [
    ...some(random, PORTS, 2),
    ...some(random, PORTS, 2),
    ...random.bytes(8),
    ...be((dataOffset << 12) | flags, 2),
    ...random.bytes(6 + options),
  ];
}

function udp(random: Random, port: number, payload: number[]): number[] {
  const destination = port === 0 ? some(random, PORTS, 2) : be(port, 2);
  return [
    ...some(random, PORTS, 2),
    ...destination,
    ...be(wrongLength(random, 8 + payload.length), 2),
    ...random.bytes(2),
    ...payload,
  ];
}

/** A VXLAN header and what it carries; a tunnel in the tunnel too, but not without end. */
function vxlan(random: Random, depth: number): number[] {
  const flags = random.chance(0.7) ? 0x0800_0000n : random.bits(32);
  const header = [...be(flags, 4), ...some(random, [42, 5001], 3), ...some(random, [0], 1)];
  return depth >= 2 ? header.slice(0, random.below(9)) : [...header, ...ethernet(random, depth + 1)];
}
