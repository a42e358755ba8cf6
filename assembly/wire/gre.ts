/**
 * GRE (RFC 2784, 2890; routing RFC 1701; version 1 RFC 2637; NVGRE RFC 7637), IP protocol 47.
 *
 *     | C R K S s recur 3 | A, flags 4, version 3 | protocol type 2 |
 *     | checksum 2 | offset 2 |  with C or R
 *     | key 4 |  with K        | sequence 4 |  with S
 *     | acknowledgement 4 |  other versions, with A
 *     | address family 2 | offset 1 | length 1 | ... | 0 2 | 0 1 | 0 1 |  version 0, with R
 * SPEC: version 1 that carries an IP packet or a frame is read as version 0.
 */
import { Header } from "../../src/abi/headers";
import {
  BITS_GRE_C,
  BITS_GRE_K,
  BITS_GRE_S,
  EXT_GRE_FLAGS,
  PRESENT_GRE,
  PRESENT_GRE_KEY,
  MISC_BITS,
  MISC_GRE_KEY,
  MISC_GRE_PROTOCOL,
} from "../../src/abi/key";
import { ETHERTYPE_ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from "../../src/abi/protocols";
import { be16, Cursor, has, Key, note, tunnelDwords } from "./cursor";
import { isMpls } from "./ethernet";
import { mplsOverGre, mplsOverInnerGre } from "./mpls";

const FIXED: usize = 4;
const CHECKSUM: u32 = 0x8000;
const ROUTING: u32 = 0x4000;
const KEY: u32 = 0x2000;
const SEQUENCE: u32 = 0x1000;
const ACKNOWLEDGEMENT: u32 = 0x0080;
const VERSION: u32 = 7;
/** C, K and S have the same places in misc as on the wire. */
const PRESENT_BITS: u32 = BITS_GRE_C | BITS_GRE_K | BITS_GRE_S;
/** | address family 2 | offset 1 | length 1 | */
const ROUTE_ENTRY: usize = 4;

/**
 * The EtherType of the tunnel's payload; 0 if the parser does not read it. SPEC: the key is the
 * dword after the checksum, in every version. What follows the first dword is cut without it
 * (docs/parsing.md).
 */
export function gre(): u32 {
  const at = Cursor.at;
  if (!has(Header.gre, FIXED)) return 0;
  const size = sizeOf(at);
  const whole = has(Header.gre, size);
  note(Header.gre, at);

  const flags = be16(at);
  const misc = Key.misc;
  store<u8>(misc, <u8>((load<u8>(misc, MISC_BITS) & ~PRESENT_BITS) | (load<u8>(at) & PRESENT_BITS)), MISC_BITS);
  store<u16>(misc, load<u16>(at, 2), MISC_GRE_PROTOCOL);
  store<u16>(Key.ext, load<u16>(at), EXT_GRE_FLAGS);
  Cursor.tunnels |= PRESENT_GRE;
  if (!whole) {
    tunnelDwords(at, 1);
    Cursor.at = Cursor.end;
    return 0;
  }
  if (flags & KEY) {
    store<u32>(misc, load<u32>(at + FIXED + checksumSize(flags)), MISC_GRE_KEY);
    Cursor.tunnels |= PRESENT_GRE_KEY;
  }
  tunnelDwords(at, size >> 2);
  Cursor.at = at + size;
  return isVersion0(at) ? carried(be16(at + 2)) : 0;
}

/** In the inner packet a tunnel is payload, except its first label (mpls.ts). */
export function innerGre(): void {
  const at = Cursor.at;
  if (Cursor.end - at < FIXED || !isVersion0(at) || !isMpls(be16(at + 2))) return;
  const size = sizeOf(at);
  if (Cursor.end - at >= size) mplsOverInnerGre(at + size);
}

/** Whether the header is read as one of version 0. */
function isVersion0(at: usize): bool {
  const version = be16(at) & VERSION;
  return version == 0 || (version == 1 && carriesPacket(be16(at + 2)));
}

function carriesPacket(type: u32): bool {
  return type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6 || type == ETHERTYPE_ETHERNET;
}

// @ts-ignore: decorator
@inline
function checksumSize(flags: u32): usize {
  return flags & (CHECKSUM | ROUTING) ? 4 : 0;
}

/**
 * The size of the header, whose first dword is there, with its source route. If the route is cut,
 * the size up to the end of the cut part.
 */
function sizeOf(at: usize): usize {
  const had = Cursor.end - at;
  const flags = be16(at);
  const size = FIXED + checksumSize(flags) + (flags & KEY ? 4 : 0) + (flags & SEQUENCE ? 4 : 0);
  if (!isVersion0(at)) return size + (flags & ACKNOWLEDGEMENT ? 4 : 0);
  return flags & ROUTING && size <= had ? routed(at, size, had) : size;
}

/** A source route ends with an entry of family 0 and length 0. */
function routed(at: usize, size: usize, had: usize): usize {
  while (true) {
    if (had - size < ROUTE_ENTRY) return size + ROUTE_ENTRY;
    const entry = at + size;
    const length: usize = load<u8>(entry, 3);
    size += ROUTE_ENTRY + length;
    if (size > had || (length == 0 && load<u16>(entry) == 0)) return size;
  }
}

/** PPP, ERSPAN, NSH and all others are payload (docs/parsing.md). */
function carried(type: u32): u32 {
  if (carriesPacket(type)) return type;
  return isMpls(type) ? mplsOverGre() : 0;
}
