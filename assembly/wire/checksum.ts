/**
 * Internet checksums (RFC 1071). The parser verifies them only when a rule matches them.
 * The sums run over little-endian words: a ones' complement sum does not depend on the byte order
 * (RFC 1071 section 2). The sum of data that includes a correct checksum is 0xffff.
 */
import {
  LAYER_OK,
  OK_IPV4_CHECKSUM,
  OK_L3,
  OK_L4,
  OK_L4_CHECKSUM,
  NEEDS_INNER_IPV4_CHECKSUM,
  NEEDS_INNER_L4_CHECKSUM,
  NEEDS_OUTER_IPV4_CHECKSUM,
  NEEDS_OUTER_L4_CHECKSUM,
} from "../../src/abi/key";
import { PROTOCOL_TCP, PROTOCOL_UDP } from "../../src/abi/protocols";
import { be16, Cursor, Key } from "./cursor";
import { Fragment, Upper } from "./upper";

/** The checksums to verify at a level: the OK bits of the key that some rule matches. */
export const CHECK_IPV4: u32 = OK_IPV4_CHECKSUM;
export const CHECK_L4: u32 = OK_L4_CHECKSUM;

export function outerChecks(wanted: u32): u32 {
  return (wanted & NEEDS_OUTER_IPV4_CHECKSUM ? CHECK_IPV4 : 0) | (wanted & NEEDS_OUTER_L4_CHECKSUM ? CHECK_L4 : 0);
}

export function innerChecks(wanted: u32): u32 {
  return (wanted & NEEDS_INNER_IPV4_CHECKSUM ? CHECK_IPV4 : 0) | (wanted & NEEDS_INNER_L4_CHECKSUM ? CHECK_L4 : 0);
}

/** Whether the checksum of the IPv4 header of `size` bytes at `header` is correct. */
export function ipv4Sums(header: usize, size: usize): bool {
  let total = <u64>load<u32>(header) + <u64>load<u32>(header, 4) + <u64>load<u32>(header, 8) + addresses4(header);
  if (size > IPV4_SIZE) total += sum(header + IPV4_SIZE, size - IPV4_SIZE);
  return fold(total) == 0xffff;
}

/** The checksum of an IPv4 header whose checksum field is 0, in the byte order of memory. */
export function headerChecksum(header: usize): u16 {
  return <u16>~fold(sum(header, ((<usize>load<u8>(header)) & 15) << 2));
}

const IPV4_SIZE: usize = 20;

/** The sum of both addresses of an IPv4 header. */
// @ts-ignore: decorator
@inline
function addresses4(header: usize): u64 {
  return <u64>load<u32>(header, 12) + <u64>load<u32>(header, 16);
}

/**
 * Verifies the TCP segment at `at`, which ends with the IP payload. `l4_ok` is decided before.
 * SPEC: the bit stays 0 for a segment that may be incomplete, or that is not at its final
 * destination yet (docs/parsing.md).
 */
export function verifyTcp(at: usize): void {
  if (Cursor.end == Cursor.wireEnd) verify(at, Cursor.wireEnd - at, PROTOCOL_TCP);
}

/**
 * Verifies the UDP datagram at `at` over the length in its header. A checksum of 0 means that there
 * is none, which is valid over IPv4 only.
 */
export function verifyUdp(at: usize): void {
  const length = <usize>be16(at + 4);
  if (length > Cursor.end - at) return;
  if (load<u16>(at, 6) != 0) verify(at, length, PROTOCOL_UDP);
  else if (load<u8>(Upper.header) >> 4 == 4 && checkable()) right();
}

function verify(at: usize, length: usize, protocol: u32): void {
  if (checkable() && fold(pseudoHeader(length, protocol) + sum(at, length)) == 0xffff) right();
}

function checkable(): bool {
  const ok = <u32>load<u8>(Key.layer, LAYER_OK);
  return (ok & (OK_L3 | OK_L4)) == (OK_L3 | OK_L4) && Upper.fragment == Fragment.whole && !underWay();
}

function right(): void {
  store<u8>(Key.layer, <u8>(load<u8>(Key.layer, LAYER_OK) | OK_L4_CHECKSUM), LAYER_OK);
}

/**
 * The pseudo header: source and final destination, length, protocol (RFC 9293 section 3.1, RFC 768, RFC 8200 section
 * 8.1).
 */
function pseudoHeader(length: usize, protocol: u32): u64 {
  const header = Upper.header;
  const addresses = load<u8>(header) >> 4 == 4 ? addresses4(header) : sum(header + 8, 16) + sum(Upper.destination, 16);
  return addresses + <u64>bswap(<u32>length) + <u64>(protocol << 8);
}

/** Whether a source route has stops left, and the final destination is not known. */
function underWay(): bool {
  const header = Upper.header;
  if (load<u8>(header) >> 4 != 4) return Upper.destination == 0;
  const end = header + ((<usize>(load<u8>(header) & 15)) << 2);
  let option = header + 20;
  while (option < end) {
    const type: u32 = load<u8>(option);
    if (type == OPTION_END) return false;
    if (type == OPTION_NOP) {
      option++;
      continue;
    }
    if (end - option < 2) return false;
    const length = <usize>load<u8>(option, 1);
    if (length < 2 || end - option < length) return false;
    if ((type == LOOSE_ROUTE || type == STRICT_ROUTE) && length > 2 && <usize>load<u8>(option, 2) <= length)
      return true;
    option += length;
  }
  return false;
}

const OPTION_END: u32 = 0;
const OPTION_NOP: u32 = 1;
const LOOSE_ROUTE: u32 = 131;
const STRICT_ROUTE: u32 = 137;

/**
 * A sum of the bytes at `at` that folds to the sum of the 16-bit words; an odd last byte is padded
 * with 0. It reads 32 bits at a time, and 128 bits from LONG bytes on. Nothing overflows: a frame
 * has less than 2^19 bytes.
 */
function sum(at: usize, length: usize): u64 {
  let total: u64 = 0;
  if (length >= LONG) {
    let lanes = i32x4.splat(0);
    for (; length >= 16; length -= 16, at += 16) {
      lanes = i32x4.add(lanes, i32x4.extadd_pairwise_i16x8_u(v128.load(at)));
    }
    const pairs = i64x2.add(i64x2.extend_low_i32x4_u(lanes), i64x2.extend_high_i32x4_u(lanes));
    total = <u64>i64x2.extract_lane(pairs, 0) + <u64>i64x2.extract_lane(pairs, 1);
  }
  for (; length >= 4; length -= 4, at += 4) total += <u64>load<u32>(at);
  if (length & 2) {
    total += <u64>load<u16>(at);
    at += 2;
  }
  return length & 1 ? total + <u64>load<u8>(at) : total;
}

const LONG: usize = 64;

/**
 * Adds the carries back in: 0xffff when the sum is correct. The sum is below 2^49, so three
 * additions are enough.
 */
// @ts-ignore: decorator
@inline
function fold(total: u64): u32 {
  total = (total & 0xffffffff) + (total >> 32);
  total = (total & 0xffff) + ((total >> 16) & 0xffff) + (total >> 32);
  return <u32>((total & 0xffff) + (total >> 16));
}
