// The second opinion, part 3: TCP (RFC 9293, RFC 3540 for the ninth flag), UDP (RFC 768) and the ports that lead on,
// ICMP (RFC 792, RFC 4443), SCTP (RFC 9260), ESP (RFC 4303, RFC 3948) and the BTH of RoCEv2.

import { tcpRight, udpRight } from "./checksum.js";
import { type Packet, type Step, big, number, seen, whole } from "./packet.js";

export function readTcp(packet: Packet, step: Step): null {
  const { at, level } = step;
  if (!whole(packet, step, 20)) return null;
  const dataOffset = number(packet, at + 12, 1) >> 4;
  const length = dataOffset * 4;
  const fits = at + length <= step.wireEnd;
  // A sane header is all or nothing. One whose length is bogus (below 20, or beyond the IP payload) has only its fixed
  // part, and so has one in a first fragment, where the rest may be on its way ("if their fixed header is whole").
  if (fits && !step.fragment && !whole(packet, step, length)) return null;
  // SPEC: options of a first fragment that the capture cut are no payload: nothing captured is.
  seen(packet, step, dataOffset >= 5 && fits ? Math.min(length, step.end - at) : 20);
  packet.fields.set(`${level}.tcp_sport`, big(packet, at, 2));
  packet.fields.set(`${level}.tcp_dport`, big(packet, at + 2, 2));
  packet.fields.set(`misc3.${level}_tcp_seq_num`, big(packet, at + 4, 4));
  packet.fields.set(`misc3.${level}_tcp_ack_num`, big(packet, at + 8, 4));
  packet.fields.set(`${level}.tcp_flags`, big(packet, at + 12, 2) & 0x1ffn);
  // SPEC: in a first fragment l4_ok too is judged by the wire: options behind the captured bytes do not spoil it.
  // SPEC: where the IP length was not sane, the end of the frame takes its place (l3_ok 0 and l4_ok 1 is possible).
  const ok = dataOffset >= 5 && fits && !step.lengthUnknown;
  packet.fields.set(`${level}.l4_ok`, ok ? 1n : 0n);
  packet.fields.set(`${level}.l4_checksum_ok`, ok && tcpRight(packet, step) ? 1n : 0n);
  return null;
}

/** What the destination port leads to (IANA); SPEC: the source port is never looked at. */
const PORTS = new Map<number, string>([
  [4500, "esp_in_udp"],
  [4791, "bth"],
]);

/** Tunnels, which the outer packet alone can have: one inside the inner packet is payload, but for a first label. */
const TUNNELS = new Map<number, string>([
  [2152, "gtpu"],
  [4789, "vxlan"],
  [4790, "vxlan_gpe"],
  [6081, "geneve"],
  [6635, "mpls"],
]);

export function readUdp(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  const destination = number(packet, at + 2, 2);
  const length = number(packet, at + 4, 2);
  packet.fields.set(`${level}.udp_sport`, big(packet, at, 2));
  packet.fields.set(`${level}.udp_dport`, BigInt(destination));
  // SPEC: the UDP length 0 of a jumbogram (RFC 2675 section 4) is below 8 like any other 0.
  const ok = length >= 8 && at + length <= step.wireEnd && !step.lengthUnknown;
  packet.fields.set(`${level}.l4_ok`, ok ? 1n : 0n);
  packet.fields.set(`${level}.l4_checksum_ok`, ok && udpRight(packet, step) ? 1n : 0n);

  // Only the end of the IP payload bounds what is read behind UDP, not the UDP length.
  const kind = PORTS.get(destination) ?? TUNNELS.get(destination);
  if (!kind) return null;
  if (level === "inner" && TUNNELS.has(destination)) {
    return kind === "mpls" ? { ...step, kind: "inner_mpls", at: at + 8, over: "udp" } : null;
  }
  return { ...step, kind, at: at + 8, ...(kind === "mpls" ? { over: "udp" as const } : {}) };
}

/** SCTP's common header (RFC 9260 section 3.1): twelve bytes, of which the ports are kept. */
export function readSctp(packet: Packet, step: Step): null {
  if (!whole(packet, step, 12)) return null;
  seen(packet, step, 12);
  packet.fields.set(`ext.${step.level}_sctp_sport`, big(packet, step.at, 2));
  packet.fields.set(`ext.${step.level}_sctp_dport`, big(packet, step.at + 2, 2));
  return null;
}

/** Both ICMPs: eight bytes, all or nothing; `misc3.icmp*` tell of the outer packet only (docs/parsing.md). */
export function readIcmp(packet: Packet, step: Step): null {
  const { at, kind } = step;
  // SPEC: in the inner packet the header is still read (it is listed, and can be cut), it just fills no field.
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  if (step.level === "inner") return null;
  packet.fields.set(`misc3.${kind}_type`, big(packet, at, 1));
  packet.fields.set(`misc3.${kind}_code`, big(packet, at + 1, 1));
  packet.fields.set(`misc3.${kind}_header_data`, big(packet, at + 4, 4));
  return null;
}

/** SPI and sequence number (RFC 4303 section 2); the rest is ciphered. */
export function readEsp(packet: Packet, step: Step): null {
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  packet.fields.set(`misc.${step.level}_esp_spi`, big(packet, step.at, 4));
  packet.fields.set(`ext.${step.level}_esp_seq`, big(packet, step.at + 4, 4));
  return null;
}

/** UDP 4500 carries ESP, IKE behind a non-ESP marker of four zero bytes, and keep-alives (RFC 3948 section 2). */
export function readEspInUdp(packet: Packet, step: Step): Step | null {
  const { at, end, wireEnd } = step;
  const had = end - at;
  // SPEC: docs/parsing.md, UDP 4500: only what was captured can tell that it is not ESP.
  const keepAlive = wireEnd - at === 1 && had === 1 && number(packet, at, 1) === 0xff;
  const ike = had >= 4 && number(packet, at, 4) === 0;
  return keepAlive || ike ? null : { ...step, kind: "esp" };
}

/** The base transport header (InfiniBand Architecture, annex A17 for RoCEv2); an inner one fills nothing. */
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
