/** The action modify_field: sets, adds to or copies a field. */
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { numberAt, unknownWord } from "../values.js";

interface End {
  readonly word: Word;
  readonly type: string;
  level: bigint;
  offset: bigint;
}

export interface FieldChange {
  readonly word: Word;
  readonly operation: "set" | "add" | "sub";
  readonly into: End;
  readonly from: End;
  /** The bytes of a value, as they stand. */
  readonly bytes: string | undefined;
  readonly width: number;
}

/** The fields of DPDK 22.11, and ours; `{}` is outer or inner. */
export const FIELDS: Readonly<Record<string, { readonly name: string; readonly bits: number } | string>> = {
  mac_dst: { name: "{}.dmac", bits: 48 },
  mac_src: { name: "{}.smac", bits: 48 },
  vlan_type: "the type of a tag cannot be changed",
  vlan_id: { name: "{}.first_vid", bits: 12 },
  mac_type: { name: "{}.ethertype", bits: 16 },
  ipv4_dscp: { name: "{}.ip_dscp", bits: 6 },
  ipv4_ttl: { name: "{}.ip_ttl_hoplimit", bits: 8 },
  ipv4_src: { name: "{}.ipv4_src", bits: 32 },
  ipv4_dst: { name: "{}.ipv4_dst", bits: 32 },
  ipv6_dscp: { name: "{}.ip_dscp", bits: 6 },
  ipv6_hoplimit: { name: "{}.ip_ttl_hoplimit", bits: 8 },
  ipv6_src: { name: "{}.ipv6_src", bits: 128 },
  ipv6_dst: { name: "{}.ipv6_dst", bits: 128 },
  tcp_port_src: { name: "{}.tcp_sport", bits: 16 },
  tcp_port_dst: { name: "{}.tcp_dport", bits: 16 },
  tcp_seq_num: { name: "misc3.{}_tcp_seq_num", bits: 32 },
  tcp_ack_num: { name: "misc3.{}_tcp_ack_num", bits: 32 },
  tcp_flags: { name: "{}.tcp_flags", bits: 9 },
  udp_port_src: { name: "{}.udp_sport", bits: 16 },
  udp_port_dst: { name: "{}.udp_dport", bits: 16 },
  vxlan_vni: "the device does not change the VNI",
  geneve_vni: "the device does not change the VNI",
  gtp_teid: { name: "misc3.gtpu_teid", bits: 32 },
  tag: { name: "tag", bits: 32 },
  mark: "the tag of a frame is not a field: use the action mark",
  meta: { name: "meta", bits: 32 },
  ipv4_ecn: { name: "{}.ip_ecn", bits: 2 },
  ipv6_ecn: { name: "{}.ip_ecn", bits: 2 },
  gtp_psc_qfi: "the device does not change extension headers of GTP-U",
  meter_color: "the colour is in a register that the meter writes",
};

const OPERATIONS = ["set", "add", "sub"];
const IMMEDIATE: Readonly<Record<string, string>> = { value: "src_value", pointer: "src_ptr" };

/** @throws NotImported */
export function readModifyField(words: Cursor): FieldChange {
  expect(words, "op");
  const word = words.next("the operation");
  if (!OPERATIONS.includes(word.text)) unknownWord(word, "operation", OPERATIONS);
  const into = readEnd(words, "dst");
  if (IMMEDIATE[into.type] !== undefined) notImported(into.word, "a value cannot be changed");
  const from = readEnd(words, "src");
  let bytes: string | undefined;
  const key = IMMEDIATE[from.type];
  if (key !== undefined) {
    expect(words, key);
    const value = words.next("the bytes of the value");
    if (!/^(?:0x)?(?:[0-9a-f]{2}){1,16}$/i.test(value.text))
      notImported(value, "a value is 1 to 16 bytes as hexadecimal digits");
    bytes = value.text.replace(/^0x/i, "").toLowerCase();
  }
  expect(words, "width");
  const width = Number(numberAt(words.next("the width"), "width", 32));
  expect(words, "/");
  return { word, operation: word.text as FieldChange["operation"], into, from, bytes, width };
}

function readEnd(words: Cursor, side: "dst" | "src"): End {
  expect(words, `${side}_type`);
  const word = words.next(`the field of ${side}_type`);
  const names = [...Object.keys(FIELDS), ...(side === "src" ? Object.keys(IMMEDIATE) : [])];
  if (!names.includes(word.text)) unknownWord(word, "field", names);
  const end: End = { word, type: word.text, level: 0n, offset: 0n };
  for (;;) {
    if (words.take(`${side}_level`)) end.level = numberAt(words.next("a level"), "level", 32);
    else if (words.take(`${side}_offset`)) end.offset = numberAt(words.next("an offset"), "offset", 32);
    else return end;
  }
}

function expect(words: Cursor, text: string): void {
  if (words.take(text)) return;
  const word = words.next(`"${text}"`);
  notImported(word, `"${text}" is missing before ${word.text}`);
}
