// The second opinion, part 2: TCP (RFC 9293, RFC 3540 for the ninth flag), UDP (RFC 768), ICMP (RFC 792, RFC 4443) and
// VXLAN (RFC 7348).

import { type Packet, type Step, big, number, seen, whole } from "./packet.js";

const VXLAN_PORT = 4789;

export function readTcp(packet: Packet, step: Step): null {
  const { at, level } = step;
  if (!whole(packet, step, 20)) return null;
  const dataOffset = number(packet, at + 12, 1) >> 4;
  const length = dataOffset * 4;
  const fits = at + length <= step.wireEnd;
  // A sane header is all or nothing. One whose length is bogus (below 20, or beyond the IP payload) has only its fixed
  // part, and so has one in a first fragment, where the rest may be on its way ("if their fixed header is whole").
  if (fits && !step.fragment && !whole(packet, step, length)) return null;
  seen(packet, step);
  packet.fields.set(`${level}.tcp_sport`, big(packet, at, 2));
  packet.fields.set(`${level}.tcp_dport`, big(packet, at + 2, 2));
  packet.fields.set(`misc3.${level}_tcp_seq_num`, big(packet, at + 4, 4));
  packet.fields.set(`misc3.${level}_tcp_ack_num`, big(packet, at + 8, 4));
  packet.fields.set(`${level}.tcp_flags`, big(packet, at + 12, 2) & 0x1ffn);
  // SPEC: in a first fragment l4_ok too is judged by the wire: options behind the captured bytes do not spoil it.
  // SPEC: where the IP length was not sane, the end of the frame takes its place (l3_ok 0 and l4_ok 1 is possible).
  const ok = dataOffset >= 5 && fits && !step.lengthUnknown;
  packet.fields.set(`${level}.l4_ok`, ok ? 1n : 0n);
  return null;
}

export function readUdp(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  if (!whole(packet, step, 8)) return null;
  seen(packet, step);
  const destination = number(packet, at + 2, 2);
  const length = number(packet, at + 4, 2);
  packet.fields.set(`${level}.udp_sport`, big(packet, at, 2));
  packet.fields.set(`${level}.udp_dport`, BigInt(destination));
  // SPEC: the UDP length 0 of a jumbogram (RFC 2675 section 4) is below 8 like any other 0.
  const ok = length >= 8 && at + length <= step.wireEnd && !step.lengthUnknown;
  packet.fields.set(`${level}.l4_ok`, ok ? 1n : 0n);

  // Only the end of the IP payload bounds what is read behind UDP, not the UDP length. A tunnel inside the inner packet
  // is payload (parsing rulings). Later: vxlan_gpe (4790), geneve (6081), mpls (6635), gtpu (2152), esp (4500), roce.
  if (level === "outer" && destination === VXLAN_PORT) return { ...step, kind: "vxlan", at: at + 8 };
  return null;
}

/** Both ICMPs: eight bytes, all or nothing; `misc3.icmp*` tell of the outer packet only (parsing rulings). */
export function readIcmp(packet: Packet, step: Step): null {
  const { at, kind } = step;
  // SPEC: in the inner packet the header is still read (it is listed, and can be cut), it just fills no field.
  if (!whole(packet, step, 8)) return null;
  seen(packet, step);
  if (step.level === "inner") return null;
  packet.fields.set(`misc3.${kind}_type`, big(packet, at, 1));
  packet.fields.set(`misc3.${kind}_code`, big(packet, at + 1, 1));
  packet.fields.set(`misc3.${kind}_header_data`, big(packet, at + 4, 4));
  return null;
}

/** VXLAN, with or without the I bit (parsing rulings); behind it an Ethernet frame, one level down. */
export function readVxlan(packet: Packet, step: Step): Step | null {
  const { at } = step;
  // SPEC: fewer than eight bytes behind UDP port 4789 are a cut VXLAN header.
  if (!whole(packet, step, 8)) return null;
  seen(packet, step);
  packet.fields.set("misc.vxlan_vni", big(packet, at + 4, 3));
  packet.fields.set("misc5.tunnel_header_0", big(packet, at, 4));
  packet.fields.set("misc5.tunnel_header_1", big(packet, at + 4, 4));
  // The inner packet starts afresh: what was said of the outer IP packet (fragment, unknown length) ends here.
  return { kind: "ethernet", level: "inner", at: at + 8, end: step.end, wireEnd: step.wireEnd };
}
