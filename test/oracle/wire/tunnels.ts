// Reference parser, part 4: tunnels. VXLAN (RFC 7348), VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe),
// Geneve (RFC 8926), GRE (RFC 2784, 2890, 1701, 2637, 7637) and GTP-U (3GPP TS 29.281).

import { byNibble, readMpls } from "./link.js";
import { type Packet, type Step, big, enter, number, refuse, seen, seenCut, whole } from "./packet.js";

/** The first four dwords of the tunnel's own header, as far as they exist. */
function keepDwords(packet: Packet, step: Step, length: number): void {
  for (let i = 0; i < Math.min(4, Math.floor(length / 4)); i++)
    packet.fields.set(`misc5.tunnel_header_${i}`, big(packet, step.at + 4 * i, 4));
}

/** The protocol types that GRE and Geneve share. */
const PROTOCOL_TYPES = new Map<number, string>([
  [0x0800, "ipv4"],
  [0x86dd, "ipv6"],
  [0x6558, "ethernet"],
]);

/** VXLAN, with or without the I bit (docs/parsing.md), followed by an Ethernet frame. */
export function readVxlan(packet: Packet, step: Step): Step | null {
  // SPEC: fewer than eight bytes after a port of VXLAN are a cut VXLAN header.
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  packet.fields.set("misc.vxlan_vni", big(packet, step.at + 4, 3));
  keepDwords(packet, step, 8);
  return enter(packet, step, "ethernet", step.at + 8);
}

const GPE_PROTOCOLS = ["", "ipv4", "ipv6", "ethernet"];

/** | flags | reserved 2 | next protocol | VNI 3 | reserved |, with any flags (docs/parsing.md). */
export function readVxlanGpe(packet: Packet, step: Step): Step | null {
  const { at } = step;
  if (!whole(packet, step, 8)) return null;
  seen(packet, step, 8);
  const next = number(packet, at + 3, 1);
  packet.fields.set("misc3.outer_vxlan_gpe_flags", big(packet, at, 1));
  packet.fields.set("misc3.outer_vxlan_gpe_next_protocol", BigInt(next));
  packet.fields.set("misc3.outer_vxlan_gpe_vni", big(packet, at + 4, 3));
  keepDwords(packet, step, 8);
  // SPEC: NSH after it belongs to the tunnel, and ends the parse.
  if (next === 4) return { ...step, kind: "nsh", at: at + 8 };
  const kind = GPE_PROTOCOLS[next];
  return kind ? enter(packet, step, kind, at + 8) : null;
}

/** RFC 8926 section 3.4. */
export function readGeneve(packet: Packet, step: Step): Step | null {
  const { at } = step;
  if (!whole(packet, step, 8)) return null;
  const first = number(packet, at, 1);
  const known = first >> 6 === 0;
  // SPEC: in another version the bytes after the first eight are unknown.
  const length = known ? 8 + 4 * (first & 0x3f) : 8;
  if (!whole(packet, step, length)) return null;
  seen(packet, step, length);
  const type = number(packet, at + 2, 2);
  packet.fields.set("misc.geneve_opt_len", BigInt(first & 0x3f));
  packet.fields.set("misc.geneve_oam", big(packet, at + 1, 1) >> 7n);
  packet.fields.set("misc.geneve_protocol_type", BigInt(type));
  packet.fields.set("misc.geneve_vni", big(packet, at + 4, 3));
  keepDwords(packet, step, length);
  if (!known) return null;
  findOption0(packet, at + 8, at + length);
  const kind = PROTOCOL_TYPES.get(type);
  return kind ? enter(packet, step, kind, at + length) : null;
}

/** The first option of the class and type that the device declares (RFC 8926 section 3.5). */
function findOption0(packet: Packet, start: number, end: number): void {
  const declared = packet.parser.geneveOption0;
  if (!declared) return;
  for (let at = start; at < end;) {
    const data = 4 * (number(packet, at + 3, 1) & 0x1f);
    if (at + 4 + data > end) return;
    if (number(packet, at, 2) === declared.class && number(packet, at + 2, 1) === declared.type) {
      packet.fields.set("misc.geneve_tlv_option_0_exist", 1n);
      if (data > 0) packet.fields.set("misc3.geneve_tlv_option_0_data", big(packet, at + 4, 4));
      return;
    }
    at += 4 + data;
  }
}

const CHECKSUM = 0x8000;
const ROUTING = 0x4000;
const KEY = 0x2000;
const SEQUENCE = 0x1000;
const ACKNOWLEDGEMENT = 0x0080;

export function readGre(packet: Packet, step: Step): Step | null {
  const { at } = step;
  if (!whole(packet, step, 4)) return null;
  const flags = number(packet, at, 2);
  const type = number(packet, at + 2, 2);
  // SPEC: version 1 that carries an IP packet or a frame is read as version 0.
  const version = (flags & 7) === 1 && PROTOCOL_TYPES.has(type) ? 0 : flags & 7;
  const has = (bit: number): boolean => (flags & bit) !== 0;
  // RFC 1701: checksum and offset are both present if either the checksum or the routing bit is
  // set.
  const keyAt = has(CHECKSUM) || has(ROUTING) ? 8 : 4;
  let length = keyAt + (has(KEY) ? 4 : 0) + (has(SEQUENCE) ? 4 : 0);
  if (version !== 0 && has(ACKNOWLEDGEMENT)) length += 4; // RFC 2637 section 4.1
  let cut = !whole(packet, step, length);
  if (!cut && version === 0 && has(ROUTING)) {
    const end = endOfRoutes(packet, step, length);
    if (end === null) cut = true;
    else length = end;
  }
  if (has(CHECKSUM)) packet.fields.set("misc.gre_c_present", 1n);
  if (has(KEY)) packet.fields.set("misc.gre_k_present", 1n);
  if (has(SEQUENCE)) packet.fields.set("misc.gre_s_present", 1n);
  packet.fields.set("misc.gre_protocol", BigInt(type));
  packet.fields.set("ext.gre_c_ks_res0_ver", BigInt(flags));
  if (cut) {
    seenCut(packet, step);
    keepDwords(packet, step, 4);
    return null;
  }
  seen(packet, step, length);
  if (has(KEY)) packet.fields.set("misc.gre_key", big(packet, at + keyAt, 4));
  keepDwords(packet, step, length);

  if (version !== 0) return null;
  if (type === 0x8847 || type === 0x8848) return { ...step, kind: "mpls", at: at + length, over: "gre" };
  const kind = PROTOCOL_TYPES.get(type);
  return kind ? enter(packet, step, kind, at + length) : null;
}

/**
 * Source route entries (RFC 1701): | address family 2 | offset | length | length bytes |, up to the
 * entry whose family and length are both 0. Offsets are from the start of the header.
 */
function endOfRoutes(packet: Packet, step: Step, start: number): number | null {
  for (let next = start; ;) {
    if (!whole(packet, step, next + 4)) return null;
    const family = number(packet, step.at + next, 2);
    const length = number(packet, step.at + next + 3, 1);
    if (!whole(packet, step, next + 4 + length)) return null;
    next += 4 + length;
    if (family === 0 && length === 0) return next;
  }
}

/**
 * GRE or MPLS entries inside the inner packet (docs/parsing.md): payload, which is not listed and
 * stops nothing. Only the first entry sets fields, where it would in the outer packet.
 */
export function readInnerTunnel(packet: Packet, step: Step): null {
  const aside: Packet = { ...packet, fields: new Map(), headers: [], payload: { ...packet.payload } };
  const outer: Step = { ...step, kind: step.kind === "inner_gre" ? "gre" : "mpls", level: "outer" };
  const entries = outer.kind === "gre" ? readGre(aside, outer) : outer;
  if (entries?.kind === "mpls") readMpls(aside, entries);
  for (const [field, value] of aside.fields) {
    const name = /^misc2\.outer_(first_mpls_over_.*)$/.exec(field)?.[1];
    if (name) packet.fields.set(`ext.inner_${name}`, value);
  }
  return null;
}

const G_PDU = 255;

/** TS 29.281 section 5.1. */
export function readGtpu(packet: Packet, step: Step): Step | null {
  const { at } = step;
  if (!whole(packet, step, 8)) return null;
  const flags = number(packet, at, 1);
  const known = flags >> 5 === 1 && (flags & 0x10) !== 0;
  const optional = known && (flags & 0x07) !== 0;
  const cut = optional && !whole(packet, step, 12);
  const length = optional && !cut ? 12 : 8;
  if (cut) seenCut(packet, step);
  else seen(packet, step, length);
  packet.fields.set("misc3.gtpu_msg_flags", BigInt(flags));
  packet.fields.set("misc3.gtpu_msg_type", big(packet, at + 1, 1));
  packet.fields.set("misc3.gtpu_teid", big(packet, at + 4, 4));
  packet.fields.set("misc3.gtpu_dw_0", big(packet, at, 4));
  if (optional && !cut) packet.fields.set("misc3.gtpu_dw_2", big(packet, at + 8, 4));
  keepDwords(packet, step, length);
  if (!known || cut) return null;
  const end = (flags & 0x04) !== 0 ? endOfExtensions(packet, { ...step, at: at + length }) : at + length;
  if (end === null || number(packet, at + 1, 1) !== G_PDU) return null;
  return byNibble(packet, { ...step, at: end }, true);
}

/**
 * Extension headers (TS 29.281 section 5.2.1); `step` is after the header, whose last byte names
 * the first one.
 */
function endOfExtensions(packet: Packet, step: Step): number | null {
  let next = step.at;
  while (number(packet, next - 1, 1) !== 0) {
    const extension: Step = { ...step, kind: "gtpu_extension", at: next };
    // SPEC: fewer than four bytes are a cut header of four, whatever its length byte contains.
    if (!whole(packet, extension, 4)) return null;
    const length = 4 * number(packet, next, 1);
    if (length === 0) return refuse(packet, extension, "length", 4, "bad_header_length");
    if (!whole(packet, extension, length)) return null;
    seen(packet, extension, length);
    if (next === step.at) {
      packet.fields.set("misc3.gtpu_first_ext_dw_0", big(packet, next, 4));
      packet.fields.set("misc5.tunnel_header_3", big(packet, next, 4));
    }
    next += length;
  }
  return next;
}
