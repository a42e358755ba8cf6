/** Which field of a header a match field reads, and the other way round. */
import type { FrameTree, TreeField, TreeNode } from "flowsteer/packet";

/** A field with the header that it lies in. */
export interface HeaderField {
  readonly node: TreeNode;
  readonly field: TreeField;
}

/**
 * By the name of a match field without its group and level: `header.field`, or `header#1.field` of the
 * second header of its kind. The first one that is there counts.
 */
const PLACES: Readonly<Record<string, string>> = {
  dmac: "ethernet.destination",
  smac: "ethernet.source",
  ethertype: "vlan#1.type vlan.type ethernet.type",
  first_vid: "vlan.vid",
  first_prio: "vlan.pcp",
  first_cfi: "vlan.dei",
  second_vid: "vlan#1.vid",
  second_prio: "vlan#1.pcp",
  second_cfi: "vlan#1.dei",
  ip_version: "ipv4.version ipv6.version",
  ip_protocol: "ipv4.protocol ipv6_fragment.next_header ipv6_destination.next_header ipv6.next_header",
  ip_dscp: "ipv4.dscp ipv6.dscp",
  ip_ecn: "ipv4.ecn ipv6.ecn",
  ip_ttl_hoplimit: "ipv4.ttl ipv6.hop_limit",
  ipv4_src: "ipv4.source",
  ipv4_dst: "ipv4.destination",
  ipv4_ihl: "ipv4.ihl",
  ipv4_flags: "ipv4.flags",
  frag: "ipv4.fragment_offset ipv6_fragment.fragment_offset",
  ipv4_checksum_ok: "ipv4.checksum",
  ipv6_src: "ipv6.source",
  ipv6_dst: "ipv6.destination",
  ipv6_flow_label: "ipv6.flow_label",
  tcp_sport: "tcp.source_port",
  tcp_dport: "tcp.destination_port",
  tcp_flags: "tcp.flags",
  tcp_seq_num: "tcp.sequence",
  tcp_ack_num: "tcp.acknowledgement",
  udp_sport: "udp.source_port",
  udp_dport: "udp.destination_port",
  l4_checksum_ok: "tcp.checksum udp.checksum",
  sctp_sport: "sctp.source_port",
  sctp_dport: "sctp.destination_port",
  icmp_type: "icmp.type",
  icmp_code: "icmp.code",
  icmpv6_type: "icmpv6.type",
  icmpv6_code: "icmpv6.code",
  esp_spi: "esp.spi",
  esp_seq: "esp.sequence",
  gre_protocol: "gre.protocol_type",
  gre_key: "gre.key",
  gre_c_present: "gre.c",
  gre_k_present: "gre.k",
  gre_s_present: "gre.s",
  vxlan_vni: "vxlan.vni",
  vxlan_gpe_vni: "vxlan_gpe.vni",
  vxlan_gpe_next_protocol: "vxlan_gpe.next_protocol",
  vxlan_gpe_flags: "vxlan_gpe.flags",
  geneve_vni: "geneve.vni",
  geneve_oam: "geneve.oam",
  geneve_opt_len: "geneve.opt_len",
  geneve_protocol_type: "geneve.protocol_type",
  gtpu_teid: "gtpu.teid",
  gtpu_msg_type: "gtpu.message_type",
  bth_opcode: "bth.opcode",
  bth_dst_qp: "bth.dst_qp",
  bth_a: "bth.a",
  first_mpls_label: "mpls.label",
  first_mpls_exp: "mpls.exp",
  first_mpls_s_bos: "mpls.s_bos",
  first_mpls_ttl: "mpls.ttl",
};

/** Group, level where the name says it, and name. */
const NAME = /^(\w+)\.(?:(outer|inner)_)?(.+?)(?:_over_(?:gre|udp)(_\w+))?$/;

/** The field of a header that a match field reads; null if no header that is there has it. */
export function headerFieldOf(tree: FrameTree, match: string): HeaderField | null {
  const [, group = "", stated, head = "", tail = ""] = NAME.exec(match) ?? [];
  const level = stated ?? (group === "inner" ? "inner" : "outer");
  for (const place of PLACES[head + tail]?.split(" ") ?? []) {
    const found = fieldAt(tree, level, place);
    if (found !== null) return found;
  }
  return null;
}

function fieldAt(tree: FrameTree, level: string, place: string): HeaderField | null {
  const [path = "", name] = place.split(".");
  const [header, index = "0"] = path.split("#");
  const node = tree.nodes.filter((one) => one.header === header && one.level === level)[Number(index)];
  const field = node?.fields.find((one) => one.name === name);
  return node === undefined || field === undefined ? null : { node, field };
}

/** The name of the match field that reads a field of a header; null if there is none. */
export function matchFieldOf(tree: FrameTree, node: TreeNode, field: TreeField): string | null {
  for (const key of Object.keys(PLACES)) {
    for (const name of namesOf(key, node.level)) {
      if (headerFieldOf(tree, name)?.field === field) return name;
    }
  }
  return null;
}

/** Fields of groups `outer` and `inner`; others say the level in their name, or have none. */
const LAYER =
  /^(dmac|smac|ethertype|first_(vid|prio|cfi)|ip_.*|ipv4_(src|dst|ihl|checksum_ok)|ipv6_(src|dst)|frag|(tcp|udp)_[sd]port|tcp_flags|l4_checksum_ok)$/;
const GROUPS: readonly (readonly [RegExp, string, boolean])[] = [
  [/^(second_|ipv6_flow_label|esp_spi)/, "misc", true],
  [/^first_mpls/, "misc2", true],
  [/^(tcp_(seq|ack)_num|vxlan_gpe)/, "misc3", true],
  [/^(ipv4_flags|sctp_|esp_seq)/, "ext", true],
  [/^(icmp|gtpu)/, "misc3", false],
  [/^(gre|vxlan|geneve|bth)/, "misc", false],
];

function namesOf(key: string, level: string): string[] {
  if (LAYER.test(key)) return [`${level}.${key}`];
  return GROUPS.filter(([pattern]) => pattern.test(key))
    .slice(0, 1)
    .map(([, group, levelled]) => `${group}.${levelled ? `${level}_` : ""}${key}`);
}

/** The bytes of a field. */
export function bytesOf({ offset, bit, bits }: TreeField): { readonly offset: number; readonly length: number } {
  return { offset, length: Math.ceil((bit + bits) / 8) };
}

/** The field that lies at a byte: where several share it, the first one. */
export function fieldAtByte(tree: FrameTree, at: number): HeaderField | null {
  const node = tree.nodes.find(({ offset, length }) => at >= offset && at < offset + length);
  const field = node?.fields.find((one) => {
    const { offset, length } = bytesOf(one);
    return at >= offset && at < offset + length;
  });
  return node === undefined || field === undefined ? null : { node, field };
}
