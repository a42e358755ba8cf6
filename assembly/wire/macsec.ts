/**
 * MACsec (IEEE 802.1AE clause 9): the SecTAG after its EtherType. The parser does not read the
 * protected data.
 *
 *     | V, ES, SC, SCB, E, C, AN 2 | 0 2, short length 6 | packet number 4 | SCI 8, with SC |
 * The match parameters hold the EtherType and the tag: four dwords. SPEC: the outer packet's only.
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import { PRESENT_MACSEC, PRESENT_MACSEC_SCI, MISC5_MACSEC_TAG } from "../../src/abi/key";
import { ETHERTYPE_MACSEC } from "../../src/abi/protocols";
import { Cursor, has, Key, note } from "./cursor";

const SIZE: usize = 6;
const LONG_SIZE: usize = 14;
const SC: u32 = 0x20;

export function macsec(): void {
  const at = Cursor.at;
  if (!has(Header.macsec, SIZE)) return;
  const channel = (load<u8>(at) & SC) != 0;
  const size = channel ? LONG_SIZE : SIZE;
  if (!has(Header.macsec, size)) return;
  note(Header.macsec, at);
  Cursor.at = at + size;
  if (Cursor.level != LEVEL_OUTER) return;
  const misc5 = Key.misc5;
  store<u16>(misc5, bswap<u16>(<u16>ETHERTYPE_MACSEC), MISC5_MACSEC_TAG);
  store<u16>(misc5, load<u16>(at), MISC5_MACSEC_TAG + 2);
  store<u32>(misc5, load<u32>(at, 2), MISC5_MACSEC_TAG + 4);
  Cursor.tunnels |= PRESENT_MACSEC;
  if (!channel) return;
  store<u64>(misc5, load<u64>(at, 6), MISC5_MACSEC_TAG + 8);
  Cursor.tunnels |= PRESENT_MACSEC_SCI;
}
