/** What the specs of a flow match, by the names of match fields (docs/flows.md, "What a flow matches"). */
import type { ScenarioFlow, ScenarioFlowSpecObject } from "flowsteer/scenario";
import type { PipelineRule } from "../api.js";

type Match = PipelineRule["match"][number];

/** By type of spec, the match field of each field; `*` is the level. Others keep the name of the spec. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  eth: { dst_mac: "*.dmac", src_mac: "*.smac", ether_type: "*.ethertype" },
  ipv4: { src_ip: "*.ipv4_src", dst_ip: "*.ipv4_dst" },
  ipv4_ext: {
    src_ip: "*.ipv4_src",
    dst_ip: "*.ipv4_dst",
    proto: "*.ip_protocol",
    ttl: "*.ip_ttl_hoplimit",
    flags: "ext.*_ipv4_flags",
  },
  ipv6: {
    src_ip: "*.ipv6_src",
    dst_ip: "*.ipv6_dst",
    next_hdr: "*.ip_protocol",
    hop_limit: "*.ip_ttl_hoplimit",
    flow_label: "misc.*_ipv6_flow_label",
  },
  esp: { spi: "misc.*_esp_spi", seq: "ext.*_esp_seq" },
  tcp: { src_port: "*.tcp_sport", dst_port: "*.tcp_dport" },
  udp: { src_port: "*.udp_sport", dst_port: "*.udp_dport" },
  gre: { c_ks_res0_ver: "ext.gre_c_ks_res0_ver", protocol: "misc.gre_protocol", key: "misc.gre_key" },
  vxlan_tunnel: { tunnel_id: "misc.vxlan_vni" },
  mpls: {},
};

/** What a spec without fields asks for. */
const PRESENT: Readonly<Record<string, readonly [field: string, value: string]>> = {
  ipv4: ["*.ip_version", "4"],
  ipv4_ext: ["*.ip_version", "4"],
  ipv6: ["*.ip_version", "6"],
  tcp: ["*.ip_protocol", "tcp"],
  udp: ["*.ip_protocol", "udp"],
  gre: ["*.ip_protocol", "gre"],
  vxlan_tunnel: ["misc.vxlan_vni", "any"],
};

export function specMatch({ specs = [] }: ScenarioFlow): Match[] {
  return specs.flatMap((spec) => (typeof spec === "string" ? [] : matchesOf(spec)));
}

function matchesOf({ inner = false, ...spec }: ScenarioFlowSpecObject): Match[] {
  const level = inner ? "inner" : "outer";
  return Object.entries(spec).flatMap(([type, filter]) => {
    const names = FIELDS[type];
    if (names === undefined || typeof filter !== "object") return [];
    const fields = Object.entries(filter as Readonly<Record<string, string | number>>);
    const present = PRESENT[type];
    if (fields.length === 0 && present !== undefined) {
      return [{ field: present[0].replace("*", level), value: present[1] }];
    }
    return fields.map(([name, value]) => ({
      field: (names[name] ?? `${inner ? "inner " : ""}${type}.${name}`).replace("*", level),
      value: String(value),
    }));
  });
}
