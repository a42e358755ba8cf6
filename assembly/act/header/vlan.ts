/**
 * VLAN tags (IEEE 802.1Q clause 9). In: a branch. Out: a tag pushed after the MAC addresses and the
 * ESP metadata element, or the outermost tag removed.
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK } from "../../../src/abi/engine";
import { Link } from "../../../src/abi/headers";
import { BRANCH_FRAME } from "../../branch/branch";
import { be16 } from "../../wire/cursor";
import { hasMetadata, isTag, METADATA_SIZE } from "../../wire/ethernet";
import { moveStart, fits, copyOnWrite } from "../../branch/bytes";

const MACS: u32 = 12;
const HEADER: u32 = 14;
const TAG: u32 = 4;

/**
 * Pushes a tag before the present ones; a frame without Ethernet stays unchanged. False if the
 * frame has ended.
 */
export function pushVlan(branch: usize, tag: u32): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const front = tagsAt(frame);
  if (front == 0) return true;
  if (!fits(branch, TAG) || !copyOnWrite(branch, TAG)) return false;
  moveStart(branch, -(<i32>TAG));
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  memory.copy(at, at + TAG, front);
  store<u32>(at + front, bswap(tag));
  return true;
}

/** Removes the outermost tag; a frame without a tag, or with a cut one, stays unchanged. */
export function popVlan(branch: usize): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const front = tagsAt(frame);
  if (front == 0 || load<u32>(frame, FRAME_LENGTH) < front + TAG + 2) return true;
  if (!isTag(be16(<usize>load<u32>(frame, FRAME_ADDRESS) + front))) return true;
  if (!copyOnWrite(branch, 0)) return false;
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  memory.copy(at + TAG, at, front);
  moveStart(branch, TAG);
  return true;
}

/** The offset of the tags of a frame, present or not; 0 without a whole Ethernet header. */
function tagsAt(frame: usize): u32 {
  const length = load<u32>(frame, FRAME_LENGTH);
  if (load<u8>(frame, FRAME_LINK) != Link.ethernet || length < HEADER) return 0;
  if (!hasMetadata(load<u32>(frame, FRAME_ADDRESS))) return MACS;
  return length < HEADER + METADATA_SIZE ? 0 : MACS + METADATA_SIZE;
}
