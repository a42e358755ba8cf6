/**
 * A number that both directions between two addresses have in common. The usual headers are read here, without the parser:
 * Ethernet, VLAN tags, IPv4 or IPv6.
 */
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6, TPID_CVLAN, TPID_SVLAN } from "../../abi/protocols.js";
import { LINK_TYPES } from "../../packet/capture/linkTypes.js";

/** The bytes of the MAC addresses, and of a VLAN tag. */
const MACS = 12;
const TAG = 4;
/** Where the addresses of an IP header begin, their bytes, and the bytes of the shortest header. */
const IPV4 = { source: 12, bytes: 4, header: 20 } as const;
const IPV6 = { source: 8, bytes: 16, header: 40 } as const;

/**
 * The number of the addresses of a frame. Null where the parser must find them.
 * @param linkType LINKTYPE_ number
 */
export function addressesOf(bytes: Uint8Array, linkType: number): number | null {
  if (linkType !== LINK_TYPES.ETHERNET) return null;
  let at = MACS;
  let type = be16(bytes, at);
  while (type === TPID_CVLAN || type === TPID_SVLAN) {
    at += TAG;
    type = be16(bytes, at);
  }
  const ip = at + 2;
  const version = (bytes[ip] ?? 0) >> 4;
  if (type === ETHERTYPE_IPV4 && version === 4) return between(bytes, ip, IPV4);
  return type === ETHERTYPE_IPV6 && version === 6 ? between(bytes, ip, IPV6) : null;
}

/** The number of two addresses, whichever comes first. Each is its 32-bit words, the first one first. */
export function pairHash(a: readonly number[], b: readonly number[]): number {
  return mixed(mixedWords(a) + mixedWords(b));
}

/** A number of 32 bits that depends on every bit of this one (MurmurHash3, fmix32). */
export function mixed(number: number): number {
  let h = number | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function between(
  bytes: Uint8Array,
  ip: number,
  { source, bytes: length, header }: typeof IPV4 | typeof IPV6,
): number | null {
  if (bytes.length < ip + header) return null;
  const from = ip + source;
  return mixed(mixedBytes(bytes, from, length) + mixedBytes(bytes, from + length, length));
}

function mixedWords(words: readonly number[]): number {
  return words.reduce((hash, word) => mixed(hash ^ word), 0);
}

/** As `mixedWords` of the words at these bytes. */
function mixedBytes(bytes: Uint8Array, at: number, length: number): number {
  let hash = 0;
  for (let end = at + length; at < end; at += 4) hash = mixed(hash ^ ((be16(bytes, at) << 16) | be16(bytes, at + 2)));
  return hash;
}

function be16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
