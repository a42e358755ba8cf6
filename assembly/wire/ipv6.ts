/**
 * IPv6 and its extension headers (RFC 8200, 6946, 2675, 4302).
 *
 *     | version 4, traffic class 8, flow label 20 | payload length 2 | next header 1 | hop limit 1 |
 *     | source 16 | destination 16 |
 *
 *     hop-by-hop, routing, destination: | next header 1 | length 1, in 8 bytes beyond the first | ...
 *     fragment:                         | next header 1 | 0 1 | offset 13, 0 2, M 1 | identification 4 |
 *     AH:                               | next header 1 | length 1, in 4 bytes minus 2 | ...
 */
import { Header, LEVEL_OUTER, Stop } from "../../src/abi/headers";
import {
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_PROTOCOL,
  LAYER_DST,
  LAYER_OK,
  LAYER_PROTOCOL,
  LAYER_SRC,
  LAYER_STATE,
  LAYER_TOS,
  LAYER_TTL,
  MISC_INNER_FLOW_LABEL,
  MISC_OUTER_FLOW_LABEL,
  OK_L3,
  STATE_FRAG,
  STATE_VERSION_SHIFT,
} from "../../src/abi/key";
import {
  PROTOCOL_AH,
  PROTOCOL_DESTINATION,
  PROTOCOL_FRAGMENT,
  PROTOCOL_HOP_BY_HOP,
  PROTOCOL_ROUTING,
} from "../../src/abi/protocols";
import { be16, be32, Cursor, has, Key, note, stop } from "./cursor";
import { Fragment, NO_PROTOCOL, Upper } from "./upper";

const SIZE: usize = 40;
const OPTION_PAD1: u32 = 0;
const OPTION_JUMBO: u32 = 0xc2;

/** The upper-layer protocol, or NO_PROTOCOL if no upper layer can be read. */
// @ts-ignore: decorator
@inline
export function ipv6(): u32 {
  const at = Cursor.at;
  if (!has(Header.ipv6, SIZE)) return NO_PROTOCOL;
  if (load<u8>(at) >> 4 != 6) {
    stop(Header.ipv6, Stop.bad_version, SIZE, Cursor.end - at);
    return NO_PROTOCOL;
  }
  note(Header.ipv6, at);

  const layer = Key.layer;
  const first = be32(at);
  store<u8>(layer, <u8>(first >> 20), LAYER_TOS);
  store<u8>(layer, <u8>(load<u8>(layer, LAYER_STATE) | ((<u32>6) << STATE_VERSION_SHIFT)), LAYER_STATE);
  store<u8>(layer, load<u8>(at, 7), LAYER_TTL);
  v128.store(layer, v128.load(at, 8), LAYER_SRC);
  v128.store(layer, v128.load(at, 24), LAYER_DST);
  store<u32>(
    Key.misc + <usize>(Cursor.level == LEVEL_OUTER ? MISC_OUTER_FLOW_LABEL : MISC_INNER_FLOW_LABEL),
    bswap(first & 0xfffff),
  );
  Cursor.present |= PRESENT_L3 | PRESENT_IPV6;

  const payload = <usize>be16(at + 4);
  // SPEC: length 0 is a jumbogram or BIG TCP: the packet ends with the frame (docs/parsing.md).
  Upper.lengthKnown = payload != 0;
  Upper.fragment = Fragment.whole;
  let ok: u32 = OK_L3;
  if (payload != 0) {
    if (payload + SIZE <= Cursor.wireEnd - at) {
      Cursor.wireEnd = at + SIZE + payload;
      Cursor.end = min(Cursor.end, Cursor.wireEnd);
    } else {
      ok = 0;
    }
  }
  store<u8>(layer, <u8>ok, LAYER_OK);
  Cursor.at = at + SIZE;
  Upper.header = at;
  Upper.payload = at + SIZE;
  Upper.destination = at + 24;

  const protocol = extensions(load<u8>(at, 6));
  if (protocol == NO_PROTOCOL) return NO_PROTOCOL;
  store<u8>(layer, <u8>protocol, LAYER_PROTOCOL);
  Cursor.present |= PRESENT_PROTOCOL;
  return Upper.fragment == Fragment.later ? NO_PROTOCOL : protocol;
}

/**
 * Walks to the upper layer. Each header is at least 8 bytes, so the frame's length bounds the loop.
 * SPEC: the walk passes hop-by-hop, routing, destination, fragment and AH. Mobility, HIP, Shim6 and
 * "no next header" end it as the upper layer. In a later fragment, the next header of the fragment
 * header ends it (docs/parsing.md).
 */
function extensions(next: u32): u32 {
  while (true) {
    const at = Cursor.at;
    let kind: u32;
    let size: usize;
    switch (next) {
      case PROTOCOL_HOP_BY_HOP:
        kind = Header.ipv6_hop_by_hop;
        break;
      case PROTOCOL_ROUTING:
        kind = Header.ipv6_routing;
        break;
      case PROTOCOL_DESTINATION:
        kind = Header.ipv6_destination;
        break;
      case PROTOCOL_FRAGMENT:
        kind = Header.ipv6_fragment;
        break;
      case PROTOCOL_AH:
        kind = Header.ah;
        break;
      default:
        return next;
    }
    if (!has(kind, 8)) return NO_PROTOCOL;
    if (kind == Header.ipv6_fragment) size = 8;
    else if (kind == Header.ah) size = (<usize>load<u8>(at, 1) + 2) << 2;
    else size = (<usize>load<u8>(at, 1) + 1) << 3;
    if (!has(kind, size)) return NO_PROTOCOL;
    note(kind, at);
    Cursor.at = at + size;
    next = load<u8>(at);
    if (kind == Header.ipv6_routing) {
      // | next header 1 | length 1 | type 1 | segments left 1 |
      if (load<u8>(at, 3) != 0) Upper.destination = finalDestination(at, size);
    } else if (kind == Header.ipv6_fragment) {
      if (fragment(be16(at + 2))) return next;
    } else if (kind == Header.ipv6_hop_by_hop && at == Upper.payload && !Upper.lengthKnown) {
      jumbo(at + 2, at + size);
    }
  }
}

/**
 * The final destination in a routing header with segments left, 0 where it is not known (RFC 8200
 * section 8.1, docs/parsing.md). Types 0 and 2 end with it; the list of type 4 begins with it (RFC
 * 8754 section 2).
 */
function finalDestination(routing: usize, size: usize): usize {
  if (size < 24) return 0;
  switch (load<u8>(routing, 2)) {
    case 0:
    case 2:
      return size & 15 ? routing + size - 16 : 0;
    case 4:
      return routing + 8;
    default:
      return 0;
  }
}

/**
 * Whether the payload of a later fragment follows. An atomic fragment (offset 0, M 0) is not one
 * (RFC 6946).
 */
function fragment(offsetAndMore: u32): bool {
  if ((offsetAndMore & 0xfff9) == 0) return false;
  const layer = Key.layer;
  store<u8>(layer, <u8>(load<u8>(layer, LAYER_STATE) | STATE_FRAG), LAYER_STATE);
  if (offsetAndMore >> 3 != 0) {
    Upper.fragment = Fragment.later;
    return true;
  }
  Upper.fragment = Fragment.first;
  return false;
}

/**
 * The jumbo payload option (RFC 2675) gives the length when the fixed header has 0: more than
 * 65,535 bytes. It is in a hop-by-hop header that follows the fixed header. The first such option
 * decides.
 */
function jumbo(option: usize, end: usize): void {
  while (option < end) {
    const type: u32 = load<u8>(option);
    if (type == OPTION_PAD1) {
      option++;
      continue;
    }
    if (end - option < 2) return;
    const length = <usize>load<u8>(option, 1);
    if (end - option < 2 + length) return;
    if (type == OPTION_JUMBO) {
      if (length == 4) jumboEnd(be32(option + 2));
      return;
    }
    option += 2 + length;
  }
}

/** SPEC: a length beyond the frame is not valid, and the packet ends with the frame. */
function jumboEnd(length: usize): void {
  if (length > Cursor.wireEnd - Upper.payload) {
    store<u8>(Key.layer, 0, LAYER_OK);
    return;
  }
  if (length <= 0xffff) return;
  Upper.lengthKnown = true;
  Cursor.wireEnd = Upper.payload + length;
  // Compares lengths, not addresses: the end on the wire may be beyond the last address.
  Cursor.end = Upper.payload + min(Cursor.end - Upper.payload, length);
}
