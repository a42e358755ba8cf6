/**
 * TCP (RFC 9293).
 *
 *     | source port 2 | destination port 2 | sequence 4 | acknowledgement 4 |
 *     | data offset 4, reserved 3, flags 9 | window 2 | checksum 2 | urgent 2 | options ... |
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import {
  PRESENT_TCP,
  LAYER_OK,
  LAYER_STATE,
  LAYER_TCP_FLAGS,
  LAYER_TCP_PORTS,
  MISC3_INNER_ACK,
  MISC3_INNER_SEQ,
  MISC3_OUTER_ACK,
  MISC3_OUTER_SEQ,
  OK_L4,
} from "../../src/abi/key";
import { CHECK_L4, verifyTcp } from "./checksum";
import { Cursor, has, Key, note } from "./cursor";
import { Upper } from "./upper";

const SIZE: usize = 20;

// @ts-ignore: decorator
@inline
export function tcp(): void {
  const at = Cursor.at;
  if (!has(Header.tcp, SIZE)) return;
  const headerLength = (<usize>(load<u8>(at, 12) >> 4)) << 2;
  const sane = headerLength >= SIZE && headerLength <= Cursor.wireEnd - at;
  // SPEC: options that the capture cut take no field of the fixed header with them.
  const whole = !sane || has(Header.tcp, headerLength);
  note(Header.tcp, at);

  const layer = Key.layer;
  store<u32>(layer, load<u32>(at), LAYER_TCP_PORTS);
  store<u8>(layer, <u8>(load<u8>(layer, LAYER_STATE) | (load<u8>(at, 12) & 1)), LAYER_STATE);
  store<u8>(layer, load<u8>(at, 13), LAYER_TCP_FLAGS);
  const misc3 = Key.misc3;
  if (Cursor.level == LEVEL_OUTER) {
    store<u32>(misc3, load<u32>(at, 4), MISC3_OUTER_SEQ);
    store<u32>(misc3, load<u32>(at, 8), MISC3_OUTER_ACK);
  } else {
    store<u32>(misc3, load<u32>(at, 4), MISC3_INNER_SEQ);
    store<u32>(misc3, load<u32>(at, 8), MISC3_INNER_ACK);
  }
  Cursor.present |= PRESENT_TCP;
  if (sane && whole && Upper.lengthKnown) {
    store<u8>(layer, <u8>(load<u8>(layer, LAYER_OK) | OK_L4), LAYER_OK);
    if (Cursor.checks & CHECK_L4) verifyTcp(at);
  }
  // With an invalid data offset only the fixed header is read. Cut options are no payload.
  Cursor.at = whole ? at + (sane ? headerLength : SIZE) : Cursor.end;
}
