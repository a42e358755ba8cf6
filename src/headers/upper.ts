/** Headers of the upper layer: what an IP packet carries. */
import {
  PRESENT_BTH,
  PRESENT_ESP,
  PRESENT_ICMP,
  PRESENT_ICMPV6,
  PRESENT_SCTP,
  PRESENT_TCP,
  PRESENT_UDP,
} from "../abi/key.js";
import {
  PORT_ESP,
  PORT_ROCE,
  PROTOCOL_ESP,
  PROTOCOL_ICMP,
  PROTOCOL_ICMPV6,
  PROTOCOL_SCTP,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
} from "../abi/protocols.js";
import type { HeaderRecord } from "./record.js";

export const tcp = {
  name: "TCP",
  announced: { protocol: PROTOCOL_TCP },
  present: { outer: PRESENT_TCP, inner: PRESENT_TCP },
  match: {
    source_port: "*.tcp_sport",
    destination_port: "*.tcp_dport",
    sequence: "misc3.*_tcp_seq_num",
    acknowledgement: "misc3.*_tcp_ack_num",
    flags: "*.tcp_flags",
  },
  reads: { checksum: "*.l4_checksum_ok" },
  layer: "upper",
} as const satisfies HeaderRecord;

export const udp = {
  name: "UDP",
  announced: { protocol: PROTOCOL_UDP },
  present: { outer: PRESENT_UDP, inner: PRESENT_UDP },
  match: { source_port: "*.udp_sport", destination_port: "*.udp_dport" },
  reads: { checksum: "*.l4_checksum_ok" },
  layer: "upper",
} as const satisfies HeaderRecord;

export const sctp = {
  name: "SCTP",
  announced: { protocol: PROTOCOL_SCTP },
  present: { outer: PRESENT_SCTP, inner: PRESENT_SCTP },
  match: { source_port: "ext.*_sctp_sport", destination_port: "ext.*_sctp_dport" },
  layer: "upper",
} as const satisfies HeaderRecord;

/** Inner ICMP and ICMPv6 headers are listed and fill nothing (docs/parsing.md). */
export const icmp = {
  name: "ICMP",
  announced: { protocol: PROTOCOL_ICMP },
  present: { outer: PRESENT_ICMP },
  match: { type: "misc3.icmp_type", code: "misc3.icmp_code", 32: "misc3.icmp_header_data" },
  layer: "upper",
} as const satisfies HeaderRecord;

export const icmpv6 = {
  name: "ICMPv6",
  announced: { protocol: PROTOCOL_ICMPV6 },
  present: { outer: PRESENT_ICMPV6 },
  match: { type: "misc3.icmpv6_type", code: "misc3.icmpv6_code", 32: "misc3.icmpv6_header_data" },
  layer: "upper",
} as const satisfies HeaderRecord;

/** Over IP, or over UDP (RFC 3948). */
export const esp = {
  name: "ESP",
  announced: { protocol: PROTOCOL_ESP, port: PORT_ESP },
  present: { outer: PRESENT_ESP, inner: PRESENT_ESP },
  match: { spi: "misc.*_esp_spi", sequence: "ext.*_esp_seq" },
  layer: "upper",
} as const satisfies HeaderRecord;

export const bth = {
  name: "RoCE",
  title: "BTH of RoCE",
  announced: { port: PORT_ROCE },
  present: { tunnel: PRESENT_BTH },
  match: { opcode: "misc.bth_opcode", a: "misc.bth_a", dst_qp: "misc.bth_dst_qp" },
} as const satisfies HeaderRecord;
