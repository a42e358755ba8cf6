/**
 * IPv4 (RFC 791).
 *
 *     | version 4, IHL 4 | TOS 1 | total length 2 | identification 2 | flags 3, offset 13 |
 *     | TTL 1 | protocol 1 | checksum 2 | source 4 | destination 4 | options ... |
 */
import { Header, LEVEL_OUTER, Stop } from "../../src/abi/headers";
import {
  EXT_INNER_IPV4_FLAGS,
  EXT_OUTER_IPV4_FLAGS,
  PRESENT_IPV4,
  PRESENT_L3,
  PRESENT_PROTOCOL,
  LAYER_DST_IPV4,
  LAYER_OK,
  LAYER_PROTOCOL,
  LAYER_SRC_IPV4,
  LAYER_STATE,
  LAYER_TOS,
  LAYER_TTL,
  OK_IPV4_CHECKSUM,
  OK_L3,
  STATE_FRAG,
  STATE_VERSION_SHIFT,
} from "../../src/abi/key";
import { CHECK_IPV4, ipv4Sums } from "./checksum";
import { be16, Cursor, has, Key, note, stop } from "./cursor";
import { Fragment, NO_PROTOCOL, Upper } from "./upper";

const SIZE: usize = 20;
const MORE_FRAGMENTS: u32 = 0x2000;
const OFFSET: u32 = 0x1fff;

/**
 * The upper-layer protocol, or NO_PROTOCOL if no upper layer can be read. SPEC: a version other
 * than 4 or an IHL below 5 leaves no L3 field; the payload of later fragments is never read as
 * ports (docs/parsing.md).
 */
// @ts-ignore: decorator
@inline
export function ipv4(): u32 {
  const at = Cursor.at;
  if (!has(Header.ipv4, SIZE)) return NO_PROTOCOL;
  const versionAndLength: u32 = load<u8>(at);
  if (versionAndLength >> 4 != 4) return invalid(Stop.bad_version);
  if ((versionAndLength & 15) < 5) return invalid(Stop.bad_header_length);
  const headerLength = (<usize>(versionAndLength & 15)) << 2;
  if (!has(Header.ipv4, headerLength)) return NO_PROTOCOL;
  note(Header.ipv4, at);

  const layer = Key.layer;
  const protocol: u32 = load<u8>(at, 9);
  const fragment = be16(at + 6);
  let state: u32 = load<u8>(layer, LAYER_STATE) | ((<u32>4) << STATE_VERSION_SHIFT);
  Upper.fragment = Fragment.whole;
  if (fragment & (MORE_FRAGMENTS | OFFSET)) {
    state |= STATE_FRAG;
    Upper.fragment = fragment & OFFSET ? Fragment.later : Fragment.first;
  }
  store<u8>(layer, <u8>protocol, LAYER_PROTOCOL);
  store<u8>(layer, load<u8>(at, 1), LAYER_TOS);
  store<u8>(layer, <u8>state, LAYER_STATE);
  store<u8>(layer, load<u8>(at, 8), LAYER_TTL);
  store<u32>(layer, load<u32>(at, 12), LAYER_SRC_IPV4);
  store<u32>(layer, load<u32>(at, 16), LAYER_DST_IPV4);
  store<u8>(
    Key.ext + <usize>(Cursor.level == LEVEL_OUTER ? EXT_OUTER_IPV4_FLAGS : EXT_INNER_IPV4_FLAGS),
    <u8>((fragment >> 8) & 0xe0),
  );
  Cursor.present |= PRESENT_L3 | PRESENT_IPV4 | PRESENT_PROTOCOL;

  // SPEC: the parser ignores an invalid total length and reads the bytes of the frame
  // (docs/parsing.md). A source route does not change the destination, and AH (51) is an upper
  // layer here.
  const total = <usize>be16(at + 2);
  let ok = versionAndLength << 4;
  Upper.header = at;
  Upper.lengthKnown = true;
  if (total >= headerLength && total <= Cursor.wireEnd - at) {
    ok |= OK_L3;
    Cursor.wireEnd = at + total;
    Cursor.end = min(Cursor.end, Cursor.wireEnd);
  }
  if (Cursor.checks & CHECK_IPV4 && ipv4Sums(at, headerLength)) ok |= OK_IPV4_CHECKSUM;
  store<u8>(layer, <u8>ok, LAYER_OK);
  Cursor.at = at + headerLength;
  return Upper.fragment == Fragment.later ? NO_PROTOCOL : protocol;
}

function invalid(why: u32): u32 {
  stop(Header.ipv4, why, SIZE, Cursor.end - Cursor.at);
  return NO_PROTOCOL;
}
