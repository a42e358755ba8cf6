/**
 * Header changes as ConnectX-6 Dx and later keep them, in words of 8 bytes, as changes of scenarios.
 *
 *     | action 8 | word 8 | - 2 | shift 6 | - 2 | length 6 | value 32                                          | set, add
 *     | action 8 | word 8 | - 2 | shift 6 | - 2 | length 6 | - 8 | source word 8 | - 2 | shift 6 | - 8         | copy
 *
 * A word is the hardware's code for 32 bits of a packet or for a register. Shifts count from 32; a
 * length of 0 is 32 (rdma-core 65.0, providers/mlx5/dr_ste_v1.c).
 */
import type { ScenarioHeaderChangeObject } from "../../scenario/action/changes.js";

/** A device field: its bits in the hardware's word, from `low` to `high`. */
type WordField = readonly [name: string, low: number, high: number];

/** Fields of each word. TCP and UDP ports, TTL and hop limit share theirs. */
const WORDS: ReadonlyMap<number, readonly WordField[]> = new Map([
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

const NOP = 0;
const COPY = 5;
const SET = 6;
const ADD = 7;
const SHIFT_BASE = 32;

/** From this code on, later devices count further: registers. */
const SHIFTED_FROM = 0x8a;
const SHIFT = 4;

/**
 * The changes that hardware words are.
 * @param words 16 hexadecimal digits each
 * @param codes those of ConnectX-6 Dx (steering format 1), or of ConnectX-7 and later
 * @returns a text that says why if a word is not known
 */
export function changesOf(words: readonly string[], codes: Codes = "first"): ScenarioHeaderChangeObject[] | string {
  const changes: ScenarioHeaderChangeObject[] = [];
  for (const word of words) {
    const digits = word.replace(/^0x/, "").padStart(16, "0");
    const change = changeOf(digits, codes);
    if (change === null) return `the device's word 0x${digits} for a header change is not known`;
    changes.push(...change);
  }
  return changes;
}

/** Whose codes words have. */
type Codes = "first" | "later";

interface Bits {
  readonly code: number;
  /** From the least significant bit. */
  readonly low: number;
  readonly length: number;
}

function changeOf(digits: string, codes: Codes): ScenarioHeaderChangeObject[] | null {
  const byte = (n: number): number => Number.parseInt(digits.slice(2 * n, 2 * n + 2), 16);
  const action = byte(0);
  if (action === NOP) return [];
  const length = byte(3) & 0x3f || 32;
  const fields = fieldsAt({ code: codeOf(byte(1), codes), low: (byte(2) & 0x3f) - SHIFT_BASE, length });
  if (fields.length === 0) return null;
  const value = Number.parseInt(digits.slice(8), 16);
  if (action === SET) return fields.map((field) => setting(field, length, value));
  if (action === ADD) return fields.map(({ name }) => ({ add: name, by: signed(value, length) }));
  if (action !== COPY) return null;
  const [source] = fieldsAt({ code: codeOf(byte(5), codes), low: (byte(6) & 0x3f) - SHIFT_BASE, length });
  if (source === undefined) return null;
  return fields.map(({ name, low }) => ({
    ...{ copy: source.name, into: name, bits: length },
    ...(source.low === 0 ? {} : { fromBit: source.low }),
    ...(low === 0 ? {} : { intoBit: low }),
  }));
}

function codeOf(code: number, codes: Codes): number {
  return codes === "later" && code >= SHIFTED_FROM ? code - SHIFT : code;
}

interface FieldBits {
  readonly name: string;
  /** The first bit in the field. */
  readonly low: number;
  readonly width: number;
}

function fieldsAt({ code, low, length }: Bits): FieldBits[] {
  return (WORDS.get(code) ?? [])
    .filter(([, first, last]) => first <= low && low + length - 1 <= last)
    .map(([name, first, last]) => ({ name, low: low - first, width: last - first + 1 }));
}

function setting({ name, low, width }: FieldBits, length: number, value: number): ScenarioHeaderChangeObject {
  const bits = length === 32 ? value : value % 2 ** length;
  if (length === width) return { set: name, to: bits };
  return { set: name, to: `0x${(bits * 2 ** low).toString(16)}/0x${((2 ** length - 1) * 2 ** low).toString(16)}` };
}

function signed(value: number, length: number): number {
  const bits = length === 32 ? value : value % 2 ** length;
  return bits >= 2 ** (length - 1) ? bits - 2 ** length : bits;
}
