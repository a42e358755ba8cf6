/** Headers of tunnels, and MPLS. */
import { ones } from "../../../base/bits.js";
import { refused, to, type ItemKind } from "./kind.js";

const GTP: ItemKind = {
  fields: {
    v_pt_rsv_flags: to("misc3.gtpu_msg_flags", 8, 0),
    msg_type: to("misc3.gtpu_msg_type", 8, 8),
    teid: to("misc3.gtpu_teid", 32, 32, ones(32)),
  },
  present: { "misc3.gtpu_teid": "any" },
  layer: "tunnel",
  outerOnly: true,
  port: 2152,
  becomes: "GTP-U",
  length: 8,
};

const MPLS: ItemKind = {
  fields: {
    label: to("MPLS_label", 20, 0, ones(20)),
    tc: to("MPLS_exp", 3, 20),
    s: to("MPLS_s_bos", 1, 23),
  },
  present: { MPLS_label: "any" },
  layer: "mpls",
  becomes: "the first MPLS entry: after Ethernet, over GRE or over UDP",
  length: 4,
};

export const TUNNEL_ITEMS: Readonly<Record<string, ItemKind>> = {
  vxlan: {
    fields: {
      vni: to("misc.vxlan_vni", 24, 32, ones(24)),
      last_rsvd: { bits: 8, to: [{ to: "misc5.tunnel_header_1" }], at: 56, readOnly: true },
    },
    present: { "misc.vxlan_vni": "any" },
    layer: "tunnel",
    outerOnly: true,
    loose: true,
    port: 4789,
    becomes: "VXLAN",
    length: 8,
  },
  "vxlan-gpe": {
    fields: { vni: to("misc3.outer_vxlan_gpe_vni", 24, 32, ones(24)) },
    present: { "misc3.outer_vxlan_gpe_vni": "any" },
    layer: "tunnel",
    outerOnly: true,
    port: 4790,
    becomes: "VXLAN-GPE",
    length: 8,
  },
  gre: {
    fields: {
      protocol: to("misc.gre_protocol", 16, 16, ones(16)),
      c_rsvd0_ver: to("ext.gre_c_ks_res0_ver", 16, 0),
      c_bit: { ...to("misc.gre_c_present", 1, 0), kind: "boolean" },
      k_bit: { ...to("misc.gre_k_present", 1, 2), kind: "boolean" },
      s_bit: { ...to("misc.gre_s_present", 1, 3), kind: "boolean" },
    },
    present: { "misc.gre_protocol": "any" },
    layer: "tunnel",
    outerOnly: true,
    loose: true,
    becomes: "GRE",
    length: 4,
  },
  gre_key: {
    fields: { value: to("misc.gre_key", 32, 0, ones(32)) },
    present: { "misc.gre_key": "any" },
    layer: "option",
    becomes: "the key of GRE",
    length: 4,
  },
  gre_option: {
    fields: {
      checksum: { bits: 16, special: "greChecksum", becomes: "`misc5.tunnel_header_1` where `gre_c_present` is 1" },
      key: to("misc.gre_key", 32),
      sequence: refused(32, "its place in the header depends on the other options"),
    },
    layer: "option",
    becomes: "options of GRE",
  },
  nvgre: {
    fields: { tni: { bits: 24, preset: ones(24), to: [{ to: "misc.gre_key", into: 8 }], at: 32 } },
    present: { "misc.gre_protocol": 0x6558n, "misc.gre_key": "any" },
    layer: "tunnel",
    outerOnly: true,
    becomes: "GRE of type 0x6558 with a key",
    length: 8,
  },
  geneve: {
    fields: {
      vni: to("misc.geneve_vni", 24, 32, ones(24)),
      protocol: to("misc.geneve_protocol_type", 16, 16),
      optlen: to("misc.geneve_opt_len", 6, 2),
    },
    present: { "misc.geneve_vni": "any" },
    layer: "tunnel",
    outerOnly: true,
    port: 6081,
    becomes: "Geneve",
    length: 8,
  },
  "geneve-opt": {
    fields: {
      class: { bits: 16, special: "with", becomes: "`class` of `device.parser.geneveOption0`" },
      type: { bits: 8, preset: ones(8), special: "with", becomes: "`type` of `device.parser.geneveOption0`" },
      length: { bits: 5, special: "with", becomes: "the number of words of data" },
      data: { bits: 32, kind: "hex", special: "optionWord", becomes: "`misc3.geneve_tlv_option_0_data`: one word" },
    },
    layer: "option",
    becomes: "Geneve option 0; one class and type in all rules, both whole",
  },
  gtp: { ...GTP, becomes: "GTP-U, as the mlx5 driver reads it" },
  gtpu: GTP,
  gtp_psc: {
    fields: {
      qfi: { bits: 6, preset: ones(6), to: [{ to: "misc3.gtpu_first_ext_dw_0", into: 8 }] },
      pdu_t: { bits: 4, to: [{ to: "misc3.gtpu_first_ext_dw_0", into: 20 }] },
    },
    present: { "misc3.gtpu_first_ext_dw_0": "any" },
    layer: "option",
    loose: true,
    becomes: "the first extension header of GTP-U, of type 0x85",
  },
  mpls: MPLS,
};
