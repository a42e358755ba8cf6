/** The length of what a frame carries, as its headers say it. */
import { FRAME_ADDRESS, FRAME_WIRE_LENGTH } from "../../../src/abi/engine";
import { Header, LEVEL_OUTER, MAP_COUNT, MAP_ENTRY_SIZE, MAP_FIRST } from "../../../src/abi/headers";
import { be16 } from "../../wire/cursor";
import { behindLink } from "./reformat";

const IPV6_SIZE: u32 = 40;

/** Bytes of the outer IP packet; without one, of what stands behind the link header. */
export function packetLength(frame: usize, map: usize): u32 {
  const count: usize = load<u16>(map, MAP_COUNT);
  for (let n: usize = 0; n < count; n++) {
    const entry = map + MAP_FIRST + n * MAP_ENTRY_SIZE;
    if (load<u8>(entry, 1) != LEVEL_OUTER) break;
    const kind: u32 = load<u8>(entry);
    const at = <usize>load<u32>(frame, FRAME_ADDRESS) + <usize>load<u32>(entry, 4);
    if (kind == Header.ipv4) return be16(at + 2);
    if (kind == Header.ipv6) return be16(at + 4) + IPV6_SIZE;
  }
  return load<u32>(frame, FRAME_WIRE_LENGTH) - behindLink(frame, map);
}
