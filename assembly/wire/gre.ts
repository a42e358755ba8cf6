/**
 * GRE (RFC 2784, 2890; routing RFC 1701; version 1 RFC 2637; NVGRE RFC 7637), IP protocol 47.
 *
 *     | C R K S s recur 3 | A, flags 4, version 3 | protocol type 2 |
 *     | checksum 2 | offset 2 |  with C or R
 *     | key 4 |  with K        | sequence 4 |  with S
 *     | acknowledgement 4 |  versions other than 0, with A
 *     | address family 2 | offset 1 | length 1 | ... | 0 2 | 0 1 | 0 1 |  version 0, with R
 */
import { Header } from "../../src/abi/headers";
import { EXT_GRE_FLAGS, HERE_GRE, HERE_GRE_KEY, MISC_BITS, MISC_GRE_KEY, MISC_GRE_PROTOCOL } from "../../src/abi/key";
import { be16, Cursor, has, Key, note, tunnelDwords } from "./cursor";
import { ETHERTYPE_ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, isMpls } from "./ethernet";
import { mplsOverGre } from "./mpls";

const FIXED: usize = 4;
const CHECKSUM: u32 = 0x8000;
const ROUTING: u32 = 0x4000;
const KEY: u32 = 0x2000;
const SEQUENCE: u32 = 0x1000;
const ACKNOWLEDGEMENT: u32 = 0x0080;
const VERSION: u32 = 7;
/** C, K and S lie in misc as they lie on the wire. */
const PRESENT_BITS: u32 = 0xb0;
/** | address family 2 | offset 1 | length 1 | */
const ROUTE_ENTRY: usize = 4;

/**
 * What the tunnel carries, as an EtherType; 0 for nothing that is read.
 * SPEC: the key is the dword behind the checksum, whatever the version; only version 0 carries a packet (parsing rulings).
 */
export function gre(): u32 {
  const at = Cursor.at;
  if (!has(Header.gre, FIXED)) return 0;
  const flags = be16(at);
  const key = FIXED + (flags & (CHECKSUM | ROUTING) ? 4 : 0);
  let size = key + (flags & KEY ? 4 : 0) + (flags & SEQUENCE ? 4 : 0);
  const version = flags & VERSION;
  if (version != 0 && flags & ACKNOWLEDGEMENT) size += 4;
  if (!has(Header.gre, size)) return 0;
  if (version == 0 && flags & ROUTING) {
    size = routed(size);
    if (size == 0) return 0;
  }
  note(Header.gre, at);

  const misc = Key.misc;
  store<u8>(misc, <u8>((load<u8>(misc, MISC_BITS) & ~PRESENT_BITS) | (load<u8>(at) & PRESENT_BITS)), MISC_BITS);
  store<u16>(misc, load<u16>(at, 2), MISC_GRE_PROTOCOL);
  store<u16>(Key.ext, load<u16>(at), EXT_GRE_FLAGS);
  Cursor.tunnels |= HERE_GRE;
  if (flags & KEY) {
    store<u32>(misc, load<u32>(at + key), MISC_GRE_KEY);
    Cursor.tunnels |= HERE_GRE_KEY;
  }
  tunnelDwords(at, size >> 2);
  Cursor.at = at + size;
  return version == 0 ? carried(be16(at + 2)) : 0;
}

/** The header's size with its source route, which ends with an entry of family 0 and length 0; 0 where it is cut. */
function routed(size: usize): usize {
  while (true) {
    if (!has(Header.gre, size + ROUTE_ENTRY)) return 0;
    const entry = Cursor.at + size;
    const length: usize = load<u8>(entry, 3);
    size += ROUTE_ENTRY + length;
    if (!has(Header.gre, size)) return 0;
    if (length == 0 && load<u16>(entry) == 0) return size;
  }
}

/** PPP, ERSPAN, NSH and all others are payload (parsing rulings). */
function carried(type: u32): u32 {
  if (type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6 || type == ETHERTYPE_ETHERNET) return type;
  return isMpls(type) ? mplsOverGre() : 0;
}
