/** VLAN tags (IEEE 802.1Q section 9): put in behind the MAC addresses, and taken out again. */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK } from "../../src/abi/engine";
import { Link } from "../../src/abi/headers";
import { BRANCH_FRAME } from "../steer/branch";
import { be16 } from "../wire/cursor";
import { isTag } from "../wire/ethernet";
import { begin, fits, own } from "./bytes";

const MACS: usize = 12;
const HEADER: u32 = 14;
const TAG: i32 = 4;

/** Puts a tag in front of those that are there; a frame without Ethernet stays as it is. False when the frame has ended. */
export function pushVlan(branch: usize, tag: u32): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  if (!hasEthernet(frame, HEADER)) return true;
  if (!fits(branch, TAG) || !own(branch, TAG)) return false;
  begin(branch, -TAG);
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  store<u64>(at, load<u64>(at + TAG));
  store<u32>(at, load<u32>(at + TAG, 8), 8);
  store<u32>(at, bswap(tag), MACS);
  return true;
}

/** Takes the outermost tag out; a frame without one, or cut inside of it, stays as it is. */
export function popVlan(branch: usize): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  if (!hasEthernet(frame, HEADER + TAG) || !isTag(be16(<usize>load<u32>(frame, FRAME_ADDRESS) + MACS))) return true;
  if (!own(branch, 0)) return false;
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  store<u32>(at, load<u32>(at, 8), 8 + TAG);
  store<u64>(at, load<u64>(at), TAG);
  begin(branch, TAG);
  return true;
}

function hasEthernet(frame: usize, bytes: u32): bool {
  return load<u8>(frame, FRAME_LINK) == Link.ethernet && load<u32>(frame, FRAME_LENGTH) >= bytes;
}
