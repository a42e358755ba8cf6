/** Changes of header fields: set_*, inc_*, dec_* and modify_field. */
import { ones } from "../../../../base/bits.js";
import { notImported } from "../../../text/refusal.js";
import { fieldNamed } from "../../../../model/match/fields.js";
import { format } from "../../../../model/match/term.js";
import type { PatternWalk } from "../pattern/walk.js";
import { registerOfMeta } from "../../fields/metadata.js";
import { registerOfTag } from "../pattern/special.js";
import { CHANGE_FIELDS } from "../../fields/changes.js";
import type { FieldChange } from "./modifyField.js";
import type { Action } from "./read.js";
import type { Change } from "../../../rules/importRule.js";

/** The packet of the pattern that is the outer one when the change is made; undefined for a new one. */
export type PatternLevel = "outer" | "inner" | undefined;

/** @throws NotImported */
export function changeOf(action: Action, walk: PatternWalk, level: PatternLevel): Change[] {
  if (action.change !== undefined) return [fieldChange(action.change, walk)];
  const { set = [], add = [], sign = 1 } = action.kind?.change ?? {};
  const [given] = action.values.values();
  const needsVersion = /^set_ipv(\d)_dscp$/.exec(action.name)?.[1];
  if (needsVersion !== undefined && walk.match.bits(`${level ?? "outer"}.ip_version`)?.value !== BigInt(needsVersion)) {
    notImported(
      action.word,
      `the device sets the DSCP of any IP version; the pattern does not match IPv${needsVersion}`,
    );
  }
  const known = set.filter((name) => asksFor(walk, level, name, set));
  return [
    ...known.map((name) => ({ set: name, to: valueFor(name, given?.value ?? 0n) })),
    ...add.map((name) => ({ add: name, by: sign * Number(given?.value ?? 1n) })),
  ];
}

/** Ports are those of TCP and of UDP: both, unless the pattern asks for one of them. */
function asksFor(walk: PatternWalk, level: PatternLevel, name: string, all: readonly string[]): boolean {
  if (all.length < 2) return true;
  const upper = walk.upperOf(level);
  return upper === undefined || name.startsWith(`outer.${upper}_`);
}

function valueFor(name: string, value: bigint): string | number {
  const field = fieldNamed(name);
  if (field === undefined) throw new Error(`there is no field ${name}`);
  const kept = value & ones(field.width);
  return field.kind === "number" ? Number(kept) : format(field, kept);
}

interface Target {
  readonly name: string;
  readonly bits: number;
  readonly isRegister: boolean;
}

function fieldChange(change: FieldChange, walk: PatternWalk): Change {
  const into = targetOf(change.into, walk);
  const offset = Number(change.into.offset);
  if (change.width === 0 || offset + change.width > into.bits) {
    notImported(change.into.word, `${change.into.type} has ${into.bits} bits`);
  }
  if (change.bytes === undefined) return copy(change, into, targetOf(change.from, walk));
  const value = immediate(change.bytes, change.width, into.isRegister);
  if (change.operation === "set") return setBits(into, value, offset, change.width);
  const by = Number(value << BigInt(offset));
  if (by > 0xffffffff) notImported(change.word, "the device adds numbers of 32 bits");
  if (offset !== 0 || change.width !== into.bits) notImported(change.word, "the device adds to a whole field");
  return { add: into.name, by: change.operation === "add" ? by : -by };
}

function copy(change: FieldChange, into: Target, from: Target): Change {
  if (change.operation !== "set") notImported(change.word, "the device adds values, and no fields");
  const [fromBit, intoBit] = [Number(change.from.offset), Number(change.into.offset)];
  if (fromBit + change.width > from.bits) notImported(change.from.word, `${change.from.type} has ${from.bits} bits`);
  return {
    copy: from.name,
    into: into.name,
    bits: change.width,
    ...(fromBit === 0 ? {} : { fromBit }),
    ...(intoBit === 0 ? {} : { intoBit }),
  };
}

function setBits({ name, bits }: Target, value: bigint, offset: number, width: number): Change {
  if (offset === 0 && width === bits) return { set: name, to: valueFor(name, value) };
  const mask = ones(width) << BigInt(offset);
  const field = fieldNamed(name);
  if (field === undefined) throw new Error(`there is no field ${name}`);
  const text = (number: bigint): string =>
    field.kind === "number" ? `0x${number.toString(16)}` : format(field, number);
  return { set: name, to: `${text((value << BigInt(offset)) & mask)}/${text(mask)}` };
}

function targetOf({ type, level, word }: FieldChange["into"], walk: PatternWalk): Target {
  const known = CHANGE_FIELDS[type];
  if (known === undefined || typeof known === "string") return notImported(word, known ?? "it is no field");
  // The level of a tag is its index.
  if (type === "tag") return { name: registerOfTag(level, word), bits: 32, isRegister: true };
  if (type === "meta") return { name: registerOfMeta(walk.place.domain), bits: 32, isRegister: true };
  if (level > 2n) notImported(word, "the device has an outer and an inner packet: levels 0 to 2");
  const side = level === 2n ? "inner" : "outer";
  if (side === "inner" && known.outerOnly === true) {
    notImported(word, "the device does not change this field of the inner packet");
  }
  return { name: known.name.replace("{}", side), bits: known.bits, isRegister: false };
}

/** A value as it stands in memory: in the order of the network, registers in that of the processor. */
function immediate(bytes: string, width: number, isRegister: boolean): bigint {
  const length = Math.ceil(width / 8);
  const given = (bytes.match(/../g) ?? []).slice(0, length);
  while (given.length < length) given.push("00");
  const value = BigInt(`0x${(isRegister ? given.reverse() : given).join("")}`);
  return value & ones(width);
}
