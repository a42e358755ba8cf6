// Random frames, tunnels: VXLAN, VXLAN-GPE, Geneve, GRE and GTP-U, and their payloads.

import { BOGUS, type Draw, OPTION_0, be, inside, some } from "./draw.js";
import { ip, ipv4, ipv6 } from "./ip.js";
import { ethernet, mpls, nsh } from "./link.js";
import { type Random } from "./random.js";

export function vxlan(draw: Draw): number[] {
  const { random } = draw;
  const flags = random.chance(0.7) ? 0x0800_0000n : random.bits(32);
  const header = [...be(flags, 4), ...some(random, [42, 5001], 3), ...some(random, [0], 1)];
  return [...header, ...ethernet(inside(draw))];
}

export function vxlanGpe(draw: Draw): number[] {
  const { random } = draw;
  const next = random.pick([1, 2, 3, 3, random.pick([0, 4, 4, 5, 255])]);
  const flags = random.chance(0.7) ? 0x0c : random.below(256);
  const header = [flags, ...be(0, 2), next, ...some(random, [42, 5001], 3), ...some(random, [0], 1)];
  const type = [0, 0x0800, 0x86dd, 0x6558][next] ?? 0;
  return [...header, ...(next === 4 ? nsh(random) : packetOf(draw, type))];
}

/** The packet announced by a protocol type. */
function packetOf(draw: Draw, type: number): number[] {
  const inner = inside(draw);
  switch (type) {
    case 0x0800:
      return ipv4(inner).bytes;
    case 0x86dd:
      return ipv6(inner).bytes;
    case 0x6558:
      return ethernet(inner);
    case 0x8847:
    case 0x8848:
      return mpls(inner);
    default:
      return draw.random.bytes(draw.random.below(30));
  }
}

/** A protocol type and a packet of it; rarely a packet of another type. */
function typed(draw: Draw, others: readonly number[]): { type: number; bytes: number[] } {
  const { random } = draw;
  const carried = random.pick([0x0800, 0x86dd, 0x6558, 0x6558, random.pick(others), random.pick(others)]);
  const type = random.chance(BOGUS) ? random.pick([0x0800, 0x86dd, 0x6558, 0x1234]) : carried;
  return { type, bytes: packetOf(draw, carried) };
}

export function geneve(draw: Draw): number[] {
  const { random } = draw;
  const options = Array.from({ length: random.pick([0, 0, 1, 2, 3]) }, () => geneveOption(random)).flat();
  const words = random.chance(BOGUS) ? random.below(64) : Math.min(options.length / 4, 63);
  const version = random.chance(BOGUS) ? random.between(1, 3) : 0;
  const { type, bytes } = typed(draw, [0x894f, 0x0806, 0x8847]);
  const flags = random.pick([0, 0, 0x40, 0x80, random.below(256)]);
  const header = [(version << 6) | words, flags, ...be(type, 2), ...some(random, [42, 5001], 3), 0];
  return [...header, ...options, ...bytes];
}

/**
 * The option that tests declare, one of its class or type, or another; its length is correct or
 * not.
 */
function geneveOption(random: Random): number[] {
  const optionClass = random.chance(0.7) ? OPTION_0.class : random.below(65536);
  const type = random.chance(0.6) ? OPTION_0.type : random.pick([OPTION_0.type ^ 0x80, random.below(256)]);
  const words = random.pick([0, 1, 1, 2, 5]);
  const says = random.chance(BOGUS * 2) ? random.below(32) : words;
  return [...be(optionClass, 2), type, (random.below(8) << 5) | says, ...random.bytes(4 * words)];
}

/**
 * RFC 1701: either routing or checksum adds the dword of both; only version 0 has source route
 * entries, and version 1 that is read as version 0.
 */
export function gre(draw: Draw): number[] {
  const { random } = draw;
  const version = random.pick([0, 0, 0, 0, 0, 0, 1, 1, random.below(8)]);
  const bit = (chance: number, value: number): number => (random.chance(chance) ? value : 0);
  const known = bit(0.4, 0x8000) | bit(0.12, 0x4000) | bit(0.5, 0x2000) | bit(0.4, 0x1000);
  const odd = random.chance(0.8) ? 0 : random.below(0x1000) & 0x0f78;
  const flags = known | odd | bit(version === 0 ? 0.05 : 0.5, 0x0080) | version;
  const labels = [0x8847, 0x8847, 0x8848];
  // Parsers read only the labels of GRE in the inner packet.
  const { type, bytes } = typed(draw, draw.depth === 0 ? [...labels, 0x880b, 0x88be, 0x894f] : labels);
  const header = [...be(flags, 2), ...be(type, 2)];
  if (flags & 0xc000) header.push(...random.bytes(4));
  if (flags & 0x2000) header.push(...some(random, [0x00002a07, 5001], 4));
  if (flags & 0x1000) header.push(...random.bytes(4));
  const asVersion0 = version === 0 || (version === 1 && [0x0800, 0x86dd, 0x6558].includes(type));
  if (!asVersion0 && flags & 0x0080) header.push(...random.bytes(4));
  if (asVersion0 && flags & 0x4000) header.push(...routes(random));
  return [...header, ...bytes];
}

/** Entries, and the final one with family and length 0. One 0 of the two does not end the list. */
function routes(random: Random): number[] {
  const entries = Array.from({ length: random.below(3) }, () => {
    const length = random.pick([0, 4, 4, 8, random.below(16)]);
    const family = length === 0 ? 0x0800 : random.pick([0x0800, 0, 0xfffe]);
    return [...be(family, 2), random.below(256), length, ...random.bytes(length)];
  });
  return [...entries.flat(), ...(random.chance(BOGUS) ? [] : [0, 0, random.below(256), 0])];
}

export function gtpu(draw: Draw): number[] {
  const { random } = draw;
  const flags = random.chance(0.9) ? 0x30 | random.below(16) : random.below(256);
  const type = random.chance(0.85) ? 255 : random.pick([1, 26, 254]);
  const optional: number[] = [];
  if (flags & 0x07) {
    const extensions = flags & 0x04 ? gtpuExtensions(random) : [random.pick([0, 0x85])];
    optional.push(...random.bytes(3), ...extensions);
  }
  const carried = random.chance(0.9) ? ip(inside(draw)).bytes : random.bytes(random.below(30));
  const length = random.chance(0.8) ? optional.length + carried.length : random.below(65536);
  return [flags, type, ...be(Math.min(length, 65535), 2), ...some(random, [1, 0xdeadbeef], 4), ...optional, ...carried];
}

/** The type of the first header, and a chain of headers: | length | content | next type |. */
function gtpuExtensions(random: Random): number[] {
  const count = random.pick([0, 1, 1, 2, 3]);
  const chain = Array.from({ length: count }, (_, i) => {
    const words = random.pick([1, 1, 2, 3]);
    const says = random.chance(BOGUS) ? random.pick([0, random.below(256)]) : words;
    return [says, ...random.bytes(4 * words - 2), i === count - 1 ? 0 : random.pick([0x85, 0x40, 0xc0])];
  });
  return [count === 0 ? 0 : random.pick([0x85, 0x40, 0xc0]), ...chain.flat()];
}
