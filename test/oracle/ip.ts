// The second opinion, part 1: IPv4 (RFC 791, RFC 2474, RFC 3168), IPv6 and its extension headers (RFC 8200, RFC 4302,
// RFC 2675, RFC 6946).

import { type Packet, type Step, big, number, refuse, seen, whole } from "./packet.js";

const HOP_BY_HOP = 0;
const ROUTING = 43;
const FRAGMENT = 44;
const AH = 51;
const DESTINATION = 60;

/** What an upper-layer protocol leads to, the same in IPv4 and IPv6 (parsing rulings). Others are payload. */
function byProtocol(protocol: number): string | null {
  switch (protocol) {
    case 1:
      return "icmp";
    case 6:
      return "tcp";
    case 17:
      return "udp";
    case 58:
      return "icmpv6";
    default:
      return null; // Later: gre (47), ip in ip (4, 41), esp (50).
  }
}

export function readIpv4(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  const { fields } = packet;
  // SPEC: a header that is cut within its 20 fixed bytes is called cut, whatever its first byte holds.
  if (!whole(packet, step, 20)) return null;
  const version = number(packet, at, 1) >> 4;
  if (version !== 4) return refuse(packet, step, "ip_version", 4, version, "bad_version");
  const ihl = number(packet, at, 1) & 15;
  if (ihl < 5) return refuse(packet, step, "ipv4_ihl", 5, ihl, "bad_ihl");
  if (!whole(packet, step, ihl * 4)) return null;
  seen(packet, step);

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
  if (moreFragments || fragmentOffset !== 0) fields.set(`${level}.frag`, 1n);

  // Lengths that disagree: read on as far as bytes go, l3_ok 0 (parsing rulings).
  const sane = totalLength >= ihl * 4 && at + totalLength <= step.wireEnd;
  fields.set(`${level}.l3_ok`, sane ? 1n : 0n);
  const payload = sane ? within(step, at + totalLength) : step;

  const kind = byProtocol(protocol);
  if (fragmentOffset !== 0 || !kind) return null;
  return { ...payload, kind, at: at + ihl * 4, fragment: moreFragments };
}

export function readIpv6(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  const { fields } = packet;
  if (!whole(packet, step, 40)) return null;
  const version = number(packet, at, 1) >> 4;
  if (version !== 6) return refuse(packet, step, "ip_version", 6, version, "bad_version");
  seen(packet, step);

  const firstWord = number(packet, at, 4);
  fields.set(`${level}.ip_version`, 6n);
  setTrafficClass(packet, step, (firstWord >>> 20) & 0xff);
  fields.set(`misc.${level}_ipv6_flow_label`, BigInt(firstWord & 0xfffff));
  fields.set(`${level}.ip_ttl_hoplimit`, big(packet, at + 7, 1));
  fields.set(`${level}.ipv6_src`, big(packet, at + 8, 16));
  fields.set(`${level}.ipv6_dst`, big(packet, at + 24, 16));

  // Length 0 is a jumbogram or BIG TCP: read on to the end of the frame (parsing rulings).
  const payloadLength = number(packet, at + 4, 2);
  const sane = at + 40 + payloadLength <= step.wireEnd;
  fields.set(`${level}.l3_ok`, sane ? 1n : 0n);
  const bounded = sane && payloadLength !== 0 ? within(step, at + 40 + payloadLength) : step;
  const start = { ...bounded, at: at + 40, lengthUnknown: payloadLength === 0 };
  return walkExtensions(packet, start, number(packet, at + 6, 1));
}

/** Walks to the upper layer; `ip_protocol` is present only when that is reached whole. */
function walkExtensions(packet: Packet, start: Step, firstHeader: number): Step | null {
  const { level } = start;
  let here = start;
  let next = firstHeader;
  for (;;) {
    const name = extensionName(next);
    if (!name) break;
    // Every extension header is at least 8 bytes long, and its second byte says how long.
    const extension: Step = { ...here, kind: name };
    if (!whole(packet, extension, 8)) return null;
    const length = extensionLength(next, number(packet, here.at + 1, 1));
    if (!whole(packet, extension, length)) return null;
    seen(packet, extension);

    if (next === HOP_BY_HOP && here.at === start.at && start.lengthUnknown) here = applyJumbo(packet, here, length);
    if (next === FRAGMENT) {
      const word = number(packet, here.at + 2, 2);
      const offset = word >> 3;
      const more = (word & 1) !== 0;
      // RFC 6946: offset 0 and M 0 is an atomic fragment, which is no fragment.
      if (offset !== 0 || more) packet.fields.set(`${level}.frag`, 1n);
      if (more) here = { ...here, fragment: true };
      if (offset !== 0) {
        packet.fields.set(`${level}.ip_protocol`, big(packet, here.at, 1));
        return null;
      }
    }
    next = number(packet, here.at, 1);
    here = { ...here, at: here.at + length };
  }
  packet.fields.set(`${level}.ip_protocol`, BigInt(next));
  const kind = byProtocol(next);
  return kind ? { ...here, kind } : null;
}

/** The headers that are walked over. Mobility, HIP, Shim6 and "no next header" end the walk as the upper layer. */
function extensionName(protocol: number): string | null {
  switch (protocol) {
    // SPEC: hop-by-hop options are walked over wherever they stand, not only directly behind the fixed header.
    case HOP_BY_HOP:
      return "hop_by_hop";
    case ROUTING:
      return "routing";
    case FRAGMENT:
      return "fragment";
    case AH:
      return "ah";
    case DESTINATION:
      return "destination";
    default:
      return null;
  }
}

function extensionLength(protocol: number, lengthByte: number): number {
  if (protocol === FRAGMENT) return 8; // its second byte is reserved (RFC 8200 section 4.5)
  if (protocol === AH) return (lengthByte + 2) * 4; // RFC 4302 section 2.2
  return (lengthByte + 1) * 8;
}

/** RFC 2675: the jumbo payload option (type 0xC2) in the first hop-by-hop header says the length that 0 stands for. */
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
      // SPEC: a sane jumbo length has four bytes, is above 65535 (RFC 2675 section 3) and ends within the frame.
      // The first option of that type decides.
      const jumbo = length === 4 ? number(packet, at + 2, 4) : 0;
      if (jumbo <= 65535 || step.at + jumbo > step.wireEnd) return step;
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

/** The step with its bounds drawn in to where the IP packet ends: Ethernet padding is not payload. */
function within(step: Step, packetEnd: number): Step {
  return { ...step, end: Math.min(step.end, packetEnd), wireEnd: packetEnd };
}
