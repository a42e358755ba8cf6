// Reference parser, part 3: TCP (RFC 9293, RFC 3540 for the ninth flag), UDP (RFC 768) and the
// protocols of its ports, ICMP (RFC 792, RFC 4443), SCTP (RFC 9260), ESP (RFC 4303, RFC 3948) and
// the BTH of RoCEv2.

import { tcpRight, udpRight } from "./checksum.js";
import { type Packet, type ParserOptions, type Step, big, number, seen, seenCut, whole } from "./packet.js";

export function readTcp(packet: Packet, step: Step): null {
  const { at, level } = step;
  if (!whole(packet, step, 20)) return null;
  const dataOffset = number(packet, at + 12, 1) >> 4;
  const length = dataOffset * 4;
  const sane = dataOffset >= 5 && at + length <= step.wireEnd;
  // A header with an invalid length (below 20, or beyond the IP payload) has only its fixed part.
  // SPEC: options that the capture cut are no payload.
  const cut = sane && !whole(packet, step, length);
  if (cut) seenCut(packet, step);
  else seen(packet, step, sane ? length : 20);
  packet.fields.set(`${level}.tcp_sport`, big(packet, at, 2));
  packet.fields.set(`${level}.tcp_dport`, big(packet, at + 2, 2));
  packet.fields.set(`misc3.${level}_tcp_seq_num`, big(packet, at + 4, 4));
  packet.fields.set(`misc3.${level}_tcp_ack_num`, big(packet, at + 8, 4));
  packet.fields.set(`${level}.tcp_flags`, big(packet, at + 12, 2) & 0x1ffn);
  // SPEC: if the IP length was not sane, the end of the frame replaces it (l3_ok 0 and l4_ok 1 is
  // possible).
  const ok = sane && !cut && !step.lengthUnknown;
  packet.fields.set(`${level}.l4_ok`, ok ? 1n : 0n);
  packet.fields.set(`${level}.l4_checksum_ok`, ok && tcpRight(packet, step) ? 1n : 0n);
  return null;
}

/** The protocol of each destination port (IANA). */
const PORTS = new Map<number, string>([
  [4500, "esp_in_udp"],
  [4791, "bth"],
]);

/**
 * Tunnels, possible only in the outer packet: one inside the inner packet is payload, except for a
 * first label.
 */
const TUNNELS = new Map<number, string>([
  [2152, "gtpu"],
  [4790, "vxlan_gpe"],
  [6081, "geneve"],
  [6635, "mpls"],
]);

export function readUdp(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  const source = number(packet, at, 2);
  const destination = number(packet, at + 2, 2);
  const length = number(packet, at + 4, 2);
  packet.fields.set(`${level}.udp_sport`, BigInt(source));
  packet.fields.set(`${level}.udp_dport`, BigInt(destination));
  // SPEC: the UDP length 0 of a jumbogram (RFC 2675 section 4) is below 8 like any other 0.
  const ok = length >= 8 && at + length <= step.wireEnd && !step.lengthUnknown;
  packet.fields.set(`${level}.l4_ok`, ok ? 1n : 0n);
  packet.fields.set(`${level}.l4_checksum_ok`, ok && udpRight(packet, step) ? 1n : 0n);

  // Only the end of the IP payload limits the bytes read after UDP, not the UDP length.
  const kind = headerOver(source, destination, packet.parser);
  if (!kind) return null;
  if (level === "inner" && kind !== "esp_in_udp" && kind !== "bth") {
    return kind === "mpls" ? { ...step, kind: "inner_mpls", at: at + 8, over: "udp" } : null;
  }
  return { ...step, kind, at: at + 8, ...(kind === "mpls" ? { over: "udp" as const } : {}) };
}

/**
 * The header after UDP. SPEC: it is known by the destination port first. The source port only tells
 * of ESP, whose replies come through a NAT from 4500 to any port.
 */
export function headerOver(
  source: number,
  destination: number,
  { vxlanPorts = [4789] }: ParserOptions = {},
): string | undefined {
  if (vxlanPorts.includes(destination)) return "vxlan";
  return PORTS.get(destination) ?? TUNNELS.get(destination) ?? (source === 4500 ? "esp_in_udp" : undefined);
}

/** SCTP's common header (RFC 9260 section 3.1): twelve bytes, of which the ports are fields. */
export function readSctp(packet: Packet, step: Step): null {
  if (!whole(packet, step, 12)) return null;
  seen(packet, step, 12);
  packet.fields.set(`ext.${step.level}_sctp_sport`, big(packet, step.at, 2));
  packet.fields.set(`ext.${step.level}_sctp_dport`, big(packet, step.at + 2, 2));
  return null;
}

/**
 * Both ICMPs: eight bytes, all or nothing; `misc3.icmp*` are fields of the outer packet only
 * (docs/parsing.md).
 */
export function readIcmp(packet: Packet, step: Step): null {
  const { at, kind } = step;
  // SPEC: the header is also read in the inner packet (it is listed, and can be cut), but sets no
  // field.
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  if (step.level === "inner") return null;
  packet.fields.set(`misc3.${kind}_type`, big(packet, at, 1));
  packet.fields.set(`misc3.${kind}_code`, big(packet, at + 1, 1));
  packet.fields.set(`misc3.${kind}_header_data`, big(packet, at + 4, 4));
  return null;
}

/** SPI and sequence number (RFC 4303 section 2); the rest is encrypted. */
export function readEsp(packet: Packet, step: Step): null {
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  packet.fields.set(`misc.${step.level}_esp_spi`, big(packet, step.at, 4));
  packet.fields.set(`ext.${step.level}_esp_seq`, big(packet, step.at + 4, 4));
  return null;
}

/**
 * UDP 4500 carries ESP, IKE after a non-ESP marker of four zero bytes, and keep-alives (RFC 3948
 * section 2).
 */
export function readEspInUdp(packet: Packet, step: Step): Step | null {
  const { at, end, wireEnd } = step;
  const had = end - at;
  // SPEC: docs/parsing.md, UDP 4500: only captured bytes can show that it is not ESP.
  const keepAlive = wireEnd - at === 1 && had === 1 && number(packet, at, 1) === 0xff;
  const ike = had >= 4 && number(packet, at, 4) === 0;
  return keepAlive || ike ? null : { ...step, kind: "esp" };
}

/**
 * The base transport header (InfiniBand Architecture, annex A17 for RoCEv2); an inner one sets no
 * field.
 */
export function readBth(packet: Packet, step: Step): null {
  const { at } = step;
  if (!whole(packet, step, 12)) return null;
  seen(packet, step, 12);
  if (step.level === "inner") return null;
  packet.fields.set("misc.bth_opcode", big(packet, at, 1));
  packet.fields.set("misc.bth_dst_qp", big(packet, at + 5, 3));
  packet.fields.set("misc.bth_a", big(packet, at + 8, 1) >> 7n);
  return null;
}
