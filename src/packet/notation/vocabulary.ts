/** The words of packet notation that a header takes: names of fields, flags, and named values. */
import { layoutOf, type FieldLayout, type LaidOutHeader } from "../layout.js";
import { ETHERTYPE_NAMES } from "../numbers.js";

/** What a word means. */
export interface Meaning {
  readonly field: FieldLayout;
  /** The value that the word gives; null where a value follows it. */
  readonly value: number | null;
  /** The name of a flag that the word sets, in a field of flags. */
  readonly flag: string | null;
}

/** Words by their text: lower case, `_` between words. */
export type Vocabulary = ReadonlyMap<string, Meaning>;

/** Shorter names of fields, as `printFrame` has them. The first field that a header has counts. */
export const SHORT: Readonly<Record<string, readonly string[]>> = {
  seq: ["sequence"],
  ack: ["acknowledgement"],
  id: ["identification", "identifier"],
  win: ["window"],
  src: ["source"],
  dst: ["destination"],
  sport: ["source_port"],
  dport: ["destination_port"],
  // A header that has ports has no addresses.
  source: ["source_port"],
  destination: ["destination_port"],
  length: ["total_length", "payload_length"],
  flow: ["flow_label"],
  tag: ["verification_tag"],
  qp: ["dst_qp"],
  pn: ["packet_number"],
  "n-pdu": ["n_pdu"],
  next: ["next_extension"],
  bad_checksum: ["checksum"],
};

/** Words for flags with short names. */
const FLAGS: Readonly<Record<string, readonly [header: LaidOutHeader, field: string]>> = {
  ack_wanted: ["bth", "a"],
  bottom_of_stack: ["mpls", "s_bos"],
  encrypted: ["macsec", "e"],
};

/** Fields whose named values need no name of the field in front: `ipv4 10.0.0.1 > 10.0.0.2 udp`. */
const SPOKEN = ["type", "protocol", "next_header", "protocol_type", "next_protocol", "message_type", "packet_type"];

const known = new Map<LaidOutHeader, Vocabulary>();

export function vocabularyOf(header: LaidOutHeader): Vocabulary {
  const before = known.get(header);
  if (before !== undefined) return before;
  const words = new Map<string, Meaning>();
  const layout = layoutOf(header);
  const spoken = header === "arp" ? ["operation"] : SPOKEN;
  for (const field of layout) {
    const [name, , , detail] = field;
    for (const flag of detail?.bits ?? []) words.set(flag, { field, value: null, flag });
    if (!spoken.includes(name)) continue;
    for (const [value, called] of Object.entries(detail?.names ?? {})) {
      words.set(wordsOf(called), { field, value: Number(value), flag: null });
    }
  }
  for (const [word, names] of Object.entries(SHORT)) {
    const field = layout.find(([name]) => names.includes(name));
    if (field !== undefined && !words.has(word)) words.set(word, { field, value: null, flag: null });
  }
  for (const [word, [of, name]] of Object.entries(FLAGS)) {
    const field = of === header ? layout.find(([one]) => one === name) : undefined;
    if (field !== undefined) words.set(word, { field, value: 1, flag: null });
  }
  for (const field of layout) {
    words.set(field[0], { field, value: null, flag: null });
    // A type below 0x600 is a length (IEEE 802.3 clause 3.2.6).
    if (field[0] === "type" && field[3]?.names === ETHERTYPE_NAMES)
      words.set("length", { field, value: null, flag: null });
  }
  known.set(header, words);
  return words;
}

/** A name as the vocabulary has it: `vlan, service tag` is `vlan_service_tag`. */
export function wordsOf(name: string): string {
  return name.toLowerCase().replace(/[\s,]+/g, "_");
}
