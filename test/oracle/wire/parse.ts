// Reference parser: a plain, slow implementation of docs/parsing.md and the RFCs, independent of
// the engine. Each header is one function that reads itself and names the next one; the loop in
// `parseReference` is the complete control flow.
//
//   link layer -> [VLAN tags] -> [MPLS] -> IPv4 | IPv6 (+ extension headers) -> TCP | UDP | ICMP | ESP | ...
//                             -> ARP, MACsec, NSH                                GRE, UDP -> tunnel -> inner packet

import { type HeaderSeen, type Packet, type ParserOptions, type Payload, type Step, type Stopped } from "./packet.js";
import { readIpv4, readIpv6 } from "./ip.js";
import { readArp, readCooked, readEthernet, readFamily, readMacsec, readMpls, readNsh, readRawIp } from "./link.js";
import { takeSamples } from "./sample.js";
import { readBth, readEsp, readEspInUdp, readIcmp, readSctp, readTcp, readUdp } from "./transport.js";
import { readGeneve, readGre, readGtpu, readInnerTunnel, readVxlan, readVxlanGpe } from "./tunnels.js";

export interface ReferenceOptions {
  /** LINKTYPE_ value of the capture. */
  linkType: number;
  /** Length of the frame on the wire. */
  wireLength: number;
  /** Ingress port; 1 by default. */
  port?: number;
  /** The parser declarations of the device. */
  parser?: ParserOptions;
}

export interface ReferenceResult {
  fields: Map<string, bigint>;
  stopped: Stopped | null;
  headers: HeaderSeen[];
  /** Of the innermost level present. */
  payload: Payload;
}

const STATES = "cvlan_tag svlan_tag frag l3_ok l4_ok ipv4_checksum_ok l4_checksum_ok".split(" ");

/** Presence and state fields: always present, 0 if the header is absent (docs/parsing.md). */
export const STATE_FIELDS: readonly string[] = [
  ...["outer", "inner"].flatMap((level) => [
    ...STATES.map((name) => `${level}.${name}`),
    `misc.${level}_second_cvlan_tag`,
    `misc.${level}_second_svlan_tag`,
  ]),
  "misc.gre_c_present",
  "misc.gre_k_present",
  "misc.gre_s_present",
  "misc.geneve_tlv_option_0_exist",
];

type Reader = (packet: Packet, step: Step) => Step | null;

const READERS: Record<string, Reader> = {
  ethernet: readEthernet,
  linux_cooked: (packet, step) => readCooked(packet, step, 16, 14),
  linux_cooked_v2: (packet, step) => readCooked(packet, step, 20, 0),
  null: readFamily,
  loop: readFamily,
  arp: readArp,
  macsec: readMacsec,
  nsh: readNsh,
  mpls: readMpls,
  ip: readRawIp,
  ipv4: readIpv4,
  ipv6: readIpv6,
  tcp: readTcp,
  udp: readUdp,
  sctp: readSctp,
  icmp: readIcmp,
  icmpv6: readIcmp,
  esp: readEsp,
  esp_in_udp: readEspInUdp,
  bth: readBth,
  gre: readGre,
  vxlan: readVxlan,
  vxlan_gpe: readVxlanGpe,
  geneve: readGeneve,
  gtpu: readGtpu,
  inner_gre: readInnerTunnel,
  inner_mpls: readInnerTunnel,
};

/** LINKTYPE_ values (the tcpdump group's registry) and the first header of each. */
const LINK_TYPES = new Map<number, string>([
  [0, "null"],
  [1, "ethernet"],
  [12, "ip"],
  [14, "ip"],
  [101, "ip"],
  [108, "loop"],
  [113, "linux_cooked"],
  [228, "ipv4"],
  [229, "ipv6"],
  [276, "linux_cooked_v2"],
]);

export function parseReference(bytes: Uint8Array, options: ReferenceOptions): ReferenceResult {
  const packet: Packet = {
    bytes,
    fields: new Map(),
    headers: [],
    stopped: null,
    payload: { outer: { offset: 0, end: bytes.length } },
    parser: options.parser ?? {},
  };
  for (const name of STATE_FIELDS) packet.fields.set(name, 0n);
  packet.fields.set("ext.port", BigInt(options.port ?? 1));

  // SPEC: an unknown link type is like an unknown EtherType: no headers, and no error.
  const first = LINK_TYPES.get(options.linkType);
  // SPEC: a frame was at least as long on the wire as its captured bytes.
  const wireEnd = Math.max(options.wireLength, bytes.length);
  let step: Step | null = first ? { kind: first, level: "outer", at: 0, end: bytes.length, wireEnd } : null;
  while (step) {
    const reader: Reader | undefined = READERS[step.kind];
    if (!reader) throw new Error(`the reference has no reader for ${step.kind}`);
    step = reader(packet, step);
  }
  takeSamples(packet);
  const { fields, stopped, headers, payload } = packet;
  return { fields, stopped, headers, payload: payload.inner ?? payload.outer };
}
