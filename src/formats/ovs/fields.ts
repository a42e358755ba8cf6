/** The fields of Open vSwitch, by all their names, and the bits of ours that they are. */
import { ones } from "../../base/bits.js";
import type { Element } from "../reading/format.js";

/** Names of fields that are no match fields of ours yet: registers, and samples of headers. */
export const register = (number: number): string => `@reg ${number}`;
export const METADATA_HIGH = 16;
export const METADATA_LOW = 17;
/** The zone of a connection in the upper half, its state in the lower one; 0 before `ct`. */
export const CT = 18;
/** The colour that a meter gave last. */
export const COLOUR = 19;
export const sample = (header: string, offset: number): string => `@sample ${header} ${offset}`;

/** Bits of a field of ours, or of a place that the importer chooses. */
export interface Ask {
  readonly field: string;
  readonly value: bigint;
  readonly mask: bigint;
}

export type FieldKind = "number" | "mac" | "ipv4" | "ipv6";

/** Bits `low` to `low + width - 1` of a field of Open vSwitch are those from `at` on of one of ours. */
export interface FieldPart {
  readonly field: string;
  readonly low: number;
  readonly width: number;
  readonly at: number;
}

/** What a frame must be for a field to be there. */
export interface Needs {
  readonly types?: readonly number[];
  readonly protocols?: readonly number[];
}

export interface OvsField {
  readonly name: string;
  readonly names: readonly string[];
  readonly width: number;
  readonly kind: FieldKind;
  /** Empty: its meaning is made elsewhere (ports, tags, tunnels). */
  readonly parts: readonly FieldPart[];
  readonly needs: Needs;
  /** Whether a change can write it. */
  readonly writable: boolean;
  readonly element: Element;
}

export const TYPE = { ipv4: 0x0800, ipv6: 0x86dd, arp: 0x0806, rarp: 0x8035, mpls: 0x8847, mplsm: 0x8848 } as const;
export const PROTOCOL = { icmp: 1, igmp: 2, tcp: 6, udp: 17, icmp6: 58, sctp: 132 } as const;

export const IP: Needs = { types: [TYPE.ipv4, TYPE.ipv6] };
const IPV4: Needs = { types: [TYPE.ipv4] };
const IPV6: Needs = { types: [TYPE.ipv6] };
const ARP: Needs = { types: [TYPE.arp, TYPE.rarp] };
const MPLS: Needs = { types: [TYPE.mpls, TYPE.mplsm] };
const over = (protocol: number, types: readonly number[] = [TYPE.ipv4, TYPE.ipv6]): Needs => ({
  types,
  protocols: [protocol],
});

const ICMP = over(PROTOCOL.icmp, [TYPE.ipv4]);
const ICMP6 = over(PROTOCOL.icmp6, [TYPE.ipv6]);

const whole = (field: string, width: number): readonly FieldPart[] => [{ field, low: 0, width, at: 0 }];
const words = (count: number, first: number): FieldPart[] =>
  Array.from({ length: count }, (_, n) => ({
    field: register(first + n),
    low: 32 * (count - 1 - n),
    width: 32,
    at: 0,
  }));
type Slice = readonly [offset: number, skip: number, bytes: number];
/** Bytes of a header that samples read: a sample has four. */
const bytesAt = (header: string, parts: readonly Slice[]): FieldPart[] => {
  let low = 8 * parts.reduce((sum, [, , bytes]) => sum + bytes, 0);
  return parts.map(([offset, skip, bytes]) => {
    low -= 8 * bytes;
    return { field: sample(header, offset), low, width: 8 * bytes, at: 8 * (4 - skip - bytes) };
  });
};

type More = Partial<Pick<OvsField, "parts" | "needs" | "writable">>;

function row(list: string, width: number, kind: FieldKind, becomes: string, more: More = {}): OvsField {
  const names = list.split(" ");
  const name = names[0] as string;
  return { name, names, width, kind, parts: [], needs: {}, writable: false, element: { becomes }, ...more };
}

const CHANGED = { writable: true } as const;
const direct = (
  names: string,
  width: number,
  kind: FieldKind,
  field: string,
  needs: Needs = {},
  writable = true,
): OvsField => row(names, width, kind, `\`${field}\``, { parts: whole(field, width), needs, writable });

const arp = (names: string, width: number, kind: FieldKind, ...at: readonly Slice[]): OvsField => {
  const becomes = at.length === 1 ? "a sample of the ARP header" : "two samples of the ARP header";
  return row(names, width, kind, becomes, { parts: bytesAt("arp", at), needs: ARP });
};

const registers = (prefix: string, names: string, count: number, becomes: string): OvsField[] =>
  Array.from({ length: 16 / count }, (_, n) =>
    row(`${prefix}${n} ${names}${n}`, 32 * count, "number", becomes, { parts: words(count, count * n), ...CHANGED }),
  );

export const FIELDS: readonly OvsField[] = [
  direct("eth_src dl_src NXM_OF_ETH_SRC OXM_OF_ETH_SRC", 48, "mac", "outer.smac"),
  direct("eth_dst dl_dst NXM_OF_ETH_DST OXM_OF_ETH_DST", 48, "mac", "outer.dmac"),
  direct("eth_type dl_type NXM_OF_ETH_TYPE OXM_OF_ETH_TYPE", 16, "number", "outer.ethertype", {}, false),
  direct("ip_proto nw_proto NXM_OF_IP_PROTO OXM_OF_IP_PROTO", 8, "number", "outer.ip_protocol", IP, false),
  direct("ip_src NXM_OF_IP_SRC OXM_OF_IPV4_SRC ipv4_src", 32, "ipv4", "outer.ipv4_src", IPV4),
  direct("ip_dst NXM_OF_IP_DST OXM_OF_IPV4_DST ipv4_dst", 32, "ipv4", "outer.ipv4_dst", IPV4),
  direct("ipv6_src NXM_NX_IPV6_SRC OXM_OF_IPV6_SRC", 128, "ipv6", "outer.ipv6_src", IPV6),
  direct("ipv6_dst NXM_NX_IPV6_DST OXM_OF_IPV6_DST", 128, "ipv6", "outer.ipv6_dst", IPV6),
  direct("ipv6_label NXM_NX_IPV6_LABEL OXM_OF_IPV6_FLABEL", 20, "number", "misc.outer_ipv6_flow_label", IPV6, false),
  direct("ip_dscp OXM_OF_IP_DSCP", 6, "number", "outer.ip_dscp", IP),
  row("nw_tos NXM_OF_IP_TOS", 8, "number", "`outer.ip_dscp`", {
    parts: [{ field: "outer.ip_dscp", low: 2, width: 6, at: 0 }],
    needs: IP,
    ...CHANGED,
  }),
  direct("nw_ecn ip_ecn NXM_NX_IP_ECN OXM_OF_IP_ECN", 2, "number", "outer.ip_ecn", IP),
  direct("nw_ttl NXM_NX_IP_TTL", 8, "number", "outer.ip_ttl_hoplimit", IP),
  direct("tcp_src NXM_OF_TCP_SRC OXM_OF_TCP_SRC", 16, "number", "outer.tcp_sport", over(PROTOCOL.tcp)),
  direct("tcp_dst NXM_OF_TCP_DST OXM_OF_TCP_DST", 16, "number", "outer.tcp_dport", over(PROTOCOL.tcp)),
  row("tcp_flags NXM_NX_TCP_FLAGS OXM_OF_TCP_FLAGS ONFOXM_ET_TCP_FLAGS", 12, "number", "`outer.tcp_flags`", {
    parts: whole("outer.tcp_flags", 9),
    needs: over(PROTOCOL.tcp),
  }),
  direct("udp_src NXM_OF_UDP_SRC OXM_OF_UDP_SRC", 16, "number", "outer.udp_sport", over(PROTOCOL.udp)),
  direct("udp_dst NXM_OF_UDP_DST OXM_OF_UDP_DST", 16, "number", "outer.udp_dport", over(PROTOCOL.udp)),
  direct("sctp_src OXM_OF_SCTP_SRC", 16, "number", "ext.outer_sctp_sport", over(PROTOCOL.sctp), false),
  direct("sctp_dst OXM_OF_SCTP_DST", 16, "number", "ext.outer_sctp_dport", over(PROTOCOL.sctp), false),
  direct("icmp_type NXM_OF_ICMP_TYPE OXM_OF_ICMPV4_TYPE", 8, "number", "misc3.icmp_type", ICMP, false),
  direct("icmp_code NXM_OF_ICMP_CODE OXM_OF_ICMPV4_CODE", 8, "number", "misc3.icmp_code", ICMP, false),
  direct("icmpv6_type NXM_NX_ICMPV6_TYPE OXM_OF_ICMPV6_TYPE", 8, "number", "misc3.icmpv6_type", ICMP6, false),
  direct("icmpv6_code NXM_NX_ICMPV6_CODE OXM_OF_ICMPV6_CODE", 8, "number", "misc3.icmpv6_code", ICMP6, false),
  arp("arp_op NXM_OF_ARP_OP OXM_OF_ARP_OP", 16, "number", [4, 2, 2]),
  arp("arp_spa NXM_OF_ARP_SPA OXM_OF_ARP_SPA", 32, "ipv4", [14, 0, 4]),
  arp("arp_tpa NXM_OF_ARP_TPA OXM_OF_ARP_TPA", 32, "ipv4", [24, 0, 4]),
  arp("arp_sha NXM_NX_ARP_SHA OXM_OF_ARP_SHA", 48, "mac", [8, 0, 4], [12, 0, 2]),
  arp("arp_tha NXM_NX_ARP_THA OXM_OF_ARP_THA", 48, "mac", [18, 0, 4], [22, 0, 2]),
  direct("mpls_label OXM_OF_MPLS_LABEL", 20, "number", "misc2.outer_first_mpls_label", MPLS, false),
  direct("mpls_tc OXM_OF_MPLS_TC", 3, "number", "misc2.outer_first_mpls_exp", MPLS, false),
  direct("mpls_bos OXM_OF_MPLS_BOS", 1, "number", "misc2.outer_first_mpls_s_bos", MPLS, false),
  direct("mpls_ttl NXM_NX_MPLS_TTL", 8, "number", "misc2.outer_first_mpls_ttl", MPLS, false),
  ...registers("reg", "NXM_NX_REG", 1, "a register C"),
  ...registers("xreg", "OXM_OF_PKT_REG", 2, "two registers C"),
  ...registers("xxreg", "NXM_NX_XXREG", 4, "four registers C"),
  row("metadata OXM_OF_METADATA", 64, "number", "one or two registers C", {
    parts: [
      { field: register(METADATA_HIGH), low: 32, width: 32, at: 0 },
      { field: register(METADATA_LOW), low: 0, width: 32, at: 0 },
    ],
    ...CHANGED,
  }),
  row(
    "in_port NXM_OF_IN_PORT OXM_OF_IN_PORT in_port_oxm",
    ...([16, "number", "`misc.source_port` and the port; see [ports](#ports)"] as const),
  ),
  row(
    "vlan_tci NXM_OF_VLAN_TCI",
    ...([
      16,
      "number",
      "`outer.first_vid`, `outer.first_prio`, `outer.cvlan_tag`, `outer.svlan_tag`",
      CHANGED,
    ] as const),
  ),
  row(
    "vlan_vid OXM_OF_VLAN_VID",
    ...([13, "number", "`outer.first_vid`, `outer.cvlan_tag`, `outer.svlan_tag`", CHANGED] as const),
  ),
  row("dl_vlan", 12, "number", "`outer.first_vid`, or no tag (0xffff)"),
  row("vlan_pcp dl_vlan_pcp OXM_OF_VLAN_PCP", 3, "number", "`outer.first_prio`", CHANGED),
  row(
    "nw_frag ip_frag NXM_NX_IP_FRAG",
    ...([8, "number", "`outer.frag`; `first`, `later` and `not_later` of IPv4 also a sample of its header"] as const),
    { needs: IP },
  ),
  row(
    "tun_id tunnel_id NXM_NX_TUN_ID OXM_OF_TUNNEL_ID",
    ...([64, "number"] as const),
    "the key of the tunnel that the frame came by: `misc.vxlan_vni`, `misc.geneve_vni`, `misc.gre_key`",
    CHANGED,
  ),
  ...Array.from({ length: 8 }, (_, n) =>
    row(
      `tun_metadata${n} NXM_NX_TUN_METADATA${n}`,
      ...([32, "number"] as const),
      "the Geneve option of `add-tlv-map`, of four bytes: `misc3.geneve_tlv_option_0_data`; one option in all flows",
      CHANGED,
    ),
  ),
  row("ct_zone NXM_NX_CT_ZONE", 16, "number", "the zone of `ct`, in a register"),
  row("tun_src NXM_NX_TUN_IPV4_SRC", 32, "ipv4", "`outer.ipv4_src` of the tunnel", CHANGED),
  row("tun_dst NXM_NX_TUN_IPV4_DST", 32, "ipv4", "`outer.ipv4_dst` of the tunnel", CHANGED),
  row("tun_ipv6_src NXM_NX_TUN_IPV6_SRC", 128, "ipv6", "`outer.ipv6_src` of the tunnel", CHANGED),
  row("tun_ipv6_dst NXM_NX_TUN_IPV6_DST", 128, "ipv6", "`outer.ipv6_dst` of the tunnel", CHANGED),
];

/** Fields without an equal, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  "ct_mark ct_label NXM_NX_CT_MARK NXM_NX_CT_LABEL ct_nw_src ct_nw_dst ct_nw_proto ct_tp_src ct_tp_dst ct_ipv6_src ct_ipv6_dst":
    "the device tracks one connection per object, not all traffic",
  "nd_target nd_sll nd_tll nd_reserved nd_options_type NXM_NX_ND_TARGET NXM_NX_ND_SLL NXM_NX_ND_TLL":
    "the device does not match what is inside neighbor discovery",
  "pkt_mark skb_mark skb_priority NXM_NX_PKT_MARK": "a mark of the host, which frames on the device do not have",
  "actset_output OXM_OF_ACTSET_OUTPUT ONFOXM_ET_ACTSET_OUTPUT":
    "the device does not match what will be done with a frame",
  "tun_flags tun_gbp_id tun_gbp_flags tun_tos tun_ttl tun_erspan_idx tun_erspan_ver tun_erspan_dir tun_erspan_hwid tun_gtpu_flags tun_gtpu_msgtype NXM_NX_TUN_FLAGS NXM_NX_TUN_GBP_ID NXM_NX_TUN_GBP_FLAGS":
    "this part of a tunnel's header",
  "dp_hash recirc_id NXM_NX_DP_HASH NXM_NX_RECIRC_ID": "numbers that Open vSwitch assigns to frames internally",
  "nsh_flags nsh_ttl nsh_mdtype nsh_np nsh_spi nsh_si nsh_c1 nsh_c2 nsh_c3 nsh_c4": "the device does not read NSH",
};

const BY_NAME = new Map(FIELDS.flatMap((one) => one.names.map((name) => [name.toLowerCase(), one] as const)));
const WHY = new Map(
  Object.entries(REFUSED).flatMap(([list, reason]) =>
    list.split(" ").map((name) => [name.toLowerCase(), reason] as const),
  ),
);

/** The bits of match fields that bits of a field are. */
export function bitsOf({ parts }: Pick<OvsField, "parts">, value: bigint, mask: bigint): Ask[] {
  return parts.flatMap(({ field, low, width, at }): Ask[] => {
    const all = ones(width);
    const asked = (mask >> BigInt(low)) & all;
    if (asked === 0n) return [];
    // Most masks are whole, and all of a width one object.
    const bits = asked === all ? all : asked;
    const inField = (number: bigint): bigint => (at === 0 ? number : number << BigInt(at));
    return [{ field, value: inField((value >> BigInt(low)) & bits), mask: inField(bits) }];
  });
}

/** Fields that are one match field. Those of MPLS are missing: two EtherTypes have them. */
export const PLAIN: ReadonlyMap<string, OvsField> = new Map(
  FIELDS.flatMap((one) => {
    const [part, ...more] = one.parts;
    if (part === undefined || more.length > 0 || part.low !== 0 || part.field.startsWith("@")) return [];
    return one.needs === MPLS ? [] : [[part.field, one] as const];
  }),
);

export const fieldNamed = (name: string): OvsField | undefined => BY_NAME.get(name.toLowerCase());
export const whyRefused = (name: string): string | undefined => WHY.get(name.toLowerCase());
export const FIELD_NAMES: readonly string[] = [
  ...FIELDS.flatMap(({ names }) => names),
  ...["nw_src", "nw_dst", "tp_src", "tp_dst", "ct_state", "conj_id"],
  ...Object.keys(REFUSED).flatMap((list) => list.split(" ")),
];

/** Words that stand for an EtherType and a protocol. */
export const SHORTHANDS: Readonly<Record<string, readonly [type: number, protocol?: number]>> = {
  ip: [TYPE.ipv4],
  ipv4: [TYPE.ipv4],
  ipv6: [TYPE.ipv6],
  ip6: [TYPE.ipv6],
  arp: [TYPE.arp],
  rarp: [TYPE.rarp],
  icmp: [TYPE.ipv4, 1],
  tcp: [TYPE.ipv4, 6],
  udp: [TYPE.ipv4, 17],
  sctp: [TYPE.ipv4, 132],
  icmp6: [TYPE.ipv6, 58],
  tcp6: [TYPE.ipv6, 6],
  udp6: [TYPE.ipv6, 17],
  sctp6: [TYPE.ipv6, 132],
  mpls: [TYPE.mpls],
  mplsm: [TYPE.mplsm],
};

const REGISTERS = /^x{0,2}reg\d+$/;
const OPTIONS = /^tun_metadata\d$/;

export const FIELD_ELEMENTS: Readonly<Record<string, Element>> = {
  [Object.keys(SHORTHANDS).join(", ")]: { becomes: "`outer.ethertype` and `outer.ip_protocol`" },
  "nw_src, nw_dst": { becomes: "those of IPv4; with `arp` those of ARP" },
  "tp_src, tp_dst": { becomes: "those of the protocol; with `icmp` type and code" },
  ...Object.fromEntries(
    FIELDS.filter(({ name }) => !REGISTERS.test(name) && !OPTIONS.test(name)).map(({ names, element }) => [
      names.join(", "),
      element,
    ]),
  ),
  "tun_metadata0 to tun_metadata7": fieldNamed("tun_metadata0")?.element ?? { becomes: "" },
  "reg0 to reg15, xreg0 to xreg7, xxreg0 to xxreg3": {
    becomes: "registers C; a scenario has eight, for those that the flows use",
  },
  ct_state: {
    becomes: "a register that `ct` writes; without `ct` in the text nothing where bits are to be 0, else refused",
  },
  conj_id: { becomes: "the flows that the clauses of the conjunction stand for, 10,000 at most" },
  ...Object.fromEntries(
    Object.entries(REFUSED).map(([list, refused]) => [
      list
        .split(" ")
        .filter((one) => !one.startsWith("NXM"))
        .join(", "),
      { refused },
    ]),
  ),
};
