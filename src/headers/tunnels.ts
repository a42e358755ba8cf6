/** Headers of tunnels; MPLS is one of the link layer too. */
import {
  PRESENT_GENEVE,
  PRESENT_GRE,
  PRESENT_GTPU,
  PRESENT_GTPU_EXTENSION,
  PRESENT_VXLAN,
  PRESENT_VXLAN_GPE,
} from "../abi/key.js";
import { ETHERTYPE_NSH, PORT_GENEVE, PORT_GTPU, PORT_VXLAN, PORT_VXLAN_GPE, PROTOCOL_GRE } from "../abi/protocols.js";
import type { HeaderRecord } from "./record.js";

export const vxlan = {
  name: "VXLAN",
  announced: { port: PORT_VXLAN },
  present: { tunnel: PRESENT_VXLAN },
  match: { vni: "misc.vxlan_vni" },
  tunnel: "frame",
} as const satisfies HeaderRecord;

export const gre = {
  name: "GRE",
  announced: { protocol: PROTOCOL_GRE },
  present: { tunnel: PRESENT_GRE },
  match: { 0: "ext.gre_c_ks_res0_ver", protocol_type: "misc.gre_protocol" },
  reads: { c: "misc.gre_c_present", k: "misc.gre_k_present", s: "misc.gre_s_present", key: "misc.gre_key" },
  tunnel: "packet",
} as const satisfies HeaderRecord;

export const vxlan_gpe = {
  name: "VXLAN-GPE",
  announced: { port: PORT_VXLAN_GPE },
  present: { tunnel: PRESENT_VXLAN_GPE },
  match: {
    flags: "misc3.outer_vxlan_gpe_flags",
    next_protocol: "misc3.outer_vxlan_gpe_next_protocol",
    vni: "misc3.outer_vxlan_gpe_vni",
  },
  tunnel: "frame",
} as const satisfies HeaderRecord;

export const geneve = {
  name: "Geneve",
  announced: { port: PORT_GENEVE },
  present: { tunnel: PRESENT_GENEVE },
  match: {
    opt_len: "misc.geneve_opt_len",
    oam: "misc.geneve_oam",
    protocol_type: "misc.geneve_protocol_type",
    vni: "misc.geneve_vni",
  },
  tunnel: "frame",
} as const satisfies HeaderRecord;

export const gtpu = {
  name: "GTP-U",
  announced: { port: PORT_GTPU },
  present: { tunnel: PRESENT_GTPU },
  match: { 0: "misc3.gtpu_dw_0", teid: "misc3.gtpu_teid", 64: "misc3.gtpu_dw_2" },
  reads: { message_type: "misc3.gtpu_msg_type" },
  tunnel: "packet",
} as const satisfies HeaderRecord;

/** Network service header (RFC 8300). Nothing of it is matched, and nothing after it is read. */
export const nsh = {
  name: "NSH",
  announced: { etherType: ETHERTYPE_NSH, gpe: 4 },
} as const satisfies HeaderRecord;

/** The PDU session container. */
export const gtpu_extension = {
  name: "GTP-U extension",
  announced: { gtpuExtension: 0x85 },
  present: { tunnel: PRESENT_GTPU_EXTENSION },
  match: { 0: "misc3.gtpu_first_ext_dw_0" },
} as const satisfies HeaderRecord;
