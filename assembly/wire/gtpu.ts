/**
 * GTP-U (3GPP TS 29.281 section 5), known by UDP destination port 2152.
 *
 *     | version 3, PT 1, 0 1, E 1, S 1, PN 1 | type 1 | length 2 | TEID 4 |
 *     | sequence 2 | N-PDU 1 | next extension 1 |   with E, S or PN
 *     | length 1, in 4 bytes | content | next extension 1 | ...   with E
 */
import { Header, Stop } from "../../src/abi/headers";
import {
  PRESENT_GTPU,
  PRESENT_GTPU_DW_2,
  PRESENT_GTPU_EXTENSION,
  MISC3_GTPU_DW_0,
  MISC3_GTPU_DW_2,
  MISC3_GTPU_FIRST_EXT_DW_0,
  MISC3_GTPU_MSG_FLAGS,
  MISC3_GTPU_MSG_TYPE,
  MISC3_GTPU_TEID,
} from "../../src/abi/key";
import { Cursor, has, Key, note, stop, tunnelDwords } from "./cursor";
import { byNibble } from "./ip";

export const PORT_GTPU: u32 = 2152;

const SIZE: usize = 8;
const LONG_SIZE: usize = 12;
const EXTENSION_SIZE: usize = 4;
const VERSION_AND_TYPE: u32 = 0xf0;
/** Version 1, protocol type GTP. */
const VERSION_1: u32 = 0x30;
const LONG: u32 = 7;
const EXTENDED: u32 = 4;
const G_PDU: u32 = 255;

/**
 * The EtherType of the tunnel's payload; 0 if the parser does not read it. SPEC: of another version
 * or of GTP' the parser reads the fixed header only (docs/parsing.md).
 */
export function gtpu(): u32 {
  const at = Cursor.at;
  if (!has(Header.gtpu, SIZE)) return 0;
  const flags: u32 = load<u8>(at);
  const known = (flags & VERSION_AND_TYPE) == VERSION_1;
  const long = known && (flags & LONG) != 0;
  // SPEC: a third dword that is cut takes no field of the first two with it.
  const cut = long && !has(Header.gtpu, LONG_SIZE);
  note(Header.gtpu, at);

  const misc3 = Key.misc3;
  store<u32>(misc3, load<u32>(at), MISC3_GTPU_DW_0);
  store<u8>(misc3, <u8>flags, MISC3_GTPU_MSG_FLAGS);
  store<u8>(misc3, load<u8>(at, 1), MISC3_GTPU_MSG_TYPE);
  store<u32>(misc3, load<u32>(at, 4), MISC3_GTPU_TEID);
  Cursor.tunnels |= PRESENT_GTPU;
  if (cut) {
    tunnelDwords(at, SIZE >> 2);
    Cursor.at = Cursor.end;
    return 0;
  }
  if (long) {
    store<u32>(misc3, load<u32>(at, 8), MISC3_GTPU_DW_2);
    Cursor.tunnels |= PRESENT_GTPU_DW_2;
  }
  Cursor.at = at + (long ? LONG_SIZE : SIZE);
  const whole = !(long && flags & EXTENDED) || extensions(load<u8>(at, 11));
  tunnelDwords(at, (Cursor.at - at) >> 2);
  return known && whole && <u32>load<u8>(at, 1) == G_PDU ? byNibble() : 0;
}

/**
 * Walks the extension headers; false if one of them is not whole. Each has at least 4 bytes, so the
 * frame's length bounds the loop.
 */
function extensions(next: u32): bool {
  let first = true;
  while (next != 0) {
    const at = Cursor.at;
    if (!has(Header.gtpu_extension, EXTENSION_SIZE)) return false;
    const size = (<usize>load<u8>(at)) << 2;
    if (size == 0) {
      stop(Header.gtpu_extension, Stop.bad_header_length, EXTENSION_SIZE, Cursor.end - at);
      return false;
    }
    if (!has(Header.gtpu_extension, size)) return false;
    note(Header.gtpu_extension, at);
    if (first) {
      store<u32>(Key.misc3, load<u32>(at), MISC3_GTPU_FIRST_EXT_DW_0);
      Cursor.tunnels |= PRESENT_GTPU_EXTENSION;
      first = false;
    }
    Cursor.at = at + size;
    next = load<u8>(at + size - 1);
  }
  return true;
}
