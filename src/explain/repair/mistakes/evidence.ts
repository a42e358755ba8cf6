/**
 * Whether bytes after UDP look like a header that the parser reads at another port. Each check asks
 * for more than chance gives: constant bits, and a packet inside that is one.
 */
import { TPID_CVLAN, TPID_SVLAN } from "../../../abi/protocols.js";
import { ETHERTYPES, headerBy, PROTOCOLS, TUNNEL_ETHERTYPES } from "../../../headers/announcers.js";
import { HEADERS, type OVER_UDP } from "../../../headers/headers.js";
import { internetChecksum } from "../../../packet/checksum.js";

type OverUdp = Exclude<(typeof OVER_UDP)[number], "esp">;
type Bytes = Uint8Array;

/** Whether these bytes, all that follows the UDP header, look like a header and what it carries. */
export function looksLike(header: OverUdp, bytes: Bytes): boolean {
  return CHECKS[header](bytes);
}

const CHECKS: Readonly<Record<OverUdp, (bytes: Bytes) => boolean>> = {
  // | flags 0x08 | reserved 3 | VNI 3 | reserved 1 | Ethernet
  vxlan: (bytes) => word(bytes, 0) === 0x08000000 && bytes[7] === 0 && isEthernet(bytes.subarray(8)),
  // | version 2, I, P | reserved 2 | next protocol 1 | VNI 3 | reserved 1 |
  vxlan_gpe: (bytes) => {
    const carried = GPE[bytes[3] ?? 0];
    const flags = bytes[0] ?? 0;
    return (flags & 0xf4) === 4 && half(bytes, 1) === 0 && bytes[7] === 0 && carried?.(bytes.subarray(8)) === true;
  },
  // | version 2, option length 6 | O, C, reserved 6 | protocol type 2 | VNI 3 | reserved 1 | options |
  geneve: (bytes) => {
    const [first = 0xff, flags = 0xff] = bytes;
    const plain = first >> 6 === 0 && (flags & 0x3f) === 0 && bytes[7] === 0;
    return plain && isTyped(half(bytes, 2), bytes.subarray(8 + 4 * (first & 0x3f)));
  },
  // | version 1, PT, flags | type 255 | length of what follows the first 8 bytes 2 | TEID 4 |
  gtpu: (bytes) => {
    const [flags = 0, type] = bytes;
    return (flags & 0xf8) === 0x30 && type === 255 && half(bytes, 2) === bytes.length - 8;
  },
  mpls: (bytes) => {
    for (let at = 0; at + 4 <= bytes.length; at += 4) {
      if ((word(bytes, at) & 0xff) === 0) return false;
      if ((word(bytes, at) & 0x100) !== 0) return isWholeIp(bytes.subarray(at + 4));
    }
    return false;
  },
  // | opcode | SE, M, pad, version 0 | P_Key 2 | F, B, reserved 6 | QP 3 | A, reserved 7 | PSN 3 | ... ICRC 4
  bth: (bytes) => {
    const [, flags = 0xff, , , before = 0xff, , , , after = 0xff] = bytes;
    const constant = (flags & 0x0f) === 0 && (before & 0x3f) === 0 && (after & 0x7f) === 0;
    return constant && (half(bytes, 2) & 0x7fff) === 0x7fff && bytes.length >= 16 && bytes.length % 4 === 0;
  },
};

/** What VXLAN-GPE carries, by its next protocol. */
const GPE: Readonly<Record<number, (bytes: Bytes) => boolean>> = {
  [HEADERS.ipv4.announced.gpe]: (bytes) => isIp(bytes, 4),
  [HEADERS.ipv6.announced.gpe]: (bytes) => isIp(bytes, 6),
  [HEADERS.ethernet.announced.gpe]: isEthernet,
};

function half(bytes: Bytes, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

function word(bytes: Bytes, at: number): number {
  return half(bytes, at) * 0x10000 + half(bytes, at + 2);
}

/** A frame of a type that has a name. */
function isEthernet(bytes: Bytes): boolean {
  const type = half(bytes, 12);
  const isNamed = headerBy(ETHERTYPES, type) !== undefined || type === TPID_CVLAN || type === TPID_SVLAN;
  return bytes.length >= 14 && isNamed;
}

/** A packet of a version, whose length fits. */
function isIp(bytes: Bytes, version = (bytes[0] ?? 0) >> 4): boolean {
  const [first = 0] = bytes;
  if (first >> 4 !== version) return false;
  if (version === 6) return bytes.length >= 40 && half(bytes, 4) + 40 <= bytes.length;
  return version === 4 && (first & 15) >= 5 && half(bytes, 2) >= 20 && half(bytes, 2) <= bytes.length;
}

/** A packet that ends where the bytes do, with a checksum that is right or left out, or a protocol that has a name. */
function isWholeIp(bytes: Bytes): boolean {
  if (!isIp(bytes)) return false;
  const [first = 0, , , , , , next = 0] = bytes;
  if (first >> 4 === 6) return half(bytes, 4) + 40 === bytes.length && headerBy(PROTOCOLS, next) !== undefined;
  const isSummed = half(bytes, 10) === 0 || internetChecksum(bytes.subarray(0, 4 * (first & 15))) === 0;
  return half(bytes, 2) === bytes.length && isSummed;
}

function isTyped(type: number, bytes: Bytes): boolean {
  const header = headerBy(TUNNEL_ETHERTYPES, type);
  if (header === undefined) return false;
  return header === "ethernet" ? isEthernet(bytes) : isIp(bytes, header === "ipv4" ? 4 : 6);
}
