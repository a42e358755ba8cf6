/** Sets the value of a match field in the layers of a frame. */
import { format, fullMask } from "../../../model/match/term.js";
import type { TermFact } from "../facts.js";
import type { DraftLayer, FrameDraft, Level } from "./draft.js";
import {
  setEtherType,
  setFragment,
  setProtocol,
  setRight,
  setTagKind,
  removeVlans,
  addVlan,
  addGreKey,
} from "./structure.js";

/** Where a match field lies: headers, which of several, and the field by header. */
interface Place {
  readonly headers: readonly string[];
  readonly n: number;
  readonly field: string;
}

const place = (headers: string, field: string, n = 0): Place => ({ headers: headers.split(" "), n, field });

/** Fields of a level, by the name after the level. */
const OF_LEVEL: Readonly<Record<string, readonly Place[]>> = {
  smac: [place("ethernet", "source")],
  dmac: [place("ethernet", "destination")],
  first_prio: [place("vlan", "pcp")],
  first_cfi: [place("vlan", "dei")],
  first_vid: [place("vlan", "vid")],
  second_prio: [place("vlan", "pcp", 1)],
  second_cfi: [place("vlan", "dei", 1)],
  second_vid: [place("vlan", "vid", 1)],
  ip_dscp: [place("ipv4 ipv6", "dscp")],
  ip_ecn: [place("ipv4 ipv6", "ecn")],
  ip_ttl_hoplimit: [place("ipv4", "ttl"), place("ipv6", "hop_limit")],
  ipv4_src: [place("ipv4", "source")],
  ipv4_dst: [place("ipv4", "destination")],
  ipv6_src: [place("ipv6", "source")],
  ipv6_dst: [place("ipv6", "destination")],
  ipv6_flow_label: [place("ipv6", "flow_label")],
  ipv4_flags: [place("ipv4", "flags")],
  tcp_flags: [place("tcp", "flags")],
  tcp_sport: [place("tcp", "source_port")],
  tcp_dport: [place("tcp", "destination_port")],
  tcp_seq_num: [place("tcp", "sequence")],
  tcp_ack_num: [place("tcp", "acknowledgement")],
  udp_sport: [place("udp", "source_port")],
  udp_dport: [place("udp", "destination_port")],
  sctp_sport: [place("sctp", "source_port")],
  sctp_dport: [place("sctp", "destination_port")],
  esp_spi: [place("esp", "spi")],
  esp_seq: [place("esp", "sequence")],
  first_mpls_label: [place("mpls", "label")],
  first_mpls_exp: [place("mpls", "exp")],
  first_mpls_s_bos: [place("mpls", "s_bos")],
  first_mpls_ttl: [place("mpls", "ttl")],
};

/** Fields of the outer packet only. */
const OF_OUTER: Readonly<Record<string, Place>> = {
  "misc.vxlan_vni": place("vxlan", "vni"),
  "misc.gre_key": place("gre", "key"),
  "misc.geneve_vni": place("geneve", "vni"),
  "misc.geneve_oam": place("geneve", "oam"),
  "misc.bth_opcode": place("bth", "opcode"),
  "misc.bth_dst_qp": place("bth", "dst_qp"),
  "misc.bth_a": place("bth", "a"),
  "misc3.outer_vxlan_gpe_vni": place("vxlan_gpe", "vni"),
  "misc3.outer_vxlan_gpe_flags": place("vxlan_gpe", "flags"),
  "misc.gre_protocol": place("gre", "protocol_type"),
  "misc.geneve_protocol_type": place("geneve", "protocol_type"),
  "misc3.gtpu_msg_type": place("gtpu", "message_type"),
  "misc3.gtpu_teid": place("gtpu", "teid"),
  "misc3.icmp_type": place("icmp", "type"),
  "misc3.icmp_code": place("icmp", "code"),
  "misc3.icmpv6_type": place("icmpv6", "type"),
  "misc3.icmpv6_code": place("icmpv6", "code"),
};

/** Changes a draft so that it agrees with a term whose header is present. Returns false if it cannot. */
export function setField(draft: FrameDraft, term: TermFact): boolean {
  const [group = "", bare = ""] = term.name.split(".");
  const level: Level = group === "inner" || bare.startsWith("inner_") ? "inner" : "outer";
  const name = bare.replace(/^(outer|inner)_/, "");
  const wanted = wantedValue(term);
  const structural = SPECIAL[name];
  if (structural !== undefined) return structural(draft, level, wanted);
  const places = OF_OUTER[term.name] === undefined ? OF_LEVEL[overName(name)] : [OF_OUTER[term.name] as Place];
  for (const { headers, n, field } of places ?? []) {
    const layer =
      draft.find(level, headers, n) ?? (name.includes("mpls_over") ? draft.find("outer", headers) : undefined);
    if (layer === undefined || !(field in layer.fields)) continue;
    write(layer, field, term, wanted);
    return true;
  }
  return false;
}

/** Labels over UDP and GRE are those of the same kind of layer. */
function overName(name: string): string {
  return name.replace(/_over_(udp|gre)/, "");
}

function write(layer: DraftLayer, name: string, { field }: TermFact, wanted: bigint): void {
  if (field.kind === "number") layer.fields[name] = Number(wanted);
  else layer.fields[name] = format(field, wanted);
}

/** The nearest value that the term takes. */
export function wantedValue({ field, mask, value, range, found }: TermFact): bigint {
  const had = found ?? 0n;
  if (range === null) return (had & (fullMask(field) ^ mask)) | value;
  if (had < range.low) return range.low;
  return had > range.high ? range.high : had;
}

type Special = (draft: FrameDraft, level: Level, wanted: bigint) => boolean;

const right: Special = (draft, level, wanted) => wanted === 1n && setRight(draft, level);
const tag =
  (n: number, service: boolean): Special =>
  (draft, level, wanted) => {
    if (wanted === 0n) return removeVlans(draft, level, n);
    return setTagKind(draft, level, n, service) || addVlan(draft, level, n);
  };

/** Fields that are no bits of one header. */
const SPECIAL: Readonly<Record<string, Special>> = {
  ethertype: (draft, level, wanted) => setEtherType(draft, level, Number(wanted)),
  ip_protocol: (draft, level, wanted) => setProtocol(draft, level, Number(wanted)),
  gre_k_present: (draft, _, wanted) => wanted === 1n && addGreKey(draft),
  frag: (draft, level, wanted) => setFragment(draft, level, wanted === 1n),
  cvlan_tag: tag(0, false),
  svlan_tag: tag(0, true),
  second_cvlan_tag: tag(1, false),
  second_svlan_tag: tag(1, true),
  l3_ok: right,
  l4_ok: right,
  ipv4_checksum_ok: right,
  l4_checksum_ok: right,
};
