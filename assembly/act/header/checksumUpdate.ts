/**
 * Incremental checksum updates (RFC 1624, equation 3). A wrong checksum stays as wrong as it was.
 * A difference is the sum of ~old + new over 16-bit words, big-endian, folded to 16 bits. The
 * checksums that cover a change:
 *
 *     IPv4 header           its own checksum
 *     addresses             those of TCP, UDP, ICMPv6 above, whose pseudo header has them
 *     TCP, UDP              their own
 *     anything inner, GTP-U the checksum of the outer UDP header, or of GRE: of all that has changed below, checksums included
 */
import { PLACE_INNER, Place } from "../../../src/abi/program";
import { be16 } from "../../wire/cursor";
import { offsetOf, PLACE_GRE, PLACE_ICMPV6, PLACE_ROUTING } from "./places";

const IPV4_CHECKSUM: usize = 10;
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
const ICMPV6_CHECKSUM: usize = 2;
const GRE_CHECKSUM: usize = 4;
const GRE_HAS_CHECKSUM: u32 = 0x80;
/**
 * The bit of an IP header where its addresses begin, and for IPv6 the bit where the destination
 * begins.
 */
const IPV4_ADDRESSES: u32 = 96;
const IPV6_ADDRESSES: u32 = 64;
const IPV6_DESTINATION: u32 = 192;

// @ts-ignore: decorator
@inline
export function fold(sum: u32): u32 {
  sum = (sum & 0xffff) + (sum >> 16);
  return (sum & 0xffff) + (sum >> 16);
}

/**
 * Updates all checksums that cover the bits from `bit` on of the header at a place, which changed
 * by `difference`.
 */
export function cover(frame: usize, place: u32, bit: u32, difference: u32): void {
  const level = place & PLACE_INNER;
  let all = difference;
  switch (place - level) {
    case Place.ip:
    case Place.ipv4:
    case Place.ipv6:
      all += network(frame, level, bit, difference);
      break;
    case Place.tcp:
      all += adjust(at(frame, level + Place.tcp) + TCP_CHECKSUM, difference);
      break;
    case Place.udp:
      all += adjustUdp(at(frame, level + Place.udp) + UDP_CHECKSUM, difference);
      break;
    case Place.gtpu:
      tunnel(frame, place, difference);
      return;
  }
  if (level != 0) tunnel(frame, place, fold(all));
}

/**
 * Updates the IPv4 header checksum and the upper-layer checksum for a change of the network header;
 * returns the sum of their differences.
 */
function network(frame: usize, level: u32, bit: u32, difference: u32): u32 {
  const header = at(frame, level + Place.ip);
  if (load<u8>(header) >> 4 == 4) {
    const own = adjust(header + IPV4_CHECKSUM, difference);
    return bit >= IPV4_ADDRESSES ? own + pseudoHeader(frame, level, difference) : own;
  }
  // RFC 8200 section 8.1: with segments left, the pseudo header has another destination.
  if (bit < IPV6_ADDRESSES || (bit >= IPV6_DESTINATION && offsetOf(level + PLACE_ROUTING) != 0)) return 0;
  return pseudoHeader(frame, level, difference);
}

function pseudoHeader(frame: usize, level: u32, difference: u32): u32 {
  if (offsetOf(level + Place.tcp) != 0) return adjust(at(frame, level + Place.tcp) + TCP_CHECKSUM, difference);
  if (offsetOf(level + Place.udp) != 0) return adjustUdp(at(frame, level + Place.udp) + UDP_CHECKSUM, difference);
  const icmpv6 = offsetOf(level + PLACE_ICMPV6) != 0 && offsetOf(level + Place.ipv6) != 0;
  return icmpv6 ? adjust(at(frame, level + PLACE_ICMPV6) + ICMPV6_CHECKSUM, difference) : 0;
}

/**
 * Updates the outer packet's checksum over its payload, which changed by `difference`; one of the
 * changed headers is at `place`.
 */
function tunnel(frame: usize, place: u32, difference: u32): void {
  if (offsetOf(Place.udp) != 0) adjustUdp(at(frame, Place.udp) + UDP_CHECKSUM, difference);
  else if (offsetOf(PLACE_GRE) != 0 && load<u8>(at(frame, PLACE_GRE)) & GRE_HAS_CHECKSUM) {
    // A source route may have an odd length. Then the 16-bit words of GRE and of its payload are
    // out of step (RFC 1071, byte order).
    const odd = (offsetOf(place) - offsetOf(PLACE_GRE)) & 1;
    adjust(at(frame, PLACE_GRE) + GRE_CHECKSUM, odd ? bswap<u16>(<u16>difference) : difference);
  }
}

/** The address of a place that the frame has. */
// @ts-ignore: decorator
@inline
function at(frame: usize, place: u32): usize {
  return frame + <usize>(offsetOf(place) - 1);
}

/** Updates a checksum; returns its own difference. */
function adjust(address: usize, difference: u32): u32 {
  const old = be16(address);
  const sum = ~fold((~old & 0xffff) + difference) & 0xffff;
  return replace(address, old, sum);
}

/** RFC 768: 0 means that there is no checksum, and a sum of 0 is sent as its complement. */
function adjustUdp(address: usize, difference: u32): u32 {
  const old = be16(address);
  if (old == 0) return 0;
  const sum = ~fold((~old & 0xffff) + difference) & 0xffff;
  return replace(address, old, sum == 0 ? 0xffff : sum);
}

function replace(address: usize, old: u32, sum: u32): u32 {
  store<u16>(address, bswap<u16>(<u16>sum));
  return fold((~old & 0xffff) + sum);
}
