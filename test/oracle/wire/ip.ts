// Reference parser, part 2: IPv4 (RFC 791, RFC 2474, RFC 3168), IPv6 and its extension headers (RFC
// 8200, RFC 4302, RFC 2675, RFC 6946), and the next header of each protocol number.

import { ipv4HeaderRight, sourceRouteUnderWay } from "./checksum.js";
import { type Network, type Packet, type Step, big, enter, number, refuse, seen, whole } from "./packet.js";

const HOP_BY_HOP = 0;
const ROUTING = 43;
const FRAGMENT = 44;
const AH = 51;
const DESTINATION = 60;

/**
 * The header of each upper-layer protocol, the same in IPv4 and IPv6 (docs/parsing.md). Others are
 * payload.
 */
const PROTOCOLS = new Map<number, string>([
  [1, "icmp"],
  [6, "tcp"],
  [17, "udp"],
  [50, "esp"],
  [58, "icmpv6"],
  [132, "sctp"],
]);

/**
 * Tunnels, possible only in the outer packet: IP in IP (RFC 2003, RFC 4213 section 3.5, RFC 2473),
 * GRE.
 */
const TUNNELS = new Map<number, string>([
  [4, "ipv4"],
  [41, "ipv6"],
  [47, "gre"],
]);

/** `step` is at the upper layer. */
function followProtocol(packet: Packet, step: Step, protocol: number): Step | null {
  const plain = PROTOCOLS.get(protocol);
  if (plain) return { ...step, kind: plain };
  const tunnel = TUNNELS.get(protocol);
  if (!tunnel) return null;
  if (step.level === "inner") return tunnel === "gre" ? { ...step, kind: "inner_gre" } : null;
  return tunnel === "gre" ? { ...step, kind: tunnel } : enter(packet, step, tunnel, step.at);
}

export function readIpv4(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  const { fields } = packet;
  // SPEC: a header that ends within its 20 fixed bytes is cut, whatever its first byte contains.
  if (!whole(packet, step, 20)) return null;
  const version = number(packet, at, 1) >> 4;
  if (version !== 4) return refuse(packet, step, "ip_version", 20, "bad_version");
  const ihl = number(packet, at, 1) & 15;
  if (ihl < 5) return refuse(packet, step, "ipv4_ihl", 20, "bad_header_length");
  if (!whole(packet, step, ihl * 4)) return null;

  fields.set(`${level}.ip_version`, 4n);
  fields.set(`${level}.ipv4_ihl`, BigInt(ihl));
  setTrafficClass(packet, step, number(packet, at + 1, 1));
  const totalLength = number(packet, at + 2, 2);
  const fragmentWord = number(packet, at + 6, 2);
  fields.set(`ext.${level}_ipv4_flags`, BigInt(fragmentWord >> 13));
  fields.set(`${level}.ip_ttl_hoplimit`, big(packet, at + 8, 1));
  const protocol = number(packet, at + 9, 1);
  fields.set(`${level}.ip_protocol`, BigInt(protocol));
  fields.set(`${level}.ipv4_src`, big(packet, at + 12, 4));
  fields.set(`${level}.ipv4_dst`, big(packet, at + 16, 4));

  const moreFragments = (fragmentWord & 0x2000) !== 0;
  const fragmentOffset = fragmentWord & 0x1fff;
  const fragment = moreFragments || fragmentOffset !== 0;
  if (fragment) fields.set(`${level}.frag`, 1n);
  fields.set(`${level}.ipv4_checksum_ok`, ipv4HeaderRight(packet, at, ihl * 4) ? 1n : 0n);

  // Lengths that disagree: parse all available bytes, l3_ok 0 (docs/parsing.md).
  const sane = totalLength >= ihl * 4 && at + totalLength <= step.wireEnd;
  fields.set(`${level}.l3_ok`, sane ? 1n : 0n);
  const bounded = sane ? within(step, at + totalLength) : step;
  seen(packet, bounded, ihl * 4);
  if (fragmentOffset !== 0) return null;

  // SPEC: while a source route is in progress, the header does not contain the final destination,
  // which the checksum covers.
  const routed = sourceRouteUnderWay(packet.bytes.subarray(at + 20, at + ihl * 4));
  const addresses = packet.bytes.subarray(at + 12, at + 20);
  const network: Network = { version: 4, addresses, verifiable: sane && !fragment && !routed };
  return followProtocol(packet, { ...bounded, at: at + ihl * 4, network }, protocol);
}

export function readIpv6(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  const { fields } = packet;
  if (!whole(packet, step, 40)) return null;
  const version = number(packet, at, 1) >> 4;
  if (version !== 6) return refuse(packet, step, "ip_version", 40, "bad_version");

  const firstWord = number(packet, at, 4);
  fields.set(`${level}.ip_version`, 6n);
  setTrafficClass(packet, step, (firstWord >>> 20) & 0xff);
  fields.set(`misc.${level}_ipv6_flow_label`, BigInt(firstWord & 0xfffff));
  fields.set(`${level}.ip_ttl_hoplimit`, big(packet, at + 7, 1));
  fields.set(`${level}.ipv6_src`, big(packet, at + 8, 16));
  fields.set(`${level}.ipv6_dst`, big(packet, at + 24, 16));

  // Length 0 is a jumbogram or BIG TCP: parse to the end of the frame (docs/parsing.md).
  const payloadLength = number(packet, at + 4, 2);
  const sane = at + 40 + payloadLength <= step.wireEnd;
  fields.set(`${level}.l3_ok`, sane ? 1n : 0n);
  const bounded = sane && payloadLength !== 0 ? within(step, at + 40 + payloadLength) : step;
  seen(packet, bounded, 40);
  const network: Network = { version: 6, addresses: packet.bytes.subarray(at + 8, at + 40), verifiable: sane };
  const start = { ...bounded, at: at + 40, lengthUnknown: payloadLength === 0, network };
  return walkExtensions(packet, start, number(packet, at + 6, 1));
}

/**
 * Walks to the upper layer; `ip_protocol` is present only if all headers before it are complete.
 */
function walkExtensions(packet: Packet, start: Step, firstHeader: number): Step | null {
  const { level } = start;
  let here = start;
  let next = firstHeader;
  for (;;) {
    const name = extensionName(next);
    if (!name) break;
    // Every extension header is at least 8 bytes long, and its second byte gives its length.
    const extension: Step = { ...here, kind: name };
    if (!whole(packet, extension, 8)) return null;
    const length = extensionLength(next, number(packet, here.at + 1, 1));
    if (!whole(packet, extension, length)) return null;
    if (next === HOP_BY_HOP && here.at === start.at && start.lengthUnknown) here = applyJumbo(packet, here, length);
    seen(packet, { ...extension, end: here.end }, length);

    // With segments left (RFC 8200 section 4.4) the final destination, which the checksum covers, is
    // in the routing header, not in the fixed header (section 8.1).
    if (next === ROUTING && number(packet, here.at + 3, 1) !== 0) {
      here = onItsPath(here, packet.bytes.subarray(here.at, here.at + length));
    }
    if (next === FRAGMENT) {
      const word = number(packet, here.at + 2, 2);
      const offset = word >> 3;
      const more = (word & 1) !== 0;
      // RFC 6946: offset 0 and M 0 is an atomic fragment, which counts as unfragmented.
      if (offset !== 0 || more) {
        packet.fields.set(`${level}.frag`, 1n);
        here = unverifiable(here);
      }
      if (offset !== 0) {
        packet.fields.set(`${level}.ip_protocol`, big(packet, here.at, 1));
        return null;
      }
    }
    next = number(packet, here.at, 1);
    here = { ...here, at: here.at + length };
  }
  packet.fields.set(`${level}.ip_protocol`, BigInt(next));
  return followProtocol(packet, here, next);
}

/** The same step, for a packet whose routing header has segments left. */
function onItsPath(step: Step, routing: Uint8Array): Step {
  const final = finalDestination(routing);
  if (final === null || step.network === undefined) return unverifiable(step);
  const addresses = Uint8Array.from([...step.network.addresses.subarray(0, 16), ...final]);
  return { ...step, network: { ...step.network, addresses } };
}

/**
 * The last address of the path, null where the format of the header does not give it. After 8 bytes,
 * types 0 (RFC 2460 section 4.4) and 2 (RFC 6275 section 6.4.1) list whole addresses in the order of
 * travel; type 4 lists them from the last one on (RFC 8754 section 2), with other data behind them.
 */
function finalDestination(routing: Uint8Array): Uint8Array | null {
  const type = routing[2] ?? 0;
  const rest = routing.subarray(8);
  if (rest.length < 16) return null;
  if (type === 4) return rest.subarray(0, 16);
  if (type !== 0 && type !== 2) return null;
  return rest.length % 16 === 0 ? rest.subarray(rest.length - 16) : null;
}

/** The same step, with the checksum after it marked as unverifiable. */
function unverifiable(step: Step): Step {
  return step.network ? { ...step, network: { ...step.network, verifiable: false } } : step;
}

/**
 * The headers that are walked over. Mobility, HIP, Shim6 and "no next header" end the walk as the
 * upper layer.
 */
function extensionName(protocol: number): string | null {
  switch (protocol) {
    // SPEC: hop-by-hop options are walked over at any position, not only directly after the fixed
    // header.
    case HOP_BY_HOP:
      return "ipv6_hop_by_hop";
    case ROUTING:
      return "ipv6_routing";
    case FRAGMENT:
      return "ipv6_fragment";
    case AH:
      return "ah";
    case DESTINATION:
      return "ipv6_destination";
    default:
      return null;
  }
}

function extensionLength(protocol: number, lengthByte: number): number {
  if (protocol === FRAGMENT) return 8; // its second byte is reserved (RFC 8200 section 4.5)
  if (protocol === AH) return (lengthByte + 2) * 4; // RFC 4302 section 2.2
  return (lengthByte + 1) * 8;
}

/**
 * RFC 2675: the jumbo payload option (type 0xC2) in the first hop-by-hop header gives the length
 * that 0 represents.
 */
function applyJumbo(packet: Packet, step: Step, headerLength: number): Step {
  const end = step.at + headerLength;
  for (let at = step.at + 2; at < end;) {
    const type = number(packet, at, 1);
    if (type === 0) {
      at += 1; // Pad1
      continue;
    }
    if (at + 2 > end) return step;
    const length = number(packet, at + 1, 1);
    if (at + 2 + length > end) return step;
    if (type === 0xc2) {
      // SPEC: a jumbo length has four bytes and is above 65535 (RFC 2675 section 3); one that ends
      // beyond the frame makes l3_ok 0. The first option of that type counts.
      const jumbo = length === 4 ? number(packet, at + 2, 4) : 0;
      if (step.at + jumbo > step.wireEnd) {
        packet.fields.set(`${step.level}.l3_ok`, 0n);
        return unverifiable(step);
      }
      if (jumbo <= 65535) return step;
      return { ...within(step, step.at + jumbo), lengthUnknown: false };
    }
    at += 2 + length;
  }
  return step;
}

/** DSCP and ECN of the TOS byte or traffic class. */
function setTrafficClass(packet: Packet, step: Step, value: number): void {
  packet.fields.set(`${step.level}.ip_dscp`, BigInt(value >> 2));
  packet.fields.set(`${step.level}.ip_ecn`, BigInt(value & 3));
}

/**
 * The step with its bounds reduced to the end of the IP packet: Ethernet padding is not payload.
 */
function within(step: Step, packetEnd: number): Step {
  return { ...step, end: Math.min(step.end, packetEnd), wireEnd: packetEnd };
}
