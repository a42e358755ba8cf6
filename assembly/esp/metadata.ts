/**
 * The metadata element of inline crypto (docs/esp.md, "Inline crypto"). It requests an encryption,
 * or reports the result of a decryption. In: a branch. Out: the element removed or inserted.
 *
 *     | destination 6 | source 6 | 0x8ce4 2 | syndrome 1 | content 5 | EtherType or tag ...
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK } from "../../src/abi/engine";
import {
  ESP_AUTH_FAILED,
  ESP_BAD_ICV,
  ESP_BAD_PROTOCOL,
  ESP_DECRYPTED,
  ESP_GOOD,
  ESP_METADATA_SIZE,
  ESP_TO_ENCRYPT,
} from "../../src/abi/esp";
import { Link } from "../../src/abi/headers";
import { ETHERTYPE_ESP_METADATA } from "../../src/abi/protocols";
import { moveStart, fits, copyOnWrite } from "../branch/bytes";
import { BRANCH_FRAME } from "../branch/branch";
import { be16 } from "../wire/cursor";
import { ENDED } from "./end";
import { Opened } from "./inline";

const MACS: usize = 12;
const HEADER: u32 = 14;
const SYNDROME: usize = 14;
const CONTENT: usize = 15;
/** The element requests nothing. */
export const NOT_ASKED: u32 = 0x100;

/** Removes the element and returns its next header; for NOT_ASKED the frame stays unchanged. */
export function takeMetadata(branch: usize): u32 {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  if (load<u8>(frame, FRAME_LINK) != Link.ethernet || load<u32>(frame, FRAME_LENGTH) < HEADER + ESP_METADATA_SIZE) {
    // Unreached: the flow has an IP and an ESP spec: its frames are longer, and sent in Ethernet.
    return NOT_ASKED;
  }
  if (be16(at + MACS) != ETHERTYPE_ESP_METADATA || load<u8>(at, SYNDROME) != ESP_TO_ENCRYPT) return NOT_ASKED;
  const next: u32 = load<u8>(at, CONTENT + 4);
  // Unreached: no other branch shares the bytes of a frame that is sent.
  if (!copyOnWrite(branch, 0)) return ENDED;
  const start = <usize>load<u32>(frame, FRAME_ADDRESS);
  memory.copy(start + ESP_METADATA_SIZE, start, MACS);
  moveStart(branch, ESP_METADATA_SIZE);
  return next;
}

/** Inserts an element with the result of a decryption; false if the frame has ended. */
export function putMetadata(branch: usize, how: u32): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  if (load<u8>(frame, FRAME_LINK) != Link.ethernet || load<u32>(frame, FRAME_LENGTH) < HEADER) return true;
  if (!fits(branch, ESP_METADATA_SIZE) || !copyOnWrite(branch, ESP_METADATA_SIZE)) return false;
  moveStart(branch, -ESP_METADATA_SIZE);
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  memory.copy(at, at + ESP_METADATA_SIZE, MACS);
  store<u16>(at, bswap<u16>(<u16>ETHERTYPE_ESP_METADATA), MACS);
  store<u8>(at, <u8>syndrome(how), SYNDROME);
  store<u8>(at, <u8>Opened.next, CONTENT);
  store<u32>(at, bswap(Opened.spi), CONTENT + 1);
  return true;
}

function syndrome(how: u32): u32 {
  if (how == ESP_GOOD) return ESP_DECRYPTED;
  return how == ESP_BAD_ICV ? ESP_AUTH_FAILED : ESP_BAD_PROTOCOL;
}
