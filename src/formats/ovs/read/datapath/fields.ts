/** Keys of the datapath that flows match and actions set, and the fields that these are. */
import type { TunnelKey } from "../steps.js";
import { maskedOf, type Masked } from "../values.js";
import type { Word } from "../../../text/refusal.js";

export const CT = "the device tracks one connection per object, not all traffic";

/** Keys with fields in parentheses, and the fields that these are. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  eth: { src: "eth_src", dst: "eth_dst" },
  ipv4: { src: "ip_src", dst: "ip_dst", proto: "ip_proto", tos: "nw_tos_ecn", ttl: "nw_ttl", frag: "nw_frag" },
  ipv6: {
    src: "ipv6_src",
    dst: "ipv6_dst",
    label: "ipv6_label",
    proto: "ip_proto",
    tclass: "nw_tos_ecn",
    hlimit: "nw_ttl",
    frag: "nw_frag",
  },
  tcp: { src: "tcp_src", dst: "tcp_dst" },
  udp: { src: "udp_src", dst: "udp_dst" },
  sctp: { src: "sctp_src", dst: "sctp_dst" },
  icmp: { type: "icmp_type", code: "icmp_code" },
  icmpv6: { type: "icmpv6_type", code: "icmpv6_code" },
  mpls: { label: "mpls_label", tc: "mpls_tc", ttl: "mpls_ttl", bos: "mpls_bos" },
  arp: { sip: "arp_spa", tip: "arp_tpa", op: "arp_op", sha: "arp_sha", tha: "arp_tha" },
};

export const TUNNEL: Readonly<Record<string, TunnelKey>> = {
  tun_id: "id",
  src: "src",
  dst: "dst",
  ipv6_src: "ipv6_src",
  ipv6_dst: "ipv6_dst",
  tos: "tos",
  ttl: "ttl",
  tp_src: "tp_src",
  tp_dst: "tp_dst",
};

/** The bits of a tunnel's field. @throws NotImported */
export function tunnelBits(key: TunnelKey, value: Word): Masked {
  if (key === "src" || key === "dst") return maskedOf(value, { name: `tun_${key}`, kind: "ipv4", width: 32 });
  const isSix = key === "ipv6_src" || key === "ipv6_dst";
  return maskedOf(value, { name: `tun_${key}`, kind: isSix ? "ipv6" : "number", width: isSix ? 128 : 64 });
}

/** Parts of a tunnel that are in parentheses of their own. */
export const OTHER_PARTS: Readonly<Record<string, string>> = {
  vxlan: "the device does not match the group of VXLAN",
  erspan: "a tunnel of type erspan",
  gtpu: "a tunnel of type gtpu",
};
