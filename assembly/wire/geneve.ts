/**
 * Geneve (RFC 8926), known by UDP destination port 6081.
 *
 *     | version 2, option length 6 | O 1, C 1, 0 6 | protocol type 2 | VNI 3 | 0 1 |
 *     | class 2 | type 1 | 0 3, length 5 | data ... | ...   lengths in 4 bytes
 *
 * Option 0 is the one that the device declares.
 */
import { Header } from "../../src/abi/headers";
import {
  GENEVE_OPTION_0_EXISTS,
  PRESENT_GENEVE,
  PRESENT_GENEVE_OPTION_0,
  MISC3_GENEVE_OPTION_0_DATA,
  MISC_GENEVE_BITS,
  MISC_GENEVE_OPT_LEN,
  MISC_GENEVE_PROTOCOL,
  MISC_GENEVE_VNI,
} from "../../src/abi/key";
import { ETHERTYPE_ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from "../../src/abi/protocols";
import { invalidate } from "../epoch";
import { be16, be32, Cursor, has, Key, note, tunnelDwords } from "./cursor";

const SIZE: usize = 8;
const OPTION_SIZE: usize = 4;

namespace Option0 {
  /**
   * Class and type as one number. The initial value is no option's number: no option is declared.
   */
  export let name: u32 = 0xffffffff;
}

/** Declares option 0 of this device. A later call cannot change it. */
export function declareGeneveOption(optionClass: u32, type: u32): void {
  invalidate();
  Option0.name = (optionClass << 8) | type;
}

/** The EtherType of the tunnel's payload; 0 if the parser does not read it. */
export function geneve(): u32 {
  const at = Cursor.at;
  if (!has(Header.geneve, SIZE)) return 0;
  const first: u32 = load<u8>(at);
  // SPEC: of another version the parser reads the fixed header only (docs/parsing.md).
  const known = first >> 6 == 0;
  const size = known ? SIZE + ((<usize>(first & 0x3f)) << 2) : SIZE;
  if (!has(Header.geneve, size)) return 0;
  note(Header.geneve, at);

  const misc = Key.misc;
  store<u8>(misc, <u8>(first & 0x3f), MISC_GENEVE_OPT_LEN);
  store<u16>(misc, load<u16>(at, 2), MISC_GENEVE_PROTOCOL);
  // VNI, then the O bit.
  store<u32>(misc, (load<u32>(at, 4) & 0xffffff) | (((<u32>load<u8>(at, 1)) >> 7) << 24), MISC_GENEVE_VNI);
  Cursor.tunnels |= PRESENT_GENEVE;
  tunnelDwords(at, size >> 2);
  if (size > SIZE && Option0.name != 0xffffffff) option0(at + SIZE, at + size);
  Cursor.at = at + size;

  const type = be16(at + 2);
  const carries = type == ETHERTYPE_ETHERNET || type == ETHERTYPE_IPV4 || type == ETHERTYPE_IPV6;
  return known && carries ? type : 0;
}

/**
 * The first option of the declared class and type. SPEC: an option that reaches beyond the options
 * ends the walk.
 */
function option0(option: usize, end: usize): void {
  while (option < end) {
    const length = OPTION_SIZE + ((<usize>(load<u8>(option, 3) & 0x1f)) << 2);
    if (end - option < length) return;
    if (be32(option) >> 8 == Option0.name) {
      const misc = Key.misc;
      store<u8>(misc, <u8>(load<u8>(misc, MISC_GENEVE_BITS) | GENEVE_OPTION_0_EXISTS), MISC_GENEVE_BITS);
      if (length == OPTION_SIZE) return;
      store<u32>(Key.misc3, load<u32>(option, OPTION_SIZE), MISC3_GENEVE_OPTION_0_DATA);
      Cursor.tunnels |= PRESENT_GENEVE_OPTION_0;
      return;
    }
    option += length;
  }
}
