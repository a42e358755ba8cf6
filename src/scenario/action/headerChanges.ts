/** Translates the header changes of a document to those of the device. */
import { ones } from "../../base/bits.js";
import { refuse, type RefusalReason } from "../../errors.js";
import type { ModifyAction } from "../../model/action/modifyActions.js";
import { parseBits } from "../../model/match/term.js";
import { namesHint } from "../../base/nearest.js";
import type { ScenarioHeaderChange, ScenarioHeaderChangeObject } from "./changes.js";
import { CHANGE_FIELD_NAMES, changeFieldNamed, type ChangeField, type FieldPart } from "./changeFields.js";
import { below } from "../schema/path.js";

/** A list of changes in the form of the device. */
export interface HeaderChanges {
  readonly actions: readonly (bigint | ModifyAction)[];
  /** Maps a path of the model to the document: `actions[3].field` becomes `[1].set`. */
  readonly placeOf: (inner: string) => string;
}

/** @throws EINVAL unknown fields, values and bits that do not fit, malformed words */
export function headerChanges(path: string, list: readonly ScenarioHeaderChange[]): HeaderChanges {
  const actions: (bigint | ModifyAction)[] = [];
  const origins: number[] = [];
  list.forEach((change, i) => {
    const made = changesOf(below(path, i), change);
    actions.push(...made);
    origins.push(...made.map(() => i));
  });
  return { actions, placeOf: (inner) => placeIn(list, origins, inner) };
}

type ChangeKind = "set" | "add" | "copy";

/** The document's keys of a change, by the model's names. */
const PARTS: Readonly<Record<ChangeKind, Readonly<Record<string, string>>>> = {
  set: { field: ".set", type: ".set", data: ".to", offset: ".to" },
  add: { field: ".add", type: ".add", data: ".by" },
  copy: { field: ".copy", type: ".copy", to: ".into", src_offset: ".fromBit", dst_offset: ".intoBit" },
};

function placeIn(list: readonly ScenarioHeaderChange[], origins: readonly number[], inner: string): string {
  const [, number, part = ""] = /^actions\[(\d+)\](?:\.(\w+))?/.exec(inner) ?? [];
  const origin = number === undefined ? undefined : origins[Number(number)];
  if (origin === undefined) return "";
  const change = list[origin];
  const here = below("", origin);
  return typeof change === "object" ? here + (PARTS[kindOf(change)][part] ?? "") : here;
}

function kindOf({ set, add }: ScenarioHeaderChangeObject): ChangeKind {
  return set !== undefined ? "set" : add !== undefined ? "add" : "copy";
}

function changesOf(path: string, change: ScenarioHeaderChange): (bigint | ModifyAction)[] {
  if (typeof change === "string") return [wordOf(path, change)];
  const { set, to = 0, add, by = 0, copy, into = "" } = change;
  if (set !== undefined) return setOf(path, fieldOf(`${path}.set`, set), to);
  if (add !== undefined) return addOf(`${path}.add`, fieldOf(`${path}.add`, add), by);
  const fields = [fieldOf(`${path}.copy`, copy ?? ""), fieldOf(`${path}.into`, into)] as const;
  return copyOf(path, fields, change);
}

function wordOf(path: string, text: string): bigint {
  const digits = text.replace(/[\s:]+/g, "").replace(/^0x/i, "");
  if (/^[0-9a-f]{16}$/i.test(digits)) return BigInt(`0x${digits}`);
  return bad(path, text, "16 hexadecimal digits", "bad_scenario");
}

function fieldOf(path: string, name: string): ChangeField {
  const field = changeFieldNamed(name);
  if (field !== undefined) return field;
  const same = CHANGE_FIELD_NAMES.filter((known) => known.split(".")[1] === name).map((known) => `"${known}"`);
  const hint = same.length > 0 ? `did you mean ${same.join(" or ")}?` : namesHint(name, "fields", CHANGE_FIELD_NAMES);
  return bad(path, name, hint, "bad_field");
}

/** One SET for each run of masked bits in a part. */
function setOf(path: string, field: ChangeField, to: string | number): ModifyAction[] {
  const { mask, value } = parseBits(`${path}.to`, field, to);
  return field.ways.flat().flatMap(({ field: name, offset, width, low }) =>
    runs((mask >> BigInt(low)) & ones(width)).map(({ first, bits }): ModifyAction => {
      const data = Number((value >> BigInt(low + first)) & ones(bits));
      return { type: "set", field: name, offset: offset + first, length: bits, data };
    }),
  );
}

function addOf(path: string, field: ChangeField, by: number): ModifyAction[] {
  const device = field.ways.map(([part]) => part as FieldPart);
  if (field.ways.some((way) => way.length > 1) || field.name.startsWith("outer.first_")) {
    const words = field.ways.flatMap((way) => way.map((part) => part.field)).join(", ");
    return bad(path, field.name, `the device adds to whole words: ${words}`, "bad_modify");
  }
  return device.map(({ field: name }): ModifyAction => ({ type: "add", field: name, data: by >>> 0 }));
}

/** One COPY for each piece within one part of both fields. */
function copyOf(
  path: string,
  [from, into]: readonly [ChangeField, ChangeField],
  { fromBit = 0, intoBit = 0, bits }: ScenarioHeaderChangeObject,
): ModifyAction[] {
  const left = [from.width - fromBit, into.width - intoBit] as const;
  const beyond = (key: string, value: number, field: ChangeField): never =>
    bad(`${path}.${key}`, value, `${field.name} has ${field.width} bits`, "out_of_range");
  if (left[0] <= 0) beyond("fromBit", fromBit, from);
  if (left[1] <= 0) beyond("intoBit", intoBit, into);
  const count = bits ?? Math.min(...left);
  if (count > left[0]) beyond("bits", count, from);
  if (count > left[1]) beyond("bits", count, into);
  return from.ways.flatMap((source) => into.ways.flatMap((target) => pieces(source, fromBit, target, intoBit, count)));
}

function pieces(
  source: readonly FieldPart[],
  fromBit: number,
  target: readonly FieldPart[],
  intoBit: number,
  count: number,
): ModifyAction[] {
  const copies: ModifyAction[] = [];
  for (let done = 0; done < count;) {
    const one = partAt(source, fromBit + done);
    const other = partAt(target, intoBit + done);
    const length = Math.min(count - done, one.left, other.left);
    copies.unshift({
      type: "copy",
      field: one.field,
      src_offset: one.offset,
      length,
      to: other.field,
      dst_offset: other.offset,
    });
    done += length;
  }
  return copies;
}

/** The device's place of a bit of a whole field, and how many bits of the part follow. */
function partAt(parts: readonly FieldPart[], bit: number): { field: string; offset: number; left: number } {
  const part = parts.find(({ low, width }) => bit >= low && bit < low + width) as FieldPart;
  const into = bit - part.low;
  return { field: part.field, offset: part.offset + into, left: part.width - into };
}

/** Runs of set bits, the highest first. */
function runs(mask: bigint): { first: number; bits: number }[] {
  const found: { first: number; bits: number }[] = [];
  for (let bit = 0, rest = mask; rest > 0n; bit++, rest >>= 1n) {
    if ((rest & 1n) === 0n) continue;
    const last = found[0];
    if (last !== undefined && last.first + last.bits === bit) last.bits++;
    else found.unshift({ first: bit, bits: 1 });
  }
  return found;
}

function bad(path: string, value: unknown, hint: string, reason: RefusalReason): never {
  return refuse({ code: "EINVAL", reason, path, value, hint });
}
