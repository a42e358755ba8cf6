/** Headers of tunnels; MPLS is one of the link layer too. */
import {
  PRESENT_GENEVE,
  PRESENT_GRE,
  PRESENT_GTPU,
  PRESENT_GTPU_EXTENSION,
  PRESENT_VXLAN,
  PRESENT_VXLAN_GPE,
} from "../abi/key.js";
import { PORT_GENEVE, PORT_GTPU, PORT_VXLAN, PORT_VXLAN_GPE, PROTOCOL_GRE } from "../abi/protocols.js";
import type { HeaderRecord } from "./record.js";

export const vxlan = {
  name: "VXLAN",
  announced: { port: PORT_VXLAN },
  present: { tunnel: PRESENT_VXLAN },
  tunnel: "frame",
} as const satisfies HeaderRecord;

export const gre = {
  name: "GRE",
  announced: { protocol: PROTOCOL_GRE },
  present: { tunnel: PRESENT_GRE },
  tunnel: "packet",
} as const satisfies HeaderRecord;

export const vxlan_gpe = {
  name: "VXLAN-GPE",
  announced: { port: PORT_VXLAN_GPE },
  present: { tunnel: PRESENT_VXLAN_GPE },
  tunnel: "frame",
} as const satisfies HeaderRecord;

export const geneve = {
  name: "Geneve",
  announced: { port: PORT_GENEVE },
  present: { tunnel: PRESENT_GENEVE },
  tunnel: "frame",
} as const satisfies HeaderRecord;

export const gtpu = {
  name: "GTP-U",
  announced: { port: PORT_GTPU },
  present: { tunnel: PRESENT_GTPU },
  tunnel: "packet",
} as const satisfies HeaderRecord;

/** The PDU session container. */
export const gtpu_extension = {
  name: "GTP-U extension",
  announced: { gtpuExtension: 0x85 },
  present: { tunnel: PRESENT_GTPU_EXTENSION },
} as const satisfies HeaderRecord;
