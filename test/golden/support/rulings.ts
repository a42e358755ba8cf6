// Compares the results of one of our parsers with those of tshark (test/golden/keys, made by
// scripts/golden-keys.mjs). The tests of the reference and of the engine use it. Every difference
// is a failure, unless a ruling below covers it. A ruling names the fields, the reason of the
// deliberate difference and its source; it applies by properties of the frame, never by its number.

export interface GoldenFrame {
  number: number;
  wireLength: number;
  capturedLength: number;
  /** tshark's chain of protocols, as "eth:ethertype:ip:udp". */
  protocols: string;
  /** "short" or "malformed" if tshark reports it for the frame. */
  marks: string[];
  /** Our field names; addresses as text, the rest as numbers. */
  fields: Record<string, number | string>;
}

export interface GoldenFile {
  capture: string;
  tshark: string;
  frames: GoldenFrame[];
}

export interface Ruling {
  field: RegExp;
  why: string;
  cite: string;
  applies: (frame: GoldenFrame, ours: Fields, field: string) => boolean;
}

type Fields = ReadonlyMap<string, bigint>;

const levelOf = (field: string): string => (field.includes("inner") ? "inner" : "outer");
const cut = (frame: GoldenFrame): boolean => frame.marks.includes("short") || frame.marks.includes("malformed");
/**
 * tshark shows the fields of a header one by one until the bytes end: if the last one is there, the
 * header was complete.
 */
const saw = (frame: GoldenFrame, name: string): boolean => frame.fields[name] !== undefined;

/**
 * Hop-by-hop, routing, fragment, AH, destination: never the upper layer of an unfragmented packet.
 */
const EXTENSION_HEADERS = new Set([0, 43, 44, 51, 60]);

export const RULINGS: readonly Ruling[] = [
  {
    field:
      /\.(ip_version|ipv4_ihl|ip_dscp|ip_ecn|ip_ttl_hoplimit|ip_protocol|ipv4_src|ipv6_src|(outer|inner)_ipv4_flags|(outer|inner)_ipv6_flow_label)$/,
    why: "a cut header gives none of its fields; tshark shows those that came before the cut",
    cite: "docs/parsing.md, a header that the captured bytes cut",
    applies: (frame, ours, field) =>
      cut(frame) &&
      !saw(frame, `${levelOf(field)}.ipv4_dst`) &&
      !saw(frame, `${levelOf(field)}.ipv6_dst`) &&
      !ours.has(field),
  },
  {
    field: /\.(tcp_sport|tcp_dport|(outer|inner)_tcp_seq_num|(outer|inner)_tcp_ack_num)$/,
    why: "a first fragment gives TCP fields only where the fixed header is whole; tshark shows those before the end",
    cite: "docs/parsing.md, IPv4 first fragment",
    applies: (frame, ours, field) =>
      frame.fields[`${levelOf(field)}.frag`] === 1 && !saw(frame, `${levelOf(field)}.tcp_flags`) && !ours.has(field),
  },
  {
    field: /^misc\.gre_key$|\.tunnel_header_[123]$/,
    why: "GRE options that are cut give no field; tshark shows those before the cut",
    cite: "docs/parsing.md, the options of TCP, GRE and GTP-U",
    applies: (frame, ours, field) => cut(frame) && ours.has("misc.gre_protocol") && !ours.has(field),
  },
  {
    field: /\.ip_protocol$/,
    why: "the upper layer behind a cut extension header is unknown; tshark shows the number of the cut header",
    cite: "docs/parsing.md, Network layer and above, a header that is cut",
    applies: (frame, ours, field) =>
      cut(frame) &&
      EXTENSION_HEADERS.has(Number(frame.fields[field])) &&
      frame.fields[`${levelOf(field)}.ip_version`] === 6 &&
      !ours.has(field),
  },
  {
    field: /\.ip_version$/,
    why: "a version nibble that contradicts the EtherType gives no L3 field; tshark shows the nibble",
    cite: "docs/parsing.md, version nibble against EtherType",
    applies: (frame, ours, field) => {
      const expected = frame.fields[`${levelOf(field)}.ethertype`] === 0x86dd ? 6 : 4;
      return saw(frame, field) && frame.fields[field] !== expected && !ours.has(field);
    },
  },
  {
    field: /\.ipv4_dst$/,
    why: "the destination is the header's destination field; tshark shows the last hop of the source route",
    cite: "docs/parsing.md, destination of IPv4 with a source route",
    applies: (frame, ours, field) => frame.marks.includes("source_route") && ours.has(field),
  },
  {
    field: /\.l4_checksum_ok$/,
    why: "a UDP checksum of 0 over IPv4 counts as right; tshark says that there is none",
    cite: "docs/parsing.md, *_checksum_ok",
    applies: (frame, ours, field) =>
      frame.marks.includes(`${levelOf(field)}_no_checksum`) &&
      frame.fields[`${levelOf(field)}.ip_version`] === 4 &&
      ours.get(field) === 1n,
  },
];

/**
 * Fields that tshark has a name for, without level. Only these can be missing in a golden frame.
 */
const KNOWN = new Set(
  [
    "smac dmac ethertype first_prio first_cfi first_vid second_prio second_cfi second_vid",
    "cvlan_tag svlan_tag second_cvlan_tag second_svlan_tag frag",
    "ip_version ipv4_ihl ip_dscp ip_ecn ip_ttl_hoplimit ip_protocol ipv4_src ipv4_dst ipv6_src ipv6_dst",
    "ipv6_flow_label ipv4_flags tcp_sport tcp_dport tcp_flags tcp_seq_num tcp_ack_num udp_sport udp_dport",
    "ipv4_checksum_ok l4_checksum_ok icmp_type icmp_code icmp_header_data icmpv6_type icmpv6_code icmpv6_header_data",
    "sctp_sport sctp_dport esp_spi esp_seq bth_opcode bth_a bth_dst_qp",
    "macsec_tag_0 macsec_tag_1 macsec_tag_2 macsec_tag_3",
    "tunnel_header_0 tunnel_header_1 tunnel_header_2 tunnel_header_3 vxlan_vni",
    "vxlan_gpe_vni vxlan_gpe_next_protocol vxlan_gpe_flags",
    "gre_c_present gre_k_present gre_s_present gre_protocol gre_key gre_c_ks_res0_ver",
    "geneve_vni geneve_oam geneve_opt_len geneve_protocol_type",
    "gtpu_msg_flags gtpu_msg_type gtpu_teid gtpu_dw_0 gtpu_dw_2 gtpu_first_ext_dw_0",
    ...["", "_over_gre", "_over_udp"].map((over) =>
      ["label", "exp", "s_bos", "ttl"].map((part) => `first_mpls${over}_${part}`).join(" "),
    ),
  ].flatMap((line) => line.split(" ")),
);
/** State bits: a golden frame contains them only if they are 1. */
const STATE = new Set(
  [
    "cvlan_tag svlan_tag second_cvlan_tag second_svlan_tag frag ipv4_checksum_ok l4_checksum_ok",
    "gre_c_present gre_k_present gre_s_present",
  ].flatMap((line) => line.split(" ")),
);

/** "misc.outer_second_vid" -> "second_vid". */
const plain = (field: string): string =>
  field.replace(/^(outer|inner|misc\d?|ext)\./, "").replace(/^(outer|inner)_/, "");

/** Whether tshark has a name for a field. */
export function isKnown(field: string): boolean {
  return KNOWN.has(plain(field));
}

/** The differences that no ruling covers, one line each; empty if both agree. */
export function compareWithGolden(ours: Fields, frame: GoldenFrame): string[] {
  return differences(ours, frame)
    .filter(({ field }) => !rulingFor(ours, frame, field))
    .map(({ text }) => text);
}

/** The rulings that a frame needed; a test uses them to find unused rulings. */
export function rulingsUsed(ours: Fields, frame: GoldenFrame): Ruling[] {
  return differences(ours, frame).flatMap(({ field }) => rulingFor(ours, frame, field) ?? []);
}

function rulingFor(ours: Fields, frame: GoldenFrame, field: string): Ruling | undefined {
  return RULINGS.find((ruling) => ruling.field.test(field) && ruling.applies(frame, ours, field));
}

function differences(ours: Fields, frame: GoldenFrame): { field: string; text: string }[] {
  const names = new Set(Object.keys(frame.fields));
  for (const name of ours.keys()) if (isKnown(name)) names.add(name);
  const found: { field: string; text: string }[] = [];
  for (const field of names) {
    const shown = frame.fields[field];
    const golden = shown !== undefined ? valueOf(shown) : STATE.has(plain(field)) ? 0n : undefined;
    const value = ours.get(field);
    if (value === golden) continue;
    found.push({ field, text: `frame ${frame.number} ${field}: tshark ${say(golden)}, ours ${say(value)}` });
  }
  return found;
}

const say = (value: bigint | undefined): string => (value === undefined ? "absent" : `0x${value.toString(16)}`);

/**
 * Numbers unchanged; MAC, IPv4 and IPv6 addresses (RFC 4291 section 2.2) parsed from their text.
 */
export function valueOf(shown: number | string): bigint {
  if (typeof shown === "number") return BigInt(shown);
  if (/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(shown)) return BigInt(`0x${shown.replaceAll(":", "")}`);
  if (/^\d+(\.\d+){3}$/.test(shown)) return shown.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = "", tail] = shown.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  if (groups.length !== 8) throw new Error(`not an address: ${shown}`);
  return groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}
