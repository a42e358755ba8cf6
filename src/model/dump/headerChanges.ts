/**
 * Header changes as ConnectX-6 Dx and later keep them, in words of 8 bytes.
 *
 *     | action 8 | word 8 | - 2 | shift 6 | - 2 | length 6 | value 32                                          | set, add
 *     | action 8 | word 8 | - 2 | shift 6 | - 2 | length 6 | - 8 | source word 8 | - 2 | shift 6 | - 8         | copy
 *
 * A word is the hardware's code for 32 bits of a packet or for a register. Shifts count from 32; a
 * length of 0 is 32 (rdma-core 65.0, providers/mlx5/dr_ste_v1.c).
 */
import { modifyFieldAt } from "../action/modifyFields.js";

/** A device field: its bits in the hardware's word, from `low` to `high`. */
type WordField = readonly [name: string, low: number, high: number];

/** Fields of each word. TCP and UDP ports, TTL and hop limit share theirs. */
export const WORDS: ReadonlyMap<number, readonly WordField[]> = new Map([
  [0x00, [["OUT_DMAC_47_16", 0, 31]]],
  [
    0x01,
    [
      ["OUT_ETHERTYPE", 0, 15],
      ["OUT_DMAC_15_0", 16, 31],
    ],
  ],
  [0x02, [["OUT_FIRST_VID", 0, 15]]],
  [0x08, [["OUT_SMAC_47_16", 0, 31]]],
  [0x09, [["OUT_SMAC_15_0", 16, 31]]],
  [
    0x0e,
    [
      ["OUT_IP_DSCP", 18, 23],
      ["OUT_IP_ECN", 16, 17],
      ["OUT_IP_TTL", 8, 15],
      ["OUT_IPV6_HOPLIMIT", 8, 15],
    ],
  ],
  [
    0x18,
    [
      ["OUT_TCP_SPORT", 16, 31],
      ["OUT_TCP_DPORT", 0, 15],
      ["OUT_UDP_SPORT", 16, 31],
      ["OUT_UDP_DPORT", 0, 15],
    ],
  ],
  [0x19, [["OUT_TCP_FLAGS", 16, 24]]],
  [0x40, [["OUT_SIPV4", 0, 31]]],
  [0x41, [["OUT_DIPV4", 0, 31]]],
  [0x44, [["OUT_DIPV6_127_96", 0, 31]]],
  [0x45, [["OUT_DIPV6_95_64", 0, 31]]],
  [0x46, [["OUT_DIPV6_63_32", 0, 31]]],
  [0x47, [["OUT_DIPV6_31_0", 0, 31]]],
  [0x4c, [["OUT_SIPV6_127_96", 0, 31]]],
  [0x4d, [["OUT_SIPV6_95_64", 0, 31]]],
  [0x4e, [["OUT_SIPV6_63_32", 0, 31]]],
  [0x4f, [["OUT_SIPV6_31_0", 0, 31]]],
  [0x5e, [["OUT_TCP_SEQ_NUM", 0, 31]]],
  [0x5f, [["OUT_TCP_ACK_NUM", 0, 31]]],
  [0x7b, [["METADATA_REG_B", 0, 31]]],
  [0x7c, [["METADATA_REG_A", 0, 31]]],
  [0x8c, [["METADATA_REG_C_4", 0, 31]]],
  [0x8d, [["METADATA_REG_C_5", 0, 31]]],
  [0x8e, [["METADATA_REG_C_2", 0, 31]]],
  [0x8f, [["METADATA_REG_C_3", 0, 31]]],
  [0x90, [["METADATA_REG_C_0", 0, 31]]],
  [0x91, [["METADATA_REG_C_1", 0, 31]]],
]);

export const NOP = 0;
export const COPY = 5;
export const SET = 6;
export const ADD = 7;
export const SHIFT_BASE = 32;

/** From this code on, later devices count further: registers. */
export const SHIFTED_FROM = 0x8a;
export const SHIFT = 4;

/** Whose codes words have: those of ConnectX-6 Dx (steering format 1), or of ConnectX-7 and later (2). */
export type Codes = "first" | "later";

export function codesOf(steeringFormat: number | null): Codes | undefined {
  if (steeringFormat === 1) return "first";
  return steeringFormat === 2 ? "later" : undefined;
}

/** What a rule asks for, in match parameters of the device. */
export interface AskedBytes {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
}

/** Types of a device's own words. */
const OWN_SET = 1;
const OWN_ADD = 2;
const OWN_COPY = 3;

interface Placed {
  readonly name: string;
  readonly code: number;
  readonly low: number;
  readonly width: number;
  /** The field of another header at the same bits. */
  readonly other: string | null;
  /** Whether the word stands for this field where it stands for one. */
  readonly isFirst: boolean;
}

/** A word, and the fields whose header a frame must have so that it does what the program's word does. */
interface HardwareWord {
  readonly text: string;
  readonly shared: readonly Placed[];
}

/**
 * The hardware's words, 16 hexadecimal digits each, of the words that a program gave. Ports and TTL share a
 * word for two headers: the program changes both alike, or the rule asks for one of them.
 *
 * @returns null if there are none: a field that these devices do not change, or one of two headers
 */
export function hardwareWords(words: Uint8Array, codes: Codes, asked: AskedBytes | null): string[] | null {
  const view = new DataView(words.buffer, words.byteOffset, words.length);
  const all: HardwareWord[] = [];
  for (let at = 0; at < words.length; at += 8) {
    const word = hardwareWord(view.getUint32(at), view.getUint32(at + 4), codes);
    if (word === null) return null;
    all.push(word);
  }
  const made: string[] = [];
  for (let n = 0; n < all.length; n++) {
    const { text, shared } = all[n] as HardwareWord;
    const [one] = shared;
    const next = all[n + 1];
    if (one !== undefined && shared.length === 1 && next?.text === text && next.shared[0]?.name === one.other) {
      // Both headers, changed alike.
      n++;
    } else if (one !== undefined && asked !== null && shared.some(({ other }) => hasHeader(other ?? "", asked))) {
      // No frame of the rule has the header.
      continue;
    } else if (!shared.every(({ name }) => asked !== null && hasHeader(name, asked))) return null;
    made.push(text);
  }
  return made;
}

function hardwareWord(high: number, low: number, codes: Codes): HardwareWord | null {
  const type = high >>> 28;
  const own = placeOf((high >>> 16) & 0xfff);
  if (own === null) return null;
  // What is added is added to the whole field, and has no length.
  const [offset, length] = type === OWN_ADD ? [0, own.width] : [(high >>> 8) & 31, high & 31 || 32];
  if (offset + length > own.width) return null;
  const byte = (value: number): string => value.toString(16).padStart(2, "0");
  const at = ({ code, low: first }: Placed, bit: number): string =>
    byte(codes === "later" && code >= SHIFTED_FROM ? code + SHIFT : code) + byte(SHIFT_BASE + first + bit);
  const shared = (...places: Placed[]): Placed[] => places.filter(({ other }) => other !== null);
  if (type === OWN_SET || type === OWN_ADD) {
    const data = byte(length & 31) + low.toString(16).padStart(8, "0");
    return { text: byte(type === OWN_SET ? SET : ADD) + at(own, offset) + data, shared: shared(own) };
  }
  const into = type === OWN_COPY ? placeOf((low >>> 16) & 0xfff) : null;
  const bit = (low >>> 8) & 31;
  if (into === null || bit + length > into.width || !own.isFirst) return null;
  const text = `${byte(COPY)}${at(into, bit)}${byte(length & 31)}00${at(own, offset)}00`;
  return { text, shared: shared(into, own) };
}

/** Where the hardware keeps a field; null if it does not change it. */
function placeOf(id: number): Placed | null {
  const name = modifyFieldAt(id)?.name ?? "";
  for (const [code, fields] of WORDS) {
    const found = fields.find(([field]) => field === name);
    if (found === undefined) continue;
    const [, low, high] = found;
    const at = fields.filter(([, from, to]) => from === low && to === high).map(([field]) => field);
    const other = at.find((field) => field !== name) ?? null;
    return { name, code, low, width: high - low + 1, other, isFirst: at[0] === name };
  }
  return null;
}

/** Bytes of the outer group: EtherType, IP protocol, IP version, ports of TCP and of UDP. */
const [ETHERTYPE, PROTOCOL, VERSION, TCP_PORTS, UDP_PORTS] = [6, 16, 18, 20, 28];
const VERSION_BITS = 0x1e;

/** Whether all frames of a rule have the header of a field that shares its word. */
function hasHeader(name: string, { mask, value }: AskedBytes): boolean {
  const is = (at: number, wanted: number): boolean => mask[at] === 0xff && value[at] === wanted;
  const asks = (at: number): boolean => mask.subarray(at, at + 4).some((byte) => byte !== 0);
  const version = (wanted: number): boolean =>
    ((mask[VERSION] ?? 0) & VERSION_BITS) === VERSION_BITS && ((value[VERSION] ?? 0) & VERSION_BITS) >> 1 === wanted;
  if (name.startsWith("OUT_TCP_")) return is(PROTOCOL, 6) || asks(TCP_PORTS);
  if (name.startsWith("OUT_UDP_")) return is(PROTOCOL, 17) || asks(UDP_PORTS);
  if (name === "OUT_IP_TTL") return version(4) || (is(ETHERTYPE, 0x08) && is(ETHERTYPE + 1, 0x00));
  return name === "OUT_IPV6_HOPLIMIT" && (version(6) || (is(ETHERTYPE, 0x86) && is(ETHERTYPE + 1, 0xdd)));
}
