/** The fields of the action modify_field, in DPDK 22.11, and the match fields that they are. */
export interface ChangeField {
  /** `{}` is outer or inner. */
  readonly name: string;
  readonly bits: number;
  /** The device does not change it in the inner packet. */
  readonly outerOnly?: true;
  /** Later versions of DPDK have it: it is read, and never written. */
  readonly readOnly?: true;
}

const field = (name: string, bits: number): ChangeField => ({ name, bits });
const ECN: ChangeField = { name: "{}.ip_ecn", bits: 2, outerOnly: true, readOnly: true };
const VNI = "the device does not change the VNI";

/** By their names; a text says why one is refused. */
export const CHANGE_FIELDS: Readonly<Record<string, ChangeField | string>> = {
  mac_dst: field("{}.dmac", 48),
  mac_src: field("{}.smac", 48),
  vlan_type: "the type of a tag cannot be changed",
  vlan_id: { name: "{}.first_vid", bits: 12, outerOnly: true },
  mac_type: field("{}.ethertype", 16),
  ipv4_dscp: field("{}.ip_dscp", 6),
  ipv4_ttl: field("{}.ip_ttl_hoplimit", 8),
  ipv4_src: field("{}.ipv4_src", 32),
  ipv4_dst: field("{}.ipv4_dst", 32),
  ipv6_dscp: field("{}.ip_dscp", 6),
  ipv6_hoplimit: field("{}.ip_ttl_hoplimit", 8),
  ipv6_src: field("{}.ipv6_src", 128),
  ipv6_dst: field("{}.ipv6_dst", 128),
  tcp_port_src: field("{}.tcp_sport", 16),
  tcp_port_dst: field("{}.tcp_dport", 16),
  tcp_seq_num: field("misc3.{}_tcp_seq_num", 32),
  tcp_ack_num: field("misc3.{}_tcp_ack_num", 32),
  tcp_flags: field("{}.tcp_flags", 9),
  udp_port_src: field("{}.udp_sport", 16),
  udp_port_dst: field("{}.udp_dport", 16),
  vxlan_vni: VNI,
  geneve_vni: VNI,
  gtp_teid: { name: "misc3.gtpu_teid", bits: 32, outerOnly: true },
  tag: field("tag", 32),
  mark: "the tag of a frame is not a field: use the action mark",
  meta: field("meta", 32),
  ipv4_ecn: ECN,
  ipv6_ecn: ECN,
  gtp_psc_qfi: "the device does not change extension headers of GTP-U",
  meter_color: "the colour is in a register that the meter writes",
};

/** The fields that change a match field, by their names: two where each IP version has its own. */
export function changeFieldsOf(name: string): [string, ChangeField][] {
  const isInner = /^(?:\w+\.)?inner[._]/.test(name);
  const template = name.replace(/outer|inner/, "{}");
  return Object.entries(CHANGE_FIELDS).flatMap(([word, of]) => {
    const isIt = typeof of === "object" && of.name === template && of.readOnly !== true;
    return isIt && !(isInner && of.outerOnly === true) ? [[word, of]] : [];
  });
}
