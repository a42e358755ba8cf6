/**
 * ARP (RFC 826): known by its EtherType; the match parameters have no field for it.
 *
 *     | hardware 2 | protocol 2 | hardware length 1 | protocol length 1 | operation 2 | addresses ... |
 */
import { Header } from "../../src/abi/headers";
import { Cursor, has, note } from "./cursor";

const FIXED: usize = 8;

export function arp(): void {
  const at = Cursor.at;
  if (!has(Header.arp, FIXED)) return;
  const size = FIXED + 2 * (<usize>load<u8>(at, 4) + <usize>load<u8>(at, 5));
  if (!has(Header.arp, size)) return;
  note(Header.arp, at);
  Cursor.at = at + size;
}
