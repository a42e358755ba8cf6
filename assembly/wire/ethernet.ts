/**
 * Ethernet II, 802.3 and VLAN tags (IEEE 802.3 clause 3, 802.1Q clause 9).
 *
 *     | destination 6 | source 6 | [ 0x8ce4 2 | metadata 6 ] | { TPID 2 | TCI 2 } ... | EtherType or length 2 |
 * The parser skips the metadata of inline ESP actions (docs/esp.md).
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import {
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_VLAN,
  PRESENT_VLAN2,
  LAYER_DMAC,
  LAYER_ETHERTYPE,
  LAYER_SMAC,
  LAYER_STATE,
  LAYER_TCI,
  MISC_INNER_TCI2,
  MISC_OUTER_TCI2,
  MISC_TAGS2,
  STATE_CVLAN,
  STATE_SVLAN,
  TAGS2_OUTER_CVLAN,
  TAGS2_OUTER_SVLAN,
} from "../../src/abi/key";
import { ESP_METADATA_SIZE } from "../../src/abi/esp";
import {
  ETHERTYPE_ESP_METADATA,
  ETHERTYPE_MPLS,
  ETHERTYPE_MPLS_UPSTREAM,
  TPID_CVLAN,
  TPID_SVLAN,
} from "../../src/abi/protocols";
import { be16, Cursor, has, Key, note } from "./cursor";

const SOURCE: usize = 6;
const TYPE: usize = 12;
const SIZE: usize = 14;
const TAG_SIZE: usize = 4;
/** Its EtherType, and 6 bytes. */
export const METADATA_SIZE: u32 = ESP_METADATA_SIZE;

/** SPEC: TPIDs 0x9100, 0x9200 and 0x9300 are not tags (docs/parsing.md). */
// @ts-ignore: decorator
@inline
export function isTag(ethertype: u32): bool {
  return ethertype == TPID_CVLAN || ethertype == TPID_SVLAN;
}

export function isMpls(ethertype: u32): bool {
  return ethertype == ETHERTYPE_MPLS || ethertype == ETHERTYPE_MPLS_UPSTREAM;
}

/**
 * The EtherType after the last tag; 0 when the frame is cut before it. SPEC: an 802.3 length is
 * kept as it is, and the parser reads nothing after it (docs/parsing.md).
 */
// @ts-ignore: decorator
@inline
export function ethernet(): u32 {
  const at = Cursor.at;
  if (!has(Header.ethernet, SIZE)) return 0;
  const size = hasMetadata(at) ? SIZE + METADATA_SIZE : SIZE;
  if (size != SIZE && !has(Header.ethernet, size)) return 0;
  note(Header.ethernet, at);
  const layer = Key.layer;
  store<u32>(layer, load<u32>(at), LAYER_DMAC);
  store<u16>(layer, load<u16>(at + 4), LAYER_DMAC + 4);
  store<u32>(layer, load<u32>(at + SOURCE), LAYER_SMAC);
  store<u16>(layer, load<u16>(at + SOURCE + 4), LAYER_SMAC + 4);
  Cursor.present |= PRESENT_ETH;
  Cursor.at = at + size;
  let ethertype = be16(at + size - 2);
  if (isTag(ethertype)) {
    ethertype = tags(ethertype);
    if (ethertype == CUT) return 0;
  }
  store<u16>(layer, bswap<u16>(<u16>ethertype), LAYER_ETHERTYPE);
  Cursor.present |= PRESENT_ETHERTYPE;
  return ethertype;
}

/** Whether the frame at an address has the metadata element of inline ESP actions (docs/esp.md). */
// @ts-ignore: decorator
@inline
export function hasMetadata(at: usize): bool {
  return be16(at + TYPE) == ETHERTYPE_ESP_METADATA;
}

const CUT: u32 = 0xffffffff;

/** SPEC: the parser walks all tags; the outermost two are first and second (docs/parsing.md). */
function tags(tpid: u32): u32 {
  let depth = 0;
  do {
    const at = Cursor.at;
    if (!has(Header.vlan, TAG_SIZE)) return CUT;
    note(Header.vlan, at);
    if (depth == 0) first(tpid, at);
    else if (depth == 1) second(tpid, at);
    depth++;
    tpid = be16(at + 2);
    Cursor.at = at + TAG_SIZE;
  } while (isTag(tpid));
  return tpid;
}

function first(tpid: u32, at: usize): void {
  const layer = Key.layer;
  store<u16>(layer, load<u16>(at), LAYER_TCI);
  store<u8>(layer, <u8>(tpid == TPID_CVLAN ? STATE_CVLAN : STATE_SVLAN), LAYER_STATE);
  Cursor.present |= PRESENT_VLAN;
}

function second(tpid: u32, at: usize): void {
  const misc = Key.misc;
  const outer = Cursor.level == LEVEL_OUTER;
  store<u16>(misc + <usize>(outer ? MISC_OUTER_TCI2 : MISC_INNER_TCI2), load<u16>(at));
  // TAGS2_INNER_* are one bit below TAGS2_OUTER_*.
  const bit: u32 = (tpid == TPID_CVLAN ? TAGS2_OUTER_CVLAN : TAGS2_OUTER_SVLAN) >> (outer ? 0 : 1);
  store<u8>(misc, <u8>(load<u8>(misc, MISC_TAGS2) | bit), MISC_TAGS2);
  Cursor.present |= PRESENT_VLAN2;
}
