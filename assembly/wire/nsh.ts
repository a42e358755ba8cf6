/**
 * The network service header (RFC 8300 section 2), EtherType 0x894f or next protocol 4 of VXLAN-GPE.
 *
 *     | version 2, O, unassigned, TTL 6, length 6 | unassigned 4, MD type 4, next protocol 8 |
 *     | service path identifier 24, service index 8 | context headers |
 * The length is that of the whole header, in words of four bytes. MODEL: nothing of it is matched,
 * and nothing after it is read (docs/parsing.md).
 */
import { Header, Stop } from "../../src/abi/headers";
import { be16, Cursor, has, note, stop } from "./cursor";

/** The base header and the service path header. */
const SIZE: usize = 8;

export function nsh(): void {
  const at = Cursor.at;
  if (!has(Header.nsh, SIZE)) return;
  const size = (<usize>(be16(at) & 0x3f)) << 2;
  if (size < SIZE) {
    stop(Header.nsh, Stop.bad_header_length, SIZE, Cursor.end - at);
    return;
  }
  if (!has(Header.nsh, size)) return;
  note(Header.nsh, at);
  Cursor.at = at + size;
}
