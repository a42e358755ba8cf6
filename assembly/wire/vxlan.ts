/**
 * VXLAN (RFC 7348), known by the UDP destination ports that the device declares, 4789 by default.
 *
 *     | flags 1 | reserved 3 | VNI 3 | reserved 1 |
 * SPEC: the parser reads it without the I bit too (docs/parsing.md).
 */
import { Header } from "../../src/abi/headers";
import { PRESENT_TUNNEL_DWORD, PRESENT_VXLAN, MISC_VXLAN_VNI, MISC5_TUNNEL_HEADER } from "../../src/abi/key";
import { ETHERTYPE_ETHERNET } from "../../src/abi/protocols";
import { Cursor, has, Key, note } from "./cursor";

const SIZE: usize = 8;

/** The EtherType of the tunnel's payload; 0 if the header is cut. */
// @ts-ignore: decorator
@inline
export function vxlan(): u32 {
  const at = Cursor.at;
  if (!has(Header.vxlan, SIZE)) return 0;
  note(Header.vxlan, at);
  store<u16>(Key.misc, load<u16>(at, 4), MISC_VXLAN_VNI);
  store<u8>(Key.misc, load<u8>(at, 6), MISC_VXLAN_VNI + 2);
  store<u64>(Key.misc5, load<u64>(at), MISC5_TUNNEL_HEADER);
  Cursor.tunnels |= PRESENT_VXLAN | PRESENT_TUNNEL_DWORD | (PRESENT_TUNNEL_DWORD << 1);
  Cursor.at = at + SIZE;
  return ETHERTYPE_ETHERNET;
}
