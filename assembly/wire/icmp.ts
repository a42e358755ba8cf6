/**
 * ICMPv4 (RFC 792) and ICMPv6 (RFC 4443), which have one layout. SPEC: the protocol number selects
 * the fields under either IP version, for the outer packet only (docs/parsing.md).
 *
 *     | type 1 | code 1 | checksum 2 | rest of header 4 |
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import {
  PRESENT_ICMP,
  PRESENT_ICMPV6,
  MISC3_ICMP_DATA,
  MISC3_ICMP_TYPE,
  MISC3_ICMPV6_DATA,
  MISC3_ICMPV6_TYPE,
} from "../../src/abi/key";
import { Cursor, has, Key, note } from "./cursor";

const SIZE: usize = 8;

export function icmp(): void {
  if (fill(Header.icmp, MISC3_ICMP_TYPE, MISC3_ICMP_DATA)) Cursor.present |= PRESENT_ICMP;
}

export function icmpv6(): void {
  if (fill(Header.icmpv6, MISC3_ICMPV6_TYPE, MISC3_ICMPV6_DATA)) Cursor.present |= PRESENT_ICMPV6;
}

function fill(header: u32, type: usize, data: usize): bool {
  const at = Cursor.at;
  if (!has(header, SIZE)) return false;
  note(header, at);
  Cursor.at = at + SIZE;
  if (Cursor.level != LEVEL_OUTER) return false;
  store<u16>(Key.misc3 + type, load<u16>(at));
  store<u32>(Key.misc3 + data, load<u32>(at, 4));
  return true;
}
