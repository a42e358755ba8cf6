/** Header changes in words: `outer.ipv4_dst = 10.0.0.7, outer.ip_ttl_hoplimit + 255`. */
import {
  INSTRUCTION_BITS,
  INSTRUCTION_DATA,
  INSTRUCTION_FROM,
  INSTRUCTION_FROM_BIT,
  INSTRUCTION_SIZE,
  INSTRUCTION_TO,
  INSTRUCTION_TO_BIT,
  INSTRUCTION_TYPE,
  MODIFY_ADD,
  MODIFY_SET,
  PROGRAM_COUNT,
  PROGRAM_FIRST,
} from "../../abi/program.js";
import { fieldNamed, type Field } from "../../model/match/fields.js";
import { modifyFields } from "../../model/action/modifyFields.js";
import { fullMask } from "../../model/match/term.js";
import { valueText } from "../match/notation.js";

/** Some bits of a field, counted from its least significant bit. */
interface Bits {
  readonly name: string;
  /** The match field; undefined for a field that cannot be matched. */
  readonly field: Field | undefined;
  readonly low: number;
  readonly width: number;
}

interface Change {
  readonly type: number;
  readonly to: Bits;
  readonly from: Bits;
  readonly value: bigint;
}

/** Match fields of header changes, by the device's name after OUT_ or IN_; the bit is that of the part in the field. */
const LAYER: Readonly<Record<string, readonly [name: string, low: number]>> = {
  SMAC_47_16: ["smac", 16],
  SMAC_15_0: ["smac", 0],
  DMAC_47_16: ["dmac", 16],
  DMAC_15_0: ["dmac", 0],
  ETHERTYPE: ["ethertype", 0],
  IP_DSCP: ["ip_dscp", 0],
  IP_ECN: ["ip_ecn", 0],
  IP_TTL: ["ip_ttl_hoplimit", 0],
  IPV6_HOPLIMIT: ["ip_ttl_hoplimit", 0],
  TCP_FLAGS: ["tcp_flags", 0],
  TCP_SPORT: ["tcp_sport", 0],
  TCP_DPORT: ["tcp_dport", 0],
  UDP_SPORT: ["udp_sport", 0],
  UDP_DPORT: ["udp_dport", 0],
  SIPV4: ["ipv4_src", 0],
  DIPV4: ["ipv4_dst", 0],
  ...Object.fromEntries(
    ["127_96", "95_64", "63_32", "31_0"].flatMap((bits, i): [string, readonly [string, number]][] => [
      [`SIPV6_${bits}`, ["ipv6_src", 96 - 32 * i]],
      [`DIPV6_${bits}`, ["ipv6_dst", 96 - 32 * i]],
    ]),
  ),
};

/** Parts of the control information of a VLAN tag: lowest bit, and bits. */
const TAG: readonly (readonly [name: string, low: number, width: number])[] = [
  ["outer.first_vid", 0, 12],
  ["outer.first_cfi", 12, 1],
  ["outer.first_prio", 13, 3],
];

/** The changes of a program (src/abi/program.ts) at an address of the core's memory. */
export function programText(memory: Uint8Array, address: number): string {
  const view = new DataView(memory.buffer, memory.byteOffset + address);
  const changes: Change[] = [];
  for (let i = 0; i < view.getUint32(PROGRAM_COUNT, true); i++) {
    const change = changeAt(view, PROGRAM_FIRST + i * INSTRUCTION_SIZE);
    const last = changes.at(-1);
    const both = last === undefined ? null : joinedChange(last, change);
    if (both === null) changes.push(change);
    else changes[changes.length - 1] = both;
  }
  // A field of IPv4 and IPv6 may be changed by an instruction for each.
  return [...new Set(changes.map(changeText))].join(", ");
}

function changeAt(view: DataView, at: number): Change {
  const width = view.getUint8(at + INSTRUCTION_BITS);
  const bits = (place: number, bit: number): Bits =>
    bitsAt(view.getUint8(at + place), view.getUint16(at + bit, true), width);
  return {
    type: view.getUint8(at + INSTRUCTION_TYPE),
    to: bits(INSTRUCTION_TO, INSTRUCTION_TO_BIT),
    from: bits(INSTRUCTION_FROM, INSTRUCTION_FROM_BIT),
    value: BigInt(view.getUint32(at + INSTRUCTION_DATA, true)),
  };
}

/** The bits of a header that begin at `bit`, counted from its most significant bit. */
function bitsAt(place: number, bit: number, width: number): Bits {
  const known = modifyFields().find(
    (one) => one.place === place && one.bit <= bit && bit + width <= one.bit + one.width,
  );
  if (known === undefined) return { name: `header ${place} bit ${bit}`, field: undefined, low: 0, width };
  const low = known.bit + known.width - bit - width;
  if (known.name === "OUT_FIRST_VID") {
    const part = TAG.find(([, from, bits]) => low >= from && low + width <= from + bits);
    if (part !== undefined) return { name: part[0], field: fieldNamed(part[0]), low: low - part[1], width };
  }
  const [name, from] = matchName(known.name);
  return { name, field: fieldNamed(name), low: low + from, width };
}

function matchName(name: string): readonly [name: string, low: number] {
  const [, level, rest = ""] = /^(OUT|IN)_(.*)$/.exec(name) ?? [];
  const layer = LAYER[rest];
  if (layer !== undefined) return [`${level === "OUT" ? "outer" : "inner"}.${layer[0]}`, layer[1]];
  if (name.startsWith("METADATA_")) return [`misc2.${name.toLowerCase()}`, 0];
  if (name === "GTPU_TEID") return ["misc3.gtpu_teid", 0];
  const number = /^(OUT|IN)_(TCP_(?:SEQ|ACK)_NUM)$/.exec(name);
  if (number === null) return [name, 0];
  return [`misc3.${number[1] === "OUT" ? "outer" : "inner"}_${number[2]?.toLowerCase()}`, 0];
}

/** Two changes that set adjacent bits of one field, as one; null for others. */
function joinedChange(first: Change, second: Change): Change | null {
  if (first.type !== MODIFY_SET || second.type !== MODIFY_SET || first.to.name !== second.to.name) return null;
  const [high, low] = first.to.low > second.to.low ? [first, second] : [second, first];
  if (low.to.low + low.to.width !== high.to.low) return null;
  const value = (high.value << BigInt(low.to.width)) | low.value;
  return { ...low, to: { ...low.to, width: low.to.width + high.to.width }, value };
}

function changeText({ type, to, from, value }: Change): string {
  if (type === MODIFY_SET) return `${bitsText(to)} = ${setText(to, value)}`;
  return type === MODIFY_ADD ? `${bitsText(to)} ${addText(to, value)}` : `${bitsText(to)} = ${bitsText(from)}`;
}

/** Additions are modulo the width of the field, so a large one is a subtraction. */
function addText({ width }: Bits, value: bigint): string {
  const whole = 1n << BigInt(width);
  return value > whole / 2n ? `- ${whole - value}` : `+ ${value}`;
}

function setText({ field, low, width }: Bits, value: bigint): string {
  if (field === undefined || low > 0 || value > fullMask(field) || width < field.width)
    return `0x${value.toString(16)}`;
  return valueText(field, value);
}

/** The name of the field, with the bits where it is a part. */
function bitsText({ name, field, low, width }: Bits): string {
  if (field === undefined || width >= field.width) return name;
  return width === 1 ? `${name} bit ${low}` : `${name} bits ${low + width - 1}-${low}`;
}
