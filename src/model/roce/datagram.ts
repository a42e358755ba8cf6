/**
 * Makes the packet of a datagram: RoCE v2 with a DETH, | Q_Key 4 | 0 1 | source QP 3 |, and
 * optional immediate data.
 */
import { bytesOf } from "../../packet/bytes.js";
import type { Route } from "../queue/addressHandle.js";
import { roceFrame, type OutgoingPacket } from "./frame.js";
import { SEND_ONLY, SEND_ONLY_WITH_IMMEDIATE, SERVICE_UD } from "./opcodes.js";

/** A datagram that a UD queue pair sends. */
export interface Datagram extends Pick<
  OutgoingPacket,
  "source_qpn" | "remote_qpn" | "pkey" | "psn" | "solicited" | "payload"
> {
  readonly route: Route;
  readonly remote_qkey: number;
  /** The immediate data, or null. */
  readonly immediate: number | null;
}

/** The complete frame, from Ethernet to ICRC. */
export function datagramFrame({ route, immediate, remote_qkey, ...packet }: Datagram): Uint8Array {
  const deth = [bytesOf(remote_qkey, 4), bytesOf(packet.source_qpn, 4)];
  return roceFrame(route, {
    ...packet,
    opcode: SERVICE_UD | (immediate === null ? SEND_ONLY : SEND_ONLY_WITH_IMMEDIATE),
    ackRequest: false,
    headers: immediate === null ? deth : [...deth, bytesOf(immediate, 4)],
  });
}
