/** The length of a packet. In: a frame and its map. Out: its bytes by the outer IP header. */
import { FRAME_ADDRESS, FRAME_WIRE_LENGTH } from "../../../src/abi/engine";
import { LEVEL_OUTER } from "../../../src/abi/headers";
import { be16 } from "../../wire/cursor";
import { behindLink, findIp, NOWHERE } from "../../wire/frameMap";

const IPV6_SIZE: u32 = 40;

/** Bytes of the outer IP packet. Without IP, the bytes after the link header. */
export function packetLength(frame: usize, map: usize): u32 {
  const offset = findIp(map, LEVEL_OUTER);
  if (offset == NOWHERE) return load<u32>(frame, FRAME_WIRE_LENGTH) - behindLink(frame, map);
  const ip = <usize>load<u32>(frame, FRAME_ADDRESS) + <usize>offset;
  return load<u8>(ip) >> 4 == 4 ? be16(ip + 2) : be16(ip + 4) + IPV6_SIZE;
}
