/**
 * IP that no lower header announced: the version nibble selects the version. In: the cursor. Out:
 * an EtherType.
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
 * The EtherType by the version nibble; 0 for anything else.
 * SPEC: an empty payload is no error, unless the capture cut it.
 */
export function byNibble(): u32 {
  const at = Cursor.at;
  if (at == Cursor.end) {
    // Compares with `!=`, not `<`: the end on the wire may be beyond the last address.
    if (Cursor.wireEnd != at) short(Header.ip, 1);
    return 0;
  }
  const version = load<u8>(at) >> 4;
  return version == 4 ? ETHERTYPE_IPV4 : version == 6 ? ETHERTYPE_IPV6 : 0;
}
