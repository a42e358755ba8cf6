/**
 * The fields of header changes under the names of match fields. A device splits some of them into
 * words of at most 32 bits, has some as bits of a wider field, and has one field twice, for IPv4
 * and IPv6 (test/vectors/modify-fields.json).
 */
import { fieldNamed, type FieldKind } from "../../model/match/fields.js";
import { modifyFieldNames, modifyFieldNamed } from "../../model/action/modifyFields.js";

/**
 * Bits of a device field that are part of a whole field; both count from the least significant bit.
 */
export interface FieldPart {
  readonly field: string;
  readonly offset: number;
  readonly width: number;
  /** Their first bit in the whole field. */
  readonly low: number;
}

export interface ChangeField {
  readonly name: string;
  readonly width: number;
  readonly kind: FieldKind;
  /**
   * Its parts, the highest first. A field of two headers has the parts of each, IPv4 before IPv6; a frame
   * has at most one of these headers.
   */
  readonly ways: readonly (readonly FieldPart[])[];
}

/** Names after `outer.` or `inner.`, and the device's names after `OUT_` or `IN_`. */
const LAYER: Readonly<Record<string, readonly (readonly string[])[]>> = {
  smac: [["SMAC_47_16", "SMAC_15_0"]],
  dmac: [["DMAC_47_16", "DMAC_15_0"]],
  ethertype: [["ETHERTYPE"]],
  ip_dscp: [["IP_DSCP"]],
  ip_ecn: [["IP_ECN"]],
  ip_ttl_hoplimit: [["IP_TTL"], ["IPV6_HOPLIMIT"]],
  ipv4_src: [["SIPV4"]],
  ipv4_dst: [["DIPV4"]],
  ipv6_src: [["SIPV6_127_96", "SIPV6_95_64", "SIPV6_63_32", "SIPV6_31_0"]],
  ipv6_dst: [["DIPV6_127_96", "DIPV6_95_64", "DIPV6_63_32", "DIPV6_31_0"]],
  tcp_flags: [["TCP_FLAGS"]],
  tcp_sport: [["TCP_SPORT"]],
  tcp_dport: [["TCP_DPORT"]],
  udp_sport: [["UDP_SPORT"]],
  udp_dport: [["UDP_DPORT"]],
};

/** Bits of the TCI of the first tag: name, first bit, bits. */
const TAG: readonly (readonly [name: string, offset: number, width: number])[] = [
  ["outer.first_vid", 0, 12],
  ["outer.first_cfi", 12, 1],
  ["outer.first_prio", 13, 3],
];

const OTHERS: Readonly<Record<string, string>> = {
  "misc3.outer_tcp_seq_num": "OUT_TCP_SEQ_NUM",
  "misc3.outer_tcp_ack_num": "OUT_TCP_ACK_NUM",
  "misc3.inner_tcp_seq_num": "IN_TCP_SEQ_NUM",
  "misc3.inner_tcp_ack_num": "IN_TCP_ACK_NUM",
  "misc3.gtpu_teid": "GTPU_TEID",
  "misc2.metadata_reg_a": "METADATA_REG_A",
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, n) => [`misc2.metadata_reg_c_${n}`, `METADATA_REG_C_${n}`] as const),
  ),
};

const BY_NAME: ReadonlyMap<string, ChangeField> = new Map(
  [
    ...(["outer", "inner"] as const).flatMap((level) =>
      Object.entries(LAYER).flatMap(([name, ways]): ChangeField[] => {
        const prefix = level === "outer" ? "OUT_" : "IN_";
        const known = ways.map((way) => way.map((part) => prefix + part)).filter((way) => way.every(modifyFieldNamed));
        return known.length === 0 ? [] : [asMatched(`${level}.${name}`, known.map(partsOf))];
      }),
    ),
    ...TAG.map(([name, offset, width]) => asMatched(name, [[{ field: "OUT_FIRST_VID", offset, width, low: 0 }]])),
    ...Object.entries(OTHERS).map(([name, field]) => asMatched(name, [partsOf([field])])),
    ...modifyFieldNames().map((name): ChangeField => {
      const [part] = partsOf([name]) as [FieldPart];
      return { name, width: part.width, kind: name.endsWith("IPV4") ? "ipv4" : "number", ways: [[part]] };
    }),
  ].map((field) => [field.name, field]),
);

/** Every name; names of match fields come first. */
export const CHANGE_FIELD_NAMES: readonly string[] = [...BY_NAME.keys()];

export function changeFieldNamed(name: string): ChangeField | undefined {
  return BY_NAME.get(name);
}

function asMatched(name: string, ways: readonly (readonly FieldPart[])[]): ChangeField {
  const { width = 0, kind = "number" } = fieldNamed(name) ?? {};
  return { name, width, kind, ways };
}

/** Whole device fields, the highest first. */
function partsOf(names: readonly string[]): FieldPart[] {
  let low = 0;
  return names
    .toReversed()
    .map((field): FieldPart => {
      const width = modifyFieldNamed(field)?.width ?? 0;
      low += width;
      return { field, offset: 0, width, low: low - width };
    })
    .reverse();
}
