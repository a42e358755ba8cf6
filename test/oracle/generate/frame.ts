// Random frames of every header, from the inside out: payload, upper layer, IP, link layer, then a
// cut. Most frames are sane; at a constant rate a length, a version, a checksum or the end of a
// header is wrong. Values come from small pools half of the time, so that frames collide with rules
// made for other frames.

import { type Draw, type Kind, BOGUS, KINDS, LINK_KINDS, OPTION_0, VXLAN_PORTS } from "./draw.js";
import { linkLayer } from "./link.js";
import { jumbo } from "./ip.js";
import { type ParserOptions } from "../wire/packet.js";
import { parseReference } from "../wire/parse.js";
import { type Random } from "./random.js";

export { type Kind, KINDS } from "./draw.js";
export { Random } from "./random.js";
export { type RandomRule, randomRuleFor } from "./rule.js";

export interface GeneratedFrame {
  bytes: Uint8Array;
  linkType: number;
  wireLength: number;
  port: number;
}

/** Link types, and those of them with an EtherType. */
const LINK_TYPES = [0, 12, 14, 101, 108, 113, 228, 229, 276];
const WITH_ETHERTYPE = [1, 1, 1, 113, 276];

export function randomFrame(random: Random): GeneratedFrame {
  const linkType = random.chance(0.75) ? 1 : random.pick(LINK_TYPES);
  return cut(random, linkType, linkLayer({ random, depth: 0, want: null }, linkType));
}

/** A frame whose outer packet carries one of these. */
export function randomFrameOf(random: Random, want: Kind): GeneratedFrame {
  const bare = (LINK_KINDS as readonly Kind[]).includes(want);
  const linkType = bare ? random.pick(WITH_ETHERTYPE) : random.chance(0.75) ? 1 : random.pick(LINK_TYPES);
  return cut(random, linkType, linkLayer({ random, depth: 0, want }, linkType));
}

/** One frame of each kind in turn. */
export function framesOfEachKind(random: Random, count: number): GeneratedFrame[] {
  return Array.from({ length: count }, (_, i) => randomFrameOf(random, KINDS[i % KINDS.length] as Kind));
}

/**
 * A complete IPv6 jumbogram of more than 65535 bytes (RFC 2675), which is too long to be among the
 * other frames.
 */
export function jumbogram(random: Random): GeneratedFrame {
  const draw: Draw = { random, depth: 0, want: "tcp" };
  const bytes = Uint8Array.from(jumbo(draw, random.between(65536, 67000)));
  return { bytes, linkType: 229, wireLength: bytes.length, port: 1 };
}

function cut(random: Random, linkType: number, whole: number[]): GeneratedFrame {
  // A cut anywhere, in the first headers, or in the first bytes.
  const kept = random.below(Math.min(random.pick([whole.length, whole.length, 64, 4]), whole.length) + 1);
  const within = random.chance(0.05) ? withinOptions(random, linkType, whole) : null;
  const captured = within ?? (random.chance(0.2) ? kept : whole.length);
  // A wire length greater than the frame means a cut after the last header.
  const wireLength = random.chance(BOGUS) ? whole.length + random.between(1, 70000) : whole.length;
  return { bytes: Uint8Array.from(whole.slice(0, captured)), linkType, wireLength, port: random.between(1, 2) };
}

/** Headers with a fixed part that needs no options, and its size. */
const FIXED: ReadonlyMap<string, number> = new Map([
  ["tcp", 20],
  ["gre", 4],
  ["gtpu", 8],
]);

/** A cut in the first bytes after the fixed part of a header, where its options are if it has some. */
function withinOptions(random: Random, linkType: number, whole: number[]): number | null {
  const { headers } = parseReference(Uint8Array.from(whole), { linkType, wireLength: whole.length });
  const found = headers.filter(({ kind }) => FIXED.has(kind));
  if (found.length === 0) return null;
  const { kind, offset } = random.pick(found);
  return Math.min(offset + (FIXED.get(kind) ?? 0) + random.below(13), whole.length);
}

/** Parser declarations of the tests; random frames use all of them. */
export const DECLARED: ParserOptions = {
  geneveOption0: OPTION_0,
  samples: [
    { id: 0, header: "udp", level: "outer", offset: 8 },
    { id: 1, header: "payload", level: "outer", offset: 0 },
    { id: 2, header: "payload", level: "inner", offset: 2 },
    { id: 3, header: "ipv4", level: "inner", offset: 12 },
    { id: 4, header: "tcp", level: "outer", offset: 4 },
    { id: 5, header: "gre", level: "outer", offset: 0 },
    { id: 6, header: "udp", level: "outer", offset: 0, port: 9000 },
    { id: 7, header: "ethernet", level: "inner", offset: 11 },
  ],
  vxlanPorts: VXLAN_PORTS,
};

const SAMPLED = [
  ...["ethernet", "vlan", "ipv4", "ipv6", "ipv6_routing", "ipv6_fragment", "ah", "tcp", "udp", "sctp", "icmp", "esp"],
  ...["mpls", "gre", "vxlan", "vxlan_gpe", "geneve", "gtpu", "gtpu_extension", "bth", "macsec", "nsh", "arp"],
  ...["payload", "payload", "payload"],
];

/** Up to four ports that no other header has. */
function somePorts(random: Random): number[] {
  const ports = new Set<number>();
  for (let n = random.below(5); n > 0; n--) {
    const port = random.chance(0.5) ? random.pick(VXLAN_PORTS) : random.between(1, 65535);
    if (![2152, 4500, 4790, 4791, 6081, 6635].includes(port)) ports.add(port);
  }
  return [...ports];
}

/** Any other declaration. */
export function randomParser(random: Random): ParserOptions {
  return {
    ...(random.chance(0.7) ? { geneveOption0: OPTION_0 } : {}),
    samples: Array.from({ length: 8 }, (_, id) => ({
      id,
      header: random.pick(SAMPLED),
      level: random.pick(["outer", "inner"] as const),
      offset: random.pick([0, 1, 2, 4, 8, random.below(64)]),
      ...(random.chance(0.2) ? { port: random.pick([53, 9000, 4789, 6081, 4500]) } : {}),
    })).filter(() => random.chance(0.9)),
    ...(random.chance(0.5) ? { vxlanPorts: somePorts(random) } : {}),
  };
}
