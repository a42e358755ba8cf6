/** Header changes as testpmd's actions. */
import { fieldNamed } from "../../../model/match/fields.js";
import { parseBits } from "../../../model/match/term.js";
import type { ScenarioHeaderChange } from "../../../scenario/index.js";
import { NotExported } from "../../writing/terms.js";
import { changeFieldsOf } from "../fields/changes.js";
import { FIRST_TAG } from "../fields/metadata.js";
import type { Version } from "./pattern.js";

interface Target {
  readonly name: string;
  readonly bits: number;
  readonly level?: number;
  readonly isRegister: boolean;
}

/** @throws NotExported */
export function changeText(change: ScenarioHeaderChange, version: Version, metaRegister: string): string {
  if (typeof change === "string") throw new NotExported("a change as a word of the device");
  if (change.copy !== undefined) return copyText(change, version, metaRegister);
  const name = change.set ?? change.add ?? "";
  if (change.add === "outer.ip_ttl_hoplimit" && change.by === -1) return "dec_ttl";
  if (change.set === "outer.first_prio") return `of_set_vlan_pcp vlan_pcp ${whole(change)}`;
  const target = targetOf(name, version, metaRegister);
  const dst = end("dst", target);
  if (change.add !== undefined) {
    const by = change.by ?? 0;
    const operation = by < 0 ? "sub" : "add";
    const value = BigInt(Math.abs(by));
    if (value >> BigInt(target.bits) !== 0n) throw new NotExported(`more than ${target.bits} bits are added`);
    return `modify_field op ${operation} ${dst} src_type value src_value ${bytesOf(value, target.bits, target)} width ${target.bits}`;
  }
  return setText(change, name, target);
}

function setText(change: Exclude<ScenarioHeaderChange, string>, name: string, target: Target): string {
  const { mask, value } = bitsFor(change, name);
  const full = (1n << BigInt(target.bits)) - 1n;
  const offset = mask === full ? 0 : lowest(mask);
  const kept = mask >> BigInt(offset);
  if (mask === 0n || (kept & (kept + 1n)) !== 0n) throw new NotExported("bits that are set stand side by side");
  const width = kept.toString(2).length;
  const at = offset === 0 ? "" : ` dst_offset ${offset}`;
  const bytes = bytesOf(value >> BigInt(offset), width, target);
  return `modify_field op set ${end("dst", target)}${at} src_type value src_value ${bytes} width ${width}`;
}

function copyText(change: Exclude<ScenarioHeaderChange, string>, version: Version, meta: string): string {
  const [from, into] = [targetOf(change.copy ?? "", version, meta), targetOf(change.into ?? "", version, meta)];
  const { fromBit = 0, intoBit = 0 } = change;
  const bits = change.bits ?? Math.min(from.bits - fromBit, into.bits - intoBit);
  const place = (side: string, bit: number): string => (bit === 0 ? "" : ` ${side}_offset ${bit}`);
  return `modify_field op set ${end("dst", into)}${place("dst", intoBit)} ${end("src", from)}${place("src", fromBit)} width ${bits}`;
}

function bitsFor(change: Exclude<ScenarioHeaderChange, string>, name: string): { mask: bigint; value: bigint } {
  const field = fieldNamed(name);
  if (field === undefined || change.to === undefined) throw new NotExported(`a change of ${name}`);
  const { mask, value } = parseBits(name, field, change.to);
  return { mask, value: value & mask };
}

function whole(change: Exclude<ScenarioHeaderChange, string>): bigint {
  const { mask, value } = bitsFor(change, change.set ?? "");
  if (mask !== 7n) throw new NotExported("a part of a VLAN priority");
  return value;
}

function targetOf(name: string, version: Version, meta: string): Target {
  if (name === meta) return { name: "meta", bits: 32, isRegister: true };
  const index = /^misc2\.metadata_reg_c_([2-7])$/.exec(name)?.[1];
  if (index !== undefined) return { name: "tag", bits: 32, level: Number(index) - FIRST_TAG, isRegister: true };
  const side = name.includes("inner") ? ("inner" as const) : "outer";
  const [first, second] = changeFieldsOf(name);
  if (first === undefined) throw new NotExported(`testpmd has no change of ${name}`);
  if (second !== undefined && (side === "inner" || version === undefined)) {
    throw new NotExported(`testpmd changes ${name} of one IP version; the rule does not ask for it`);
  }
  const [word, { bits }] = second !== undefined && version === 6 ? second : first;
  return { name: word, bits, isRegister: false, ...(side === "inner" ? { level: 2 } : {}) };
}

function end(side: "dst" | "src", { name, level }: Target): string {
  return `${side}_type ${name}${level === undefined || level === 0 ? "" : ` ${side}_level ${level}`}`;
}

/** A value in the order of the network; of a register in that of the processor. */
function bytesOf(value: bigint, width: number, { isRegister }: Target): string {
  const digits = value.toString(16).padStart(2 * Math.ceil(width / 8), "0");
  const bytes = digits.match(/../g) ?? [];
  return `0x${(isRegister ? bytes.reverse() : bytes).join("")}`;
}

function lowest(mask: bigint): number {
  let bit = 0;
  while (((mask >> BigInt(bit)) & 1n) === 0n && mask !== 0n) bit++;
  return bit;
}
