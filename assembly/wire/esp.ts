/**
 * ESP (RFC 4303), IP protocol 50, and in UDP from or to port 4500 (RFC 3948).
 *
 *     | SPI 4 | sequence 4 | encrypted ...
 */
import { Header, LEVEL_OUTER } from "../../src/abi/headers";
import {
  EXT_INNER_ESP_SEQ,
  EXT_OUTER_ESP_SEQ,
  PRESENT_ESP,
  MISC_INNER_ESP_SPI,
  MISC_OUTER_ESP_SPI,
} from "../../src/abi/key";
import { Cursor, has, Key, note } from "./cursor";

export const PORT_ESP: u32 = 4500;

const SIZE: usize = 8;
const KEEP_ALIVE: u32 = 0xff;

export function esp(): void {
  const at = Cursor.at;
  if (!has(Header.esp, SIZE)) return;
  note(Header.esp, at);
  const outer = Cursor.level == LEVEL_OUTER;
  store<u32>(Key.misc + <usize>(outer ? MISC_OUTER_ESP_SPI : MISC_INNER_ESP_SPI), load<u32>(at));
  store<u32>(Key.ext + <usize>(outer ? EXT_OUTER_ESP_SEQ : EXT_INNER_ESP_SEQ), load<u32>(at, 4));
  Cursor.present |= PRESENT_ESP;
  Cursor.at = at + SIZE;
}

/**
 * SPEC: an SPI of 0 is the non-ESP marker of IKE, and a single byte 0xff is a keep-alive. Neither
 * is ESP (docs/parsing.md).
 */
export function espInUdp(): void {
  const at = Cursor.at;
  const had = Cursor.end - at;
  if (had == 1 && Cursor.wireEnd - at == 1 && <u32>load<u8>(at) == KEEP_ALIVE) return;
  if (had >= 4 && load<u32>(at) == 0) return;
  esp();
}
