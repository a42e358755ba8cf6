/**
 * MPLS label stacks (RFC 3032): over Ethernet, GRE and UDP port 6635 (RFC 7510), at either level.
 *
 *     | label 20, traffic class 3, bottom of stack 1, TTL 8 | ... 4 bytes each
 * Only the first entry of a stack fills fields; each entry is a header of its own. SPEC: a tunnel
 * inside the inner packet is payload, and so are its entries: the first one fills its fields, but
 * the map lists none and they never stop the parse.
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import {
  EXT_INNER_MPLS_OVER_GRE,
  EXT_INNER_MPLS_OVER_UDP,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_MPLS,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_MPLS_OVER_UDP,
  MISC2_INNER_MPLS,
  MISC2_MPLS_OVER_GRE,
  MISC2_MPLS_OVER_UDP,
  MISC2_OUTER_MPLS,
} from "../../src/abi/key";
import { Cursor, has, Key, note } from "./cursor";
import { byNibble } from "./ip";

export const PORT_MPLS: u32 = 6635;

const SIZE: usize = 4;
const BOTTOM: u32 = 1;

/**
 * Over the link layer of this level. Returns the EtherType of the IP packet below the stack, 0 for
 * none.
 */
export function mplsOverEthernet(): u32 {
  const field: usize = Cursor.level == LEVEL_OUTER ? MISC2_OUTER_MPLS : MISC2_INNER_MPLS;
  if (first(field)) Cursor.present |= PRESENT_MPLS;
  return below();
}

/** Over UDP of the inner packet. Does not move the cursor. */
export function mplsOverInnerUdp(): void {
  if (Cursor.end - Cursor.at < SIZE) return;
  store<u32>(Key.ext, load<u32>(Cursor.at), EXT_INNER_MPLS_OVER_UDP);
  Cursor.present |= PRESENT_INNER_MPLS_OVER_UDP;
}

/** Over GRE of the inner packet, whose header ends at `at`. */
export function mplsOverInnerGre(at: usize): void {
  if (Cursor.end - at < SIZE) return;
  store<u32>(Key.ext, load<u32>(at), EXT_INNER_MPLS_OVER_GRE);
  Cursor.present |= PRESENT_INNER_MPLS_OVER_GRE;
}

/** Over GRE. Returns the EtherType of the inner packet, 0 for none. */
export function mplsOverGre(): u32 {
  if (first(MISC2_MPLS_OVER_GRE)) Cursor.tunnels |= PRESENT_MPLS_OVER_GRE;
  return below();
}

/** Over UDP. Returns the EtherType of the inner packet, 0 for none. */
export function mplsOverUdp(): u32 {
  if (first(MISC2_MPLS_OVER_UDP)) Cursor.tunnels |= PRESENT_MPLS_OVER_UDP;
  return below();
}

/** Fills a field with the first entry if it is whole. Does not move the cursor. */
function first(field: usize): bool {
  if (Cursor.end - Cursor.at < SIZE) return false;
  store<u32>(Key.misc2 + field, load<u32>(Cursor.at));
  return true;
}

/** Walks the stack to its bottom. */
function below(): u32 {
  while (true) {
    const at = Cursor.at;
    if (!has(Header.mpls, SIZE)) return 0;
    note(Header.mpls, at);
    Cursor.at = at + SIZE;
    if (load<u8>(at, 2) & BOTTOM) return byNibble();
  }
}
