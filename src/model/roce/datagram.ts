/**
 * Makes and reads the packet of a datagram: RoCE v2 with a DETH, | Q_Key 4 | 0 1 | source QP 3 |, and
 * optional immediate data.
 */
import { IBV_WC_GRH, IBV_WC_WITH_IMM } from "../../abi/verbs.js";
import { bytesOf, joined, readNumber } from "../../packet/bytes.js";
import { ICRC_LENGTH } from "../../packet/icrc.js";
import { isVlanTpid } from "../../packet/vlan.js";
import type { Route } from "../queue/addressHandle.js";
import type { ArrivedDatagram } from "../queue/receiveQueue.js";
import { BTH_LENGTH, roceFrame, UDP_LENGTH, type OutgoingPacket } from "./frame.js";
import { SEND_ONLY, SEND_ONLY_WITH_IMMEDIATE, SERVICE_UD } from "./opcodes.js";
import { datagramIn } from "./packet.js";

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

/** Bytes that a receive buffer begins with. */
const GRH_LENGTH = 40;
const DETH_LENGTH = 8;
const IMMEDIATE_LENGTH = 4;
const ETHERTYPE_AT = 12;

/**
 * Reads a datagram that the core has checked (assembly/out/datagram.ts). The GRH is the IPv6 header, or
 * 20 bytes of zeros and the IPv4 header without options (annex A17.4.5.2). The SL is the priority of the
 * VLAN tag, 0 without one.
 */
export function readDatagram(frame: Uint8Array): ArrivedDatagram {
  const { packet, headers } = datagramIn(frame) as NonNullable<ReturnType<typeof datagramIn>>;
  const bth = headers + UDP_LENGTH;
  const flags = packet[bth + 1] ?? 0;
  const immediate = packet[bth] === (SERVICE_UD | SEND_ONLY_WITH_IMMEDIATE);
  const deth = bth + BTH_LENGTH;
  const payload = deth + DETH_LENGTH + (immediate ? IMMEDIATE_LENGTH : 0);
  const end = packet.length - ICRC_LENGTH - ((flags >> 4) & 3);
  const ipv4 = (packet[0] ?? 0) >> 4 === 4;
  const grh = ipv4 ? joined(new Uint8Array(GRH_LENGTH - 20), packet.subarray(0, 20)) : packet.subarray(0, GRH_LENGTH);
  return {
    bytes: joined(grh, packet.subarray(payload, end)),
    fields: {
      src_qp: readNumber(packet, 8 * (deth + 5), 24),
      imm_data: immediate ? readNumber(packet, 8 * (deth + DETH_LENGTH), 32) : 0,
      wc_flags: IBV_WC_GRH | (immediate ? IBV_WC_WITH_IMM : 0),
      sl: isVlanTpid(readNumber(frame, 8 * ETHERTYPE_AT, 16)) ? (frame[ETHERTYPE_AT + 2] ?? 0) >> 5 : 0,
    },
    solicited: (flags & 0x80) !== 0,
  };
}
