/**
 * SCTP (RFC 9260 section 3.1), IP protocol 132. The match parameters have no field for it; its
 * ports are in `ext`.
 *
 *     | source port 2 | destination port 2 | verification tag 4 | checksum 4 |
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import { EXT_INNER_SCTP_PORTS, EXT_OUTER_SCTP_PORTS, PRESENT_SCTP } from "../../src/abi/key";
import { Cursor, has, Key, note } from "./cursor";

const SIZE: usize = 12;

export function sctp(): void {
  const at = Cursor.at;
  if (!has(Header.sctp, SIZE)) return;
  note(Header.sctp, at);
  const ports: usize = Cursor.level == LEVEL_OUTER ? EXT_OUTER_SCTP_PORTS : EXT_INNER_SCTP_PORTS;
  store<u32>(Key.ext + ports, load<u32>(at));
  Cursor.present |= PRESENT_SCTP;
  Cursor.at = at + SIZE;
}
