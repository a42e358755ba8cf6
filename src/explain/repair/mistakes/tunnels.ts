/** Tunnels that the frame has not, or has in another form than the rule looks for. */
import { PORT_ESP, PORT_VXLAN } from "../../../abi/protocols.js";
import { EXT_PRESENT_TUNNEL } from "../../../abi/key.js";
import { HEADERS } from "../../../headers/headers.js";
import { vxlanPortError } from "../../../model/base/parser.js";
import type { FieldName } from "../../../model/match/fields.js";
import { presenceWord } from "../../match/terms.js";
import type { Facts, TermFact } from "../facts.js";
import type { Detector } from "../finding.js";
import { capital } from "../sentences.js";
import { looksLike } from "./evidence.js";
import { isUdpTunnel, otherLevel, takes } from "./places.js";
import { differs, isPresentTerm, leavesOut, moves, takesFound } from "./terms.js";

/** What is over UDP, by the fields that name it. */
const OVER_UDP: readonly (readonly [
  fields: RegExp,
  header: "vxlan" | "vxlan_gpe" | "geneve" | "gtpu" | "mpls" | "bth",
])[] = [
  [/^misc\.vxlan_vni$/, "vxlan"],
  [/^misc3\.outer_vxlan_gpe_/, "vxlan_gpe"],
  [/^misc3?\.geneve_/, "geneve"],
  [/^misc3\.gtpu_/, "gtpu"],
  [/^misc2\.outer_first_mpls_over_udp_/, "mpls"],
  [/^misc\.bth_/, "bth"],
  [/^inner\.|^misc5\.tunnel_header_/, "vxlan"],
];

/** A tunnel that the bytes after UDP look like; the fields of a packet inside may be in VXLAN. */
const otherPort: Detector = {
  name: "tunnel-on-other-port",
  detect(facts) {
    const port = facts.found("outer.udp_dport");
    if (port === null) return null;
    const { udpPorts, vxlanPorts } = facts.context.device.parser;
    for (const { name, found } of facts.failing) {
      const header = OVER_UDP.find(([fields]) => fields.test(name))?.[1];
      if (found !== null || header === undefined || udpPorts[header].includes(Number(port))) continue;
      if (!looksLike(header, overUdp(facts))) continue;
      const { name: kind } = header === "mpls" ? HEADERS.mpls.variants.mpls_over_udp : HEADERS[header];
      const udp = facts.term("outer.udp_dport");
      const asks = udp !== undefined && udp.agrees ? ` The rule itself expects outer.udp_dport ${udp.wanted}.` : "";
      const wanted = udpPorts[header].join(" or ");
      const send = wanted === "" ? [] : [`send ${kind} to port ${wanted}`];
      const why = header === "vxlan" ? vxlanPortError(Number(port), vxlanPorts) : "";
      const register = why === null ? ["register the port"] : [];
      const full = header === "vxlan" && why !== null ? ` Port ${port} cannot be registered: ${why}.` : "";
      return {
        sentence: `${name} needs a ${kind} header, which the device recognizes only on UDP port ${wanted || "none"}, and the frame has one on UDP port ${port}.${asks}${full} ${capital([...register, ...send].join(", or "))}.`,
        unread: true,
        ...(why === null ? { vxlanPort: Number(port) } : {}),
      };
    }
    return null;
  },
};

/** Tunnels with a VNI, each in a field of its own. */
const VNIS = [
  ["misc.vxlan_vni", "vxlan"],
  ["misc3.outer_vxlan_gpe_vni", "vxlan_gpe"],
  ["misc.geneve_vni", "geneve"],
] as const;

/** The VNI of another tunnel than that of the frame. */
const otherVni: Detector = {
  name: "vni-of-other-tunnel",
  detect(facts) {
    const is = VNIS.find(([field]) => facts.found(field) !== null);
    const wanted = VNIS.map(([field, header]) => ({ term: facts.failed(field), header })).find(
      ({ term }) => term?.found === null,
    );
    if (is === undefined || wanted?.term === undefined || !takes(wanted.term, facts.found(is[0]))) return null;
    const { term, header } = wanted;
    return {
      sentence: `${term.name} needs a ${HEADERS[header].name} header, and the frame has ${HEADERS[is[1]].name}, whose VNI is ${is[0]}.`,
      changes: moves(term, is[0]),
    };
  },
};

/** What follows the outer UDP header of the frame at the table. */
function overUdp({ there, context: { frameThere } }: Facts): Uint8Array {
  const udp = there.headers.find(({ header, level }) => header === "udp" && level === "outer");
  return udp === undefined ? new Uint8Array() : frameThere.subarray(udp.offset + 8);
}

const withoutTunnel: Detector = {
  name: "inner-without-tunnel",
  detect(facts) {
    const { failing, context } = facts;
    const inner = failing.filter(
      ({ name, found }) => found === null && (name.startsWith("inner.") || name.includes(".inner_")),
    );
    const first = inner.find(({ name }) => !name.endsWith(".ip_version")) ?? inner[0];
    const hasInner = facts.there.headers.some(({ level }) => level === "inner");
    if (first === undefined || hasInner) return null;
    const decap = context.trace.steps.some((step) => step.kind === "action" && step.text.startsWith("removes the"));
    const why = decap
      ? "an earlier rule removed its tunnel, so its fields are the outer ones now"
      : presenceWord(context.key, EXT_PRESENT_TUNNEL) === 0
        ? "the frame has no tunnel"
        : "the device reads no packet inside the tunnel of the frame";
    const outer = otherLevel(first.name) ?? "";
    const isOuter = outer !== "" && takes(first, facts.found(outer as FieldName));
    const sentence = `${first.name} is a field of the packet inside a tunnel, and ${why}.`;
    const isRead = presenceWord(context.key, EXT_PRESENT_TUNNEL) === 0 || decap;
    if (outer === "" || !(isOuter || isRead)) return { sentence };
    return {
      sentence: `${sentence} Match the outer fields, such as ${outer}.`,
      changes: inner.flatMap((term) => moves(term, term.name.replace("inner", "outer"))),
    };
  },
};

const greKey: Detector = {
  name: "gre-key-absent",
  detect(facts) {
    const term = facts.failed("misc.gre_key") ?? facts.failed("misc.gre_k_present");
    if (term === undefined || facts.found("misc.gre_protocol") === null || facts.found("misc.gre_k_present") !== 0n)
      return null;
    if (term.name === "misc.gre_k_present" && term.value === 0n) return null;
    return {
      sentence: `The rule expects ${term.name} = ${term.wanted}, and the GRE header of the frame has no key: its K bit is 0. Send it with a key, or match misc.gre_k_present 0.`,
      changes: [leavesOut(term)],
    };
  },
};

/** UDP port of VXLAN in Linux before the standard. */
const PORT_VXLAN_LINUX = 8472;

const linuxPort: Detector = {
  name: "vxlan-port-of-linux",
  detect(facts) {
    const term = facts.failed("outer.udp_dport");
    if (term === undefined || !isPresentTerm(term)) return null;
    const [wanted, found] = [Number(term.value), Number(term.found)];
    const ports = [PORT_VXLAN, PORT_VXLAN_LINUX];
    if (wanted === found || !ports.includes(wanted) || !ports.includes(found)) return null;
    return {
      sentence: `${differs(term)}: VXLAN has UDP port ${PORT_VXLAN} (RFC 7348), and Linux defaults to ${PORT_VXLAN_LINUX}. Use ${PORT_VXLAN} at both ends.`,
      changes: [takesFound(term)],
    };
  },
};

const sourcePort: Detector = {
  name: "tunnel-source-port",
  detect(facts) {
    const term = facts.failed("outer.udp_sport");
    const wantsTunnel = facts.terms.some(
      ({ name, agrees }) => agrees && (name === "outer.udp_dport" || name.endsWith("_vni")),
    );
    if (term === undefined || term.found === null || !isUdpTunnel(facts)) return null;
    const port = facts.found("outer.udp_dport");
    if (takes(term, port) && facts.term("outer.udp_dport") === undefined) {
      return {
        sentence: `The rule expects ${term.name} = ${term.wanted}, and the frame has ${term.found}: the port of a tunnel over UDP is its destination port. The source port is a hash of the inner packet and differs from flow to flow.`,
        changes: moves(term, "outer.udp_dport"),
      };
    }
    if (!wantsTunnel && facts.terms.length > 1) return null;
    return {
      sentence: `The rule expects ${term.name} = ${term.wanted}, and the frame has ${term.found}: the source port of a tunnel over UDP is a hash of the inner packet and differs from flow to flow. Leave it out.`,
      changes: [leavesOut(term)],
    };
  },
};

/** Parts of tunnel headers that not every one has: fields, the header, and what is missing. */
const OPTIONAL: readonly (readonly [name: string, fields: RegExp, header: FieldName, why: string])[] = [
  [
    "geneve-option-absent",
    /geneve_tlv_option_0_/,
    "misc.geneve_vni",
    "the Geneve header of the frame has no option of the class and type that the device declares (parser.geneveOption0; the type includes the critical bit 0x80)",
  ],
  [
    "gtpu-extension-absent",
    /gtpu_first_ext_dw_0/,
    "misc3.gtpu_teid",
    "the GTP-U header of the frame has no extension header (bit E), such as the PDU session container with the QFI",
  ],
  [
    "gtpu-option-absent",
    /gtpu_dw_2/,
    "misc3.gtpu_teid",
    "the GTP-U header of the frame has none of the flags E, S and PN, so it is only 8 bytes long",
  ],
];

const optionalParts: readonly Detector[] = OPTIONAL.map(([name, fields, header, why]) => ({
  name,
  detect(facts) {
    const term = facts.failing.find((one) => fields.test(one.name) && (one.found === null || one.found === 0n));
    if (term === undefined || facts.found(header) === null) return null;
    return { sentence: `The rule expects ${term.name} = ${term.wanted}, and ${why}.`, changes: [leavesOut(term)] };
  },
}));

/** The places of label stacks. */
const STACKS = ["misc2.outer_first_mpls", "misc2.outer_first_mpls_over_udp", "misc2.outer_first_mpls_over_gre"];

const otherStack: Detector = {
  name: "mpls-in-other-place",
  detect(facts) {
    const place = ({ name }: TermFact): string => name.replace(/_(label|exp|s_bos|ttl)$/, "");
    const terms = facts.failing.filter((term) => term.found === null && STACKS.includes(place(term)));
    const [first] = terms;
    const to = STACKS.find((stack) => facts.found(`${stack}_label` as FieldName) !== null);
    if (first === undefined || to === undefined) return null;
    return {
      sentence: `${first.name} is a field for a label elsewhere in the packet; the label of the frame is ${to}_label ${facts.foundText(`${to}_label` as FieldName)}. MPLS over Ethernet, over UDP (port 6635) and over GRE have fields of their own.`,
      changes: terms.flatMap((term) => moves(term, term.name.replace(place(term), to))),
    };
  },
};

const greCarries: Detector = {
  name: "gre-carries-other",
  detect(facts) {
    const term = facts.failed("misc.gre_protocol");
    if (term === undefined || !isPresentTerm(term)) return null;
    const names: Readonly<Record<string, string>> = {
      0x0800: "IPv4",
      0x86dd: "IPv6",
      0x6558: "Ethernet frames",
      0x8847: "MPLS",
    };
    const [wanted, found] = [names[term.value.toString()], names[term.found.toString()]];
    if (wanted === undefined || found === undefined) return null;
    return {
      sentence: `${differs(term)}: the rule is for GRE with ${wanted}, and the tunnel carries ${found}. Linux has gre for packets and gretap for frames.`,
      changes: [takesFound(term)],
    };
  },
};

const ikeAtEspPort: Detector = {
  name: "no-esp-at-port-4500",
  detect(facts) {
    const term = facts.failing.find(({ name, found }) => found === null && /esp_(spi|seq)$/.test(name));
    if (term === undefined || facts.found("outer.udp_dport") !== BigInt(PORT_ESP)) return null;
    return {
      sentence: `${term.name} needs an ESP header, and the datagram to UDP port ${PORT_ESP} has none: four leading zero bytes mean IKE, and the one byte 0xff is a keep-alive (RFC 3948). IKE belongs to the host.`,
    };
  },
};

/** The EtherType of RoCE version 1. */
const ETHERTYPE_ROCE = 0x8915n;

const firstRoce: Detector = {
  name: "roce-version-1",
  detect(facts) {
    const term = facts.failing.find(({ found }) => found === null);
    if (term === undefined || facts.found("outer.ethertype") !== ETHERTYPE_ROCE) return null;
    return {
      sentence: `${term.name} is absent, because the frame is RoCE version 1 (EtherType 0x8915), which has no IP and UDP headers. Set the RoCE mode of both ends to version 2.`,
    };
  },
};

export const TUNNELS: readonly Detector[] = [
  otherStack,
  otherVni,
  otherPort,
  withoutTunnel,
  linuxPort,
  sourcePort,
  ...optionalParts,
  greKey,
  greCarries,
  ikeAtEspPort,
  firstRoce,
];
