/**
 * The base transport header of RoCEv2 (InfiniBand architecture 1.4, 9.2; annex A17), UDP destination port 4791.
 *
 *     | opcode 1 | SE 1, M 1, pad 2, version 4 | P_Key 2 | F, B, 0 6 | destination QP 3 | A 1, 0 7 | PSN 3 |
 *
 * SPEC: fields of the outer packet's only, like those of ICMP.
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import { BITS_BTH_A, PRESENT_BTH, MISC_BITS, MISC_BTH_DST_QP, MISC_BTH_OPCODE } from "../../src/abi/key";
import { Cursor, has, Key, note } from "./cursor";

export const PORT_ROCE: u32 = 4791;

const SIZE: usize = 12;
const ACKNOWLEDGE: u32 = 0x80;

export function bth(): void {
  const at = Cursor.at;
  if (!has(Header.bth, SIZE)) return;
  note(Header.bth, at);
  Cursor.at = at + SIZE;
  if (Cursor.level != LEVEL_OUTER) return;
  const misc = Key.misc;
  store<u8>(misc, load<u8>(at), MISC_BTH_OPCODE);
  store<u16>(misc, load<u16>(at, 5), MISC_BTH_DST_QP);
  store<u8>(misc, load<u8>(at, 7), MISC_BTH_DST_QP + 2);
  store<u8>(misc, <u8>((load<u8>(misc, MISC_BITS) & ~BITS_BTH_A) | ((load<u8>(at, 8) & ACKNOWLEDGE) >> 1)), MISC_BITS);
  Cursor.tunnels |= PRESENT_BTH;
}
