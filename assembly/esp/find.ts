/**
 * Finds the ESP header of a packet. In: a branch. Out: `Found`. ESP follows IP (RFC 4303, 3.1.1)
 * or UDP (RFC 3948).
 */
import { FRAME_ADDRESS, FRAME_LENGTH } from "../../src/abi/engine";
import { PORT_ESP, PROTOCOL_ESP, PROTOCOL_UDP } from "../../src/abi/protocols";
import { BRANCH_FRAME } from "../branch/branch";
import { selectingPort } from "../wire/udp";
import { findPacket, Packet } from "./packet";

const UDP_SIZE: u32 = 8;
/** SPI and sequence number. */
const MIN: u32 = 8;

export namespace Found {
  export let esp: u32 = 0;
  export let udp: bool = false;
}

/** Finds the ESP header in the packet of a branch. `anyPort`: UDP carries ESP on any port. */
export function findEsp(branch: usize, anyPort: bool): bool {
  if (!findPacket(branch, false) || Packet.later) return false;
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  const end = Packet.end == 0 ? load<u32>(frame, FRAME_LENGTH) : Packet.end;
  Found.esp = Packet.next;
  Found.udp = Packet.protocol == PROTOCOL_UDP;
  if (!Found.udp) return Packet.protocol == PROTOCOL_ESP && Found.esp + MIN <= end;
  Found.esp += UDP_SIZE;
  if (Found.esp + MIN > end) return false;
  // An SPI of 0 is the non-ESP marker (RFC 3948, 2.2).
  if (load<u32>(at + Found.esp) == 0) return false;
  return anyPort || selectingPort(at + Packet.next) == PORT_ESP;
}
