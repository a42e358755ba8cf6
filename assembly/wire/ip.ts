/**
 * IP that no lower header announced: the version nibble decides which. In: the cursor. Out: an
 * EtherType.
 */
import { Header, Stop } from "../../src/abi/headers";
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from "../../src/abi/protocols";
import { Cursor, has, short, stop } from "./cursor";

/** The EtherType of a frame that begins with IP; anything else stops the parse. */
export function rawIp(): u32 {
  if (!has(Header.ip, 1)) return 0;
  const ethertype = byNibble();
  if (ethertype == 0) stop(Header.ip, Stop.bad_version, 1, Cursor.end - Cursor.at);
  return ethertype;
}

/**
 * The EtherType of what may be IP, 0 for anything else.
 * SPEC: where nothing follows nothing is wrong, unless the capture cut what did.
 */
export function byNibble(): u32 {
  const at = Cursor.at;
  if (at == Cursor.end) {
    // Never by order: what the wire had may end beyond the last address.
    if (Cursor.wireEnd != at) short(Header.ip, 1);
    return 0;
  }
  const version = load<u8>(at) >> 4;
  return version == 4 ? ETHERTYPE_IPV4 : version == 6 ? ETHERTYPE_IPV6 : 0;
}
