/**
 * VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe), known by UDP destination port 4790.
 *
 *     | flags 1 | reserved 2 | next protocol 1 | VNI 3 | reserved 1 |
 * SPEC: the parser reads it without the I and P bits too (docs/parsing.md).
 */
import { Header } from "../../src/abi/headers";
import { PRESENT_VXLAN_GPE, MISC3_GPE_FLAGS, MISC3_GPE_NEXT_PROTOCOL, MISC3_GPE_VNI } from "../../src/abi/key";
import { ETHERTYPE_ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from "../../src/abi/protocols";
import { Cursor, has, Key, note, tunnelDwords } from "./cursor";
import { nsh } from "./nsh";

const SIZE: usize = 8;

/** The EtherType of the tunnel's payload; 0 if the parser does not read it. */
export function vxlanGpe(): u32 {
  const at = Cursor.at;
  if (!has(Header.vxlan_gpe, SIZE)) return 0;
  note(Header.vxlan_gpe, at);
  const misc3 = Key.misc3;
  store<u8>(misc3, load<u8>(at), MISC3_GPE_FLAGS);
  store<u8>(misc3, load<u8>(at, 3), MISC3_GPE_NEXT_PROTOCOL);
  store<u16>(misc3, load<u16>(at, 4), MISC3_GPE_VNI);
  store<u8>(misc3, load<u8>(at, 6), MISC3_GPE_VNI + 2);
  Cursor.tunnels |= PRESENT_VXLAN_GPE;
  tunnelDwords(at, SIZE >> 2);
  Cursor.at = at + SIZE;
  switch (load<u8>(at, 3)) {
    case 1:
      return ETHERTYPE_IPV4;
    case 2:
      return ETHERTYPE_IPV6;
    case 3:
      return ETHERTYPE_ETHERNET;
    case 4:
      nsh();
      return 0;
    default:
      return 0;
  }
}
