/**
 * Pseudo headers of captures without Ethernet. In: the cursor. Out: the EtherType of the next
 * header, 0 if it is unknown. SPEC: they fill no field; L2 is absent (docs/parsing.md).
 *
 *     null, loop:      | family 4 |
 *     cooked (SLL):    | type 2 | ARPHRD 2 | address length 2 | address 8 | protocol 2 |
 *     cooked 2 (SLL2): | protocol 2 | 0 2 | interface 4 | ARPHRD 2 | type 1 | address length 1 | address 8 |
 */
import { Header, Link } from "../../src/abi/headers";
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from "../../src/abi/protocols";
import { be16, be32, Cursor, has, note } from "./cursor";
import { isTag } from "./ethernet";

const SLL_SIZE: usize = 16;
const SLL_PROTOCOL: usize = 14;
const SLL2_SIZE: usize = 20;

export function loopback(link: u32): u32 {
  const at = Cursor.at;
  if (!has(Header.loopback, 4)) return 0;
  note(Header.loopback, at);
  Cursor.at = at + 4;
  let family = be32(at);
  // Null headers have the byte order of the capturing host. Families are small numbers, so a large
  // one has the other order.
  if (link == Link.null_loopback && family > 0xffff) family = bswap(family);
  switch (family) {
    case 2:
      return ETHERTYPE_IPV4;
    // AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, Darwin.
    case 10:
    case 24:
    case 28:
    case 30:
      return ETHERTYPE_IPV6;
    default:
      return 0;
  }
}

export function linuxCooked(): u32 {
  const at = Cursor.at;
  if (!has(Header.linux_cooked, SLL_SIZE)) return 0;
  note(Header.linux_cooked, at);
  Cursor.at = at + SLL_SIZE;
  return behindTags(be16(at + SLL_PROTOCOL));
}

export function linuxCooked2(): u32 {
  const at = Cursor.at;
  if (!has(Header.linux_cooked_v2, SLL2_SIZE)) return 0;
  note(Header.linux_cooked_v2, at);
  Cursor.at = at + SLL2_SIZE;
  return behindTags(be16(at));
}

/** SPEC: a cooked capture has no L2 fields, so the parser walks its VLAN tags and fills none. */
function behindTags(ethertype: u32): u32 {
  while (isTag(ethertype)) {
    const at = Cursor.at;
    if (!has(Header.vlan, 4)) return 0;
    note(Header.vlan, at);
    ethertype = be16(at + 2);
    Cursor.at = at + 4;
  }
  return ethertype;
}
