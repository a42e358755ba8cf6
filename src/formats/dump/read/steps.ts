/** Which bits of a tag go into which field of the key. */
import { fieldNamed, type Field } from "../../../model/match/fields.js";
import { once } from "../../../base/once.js";
import { DEFINERS, LOOKUP_TYPES_0, LOOKUP_TYPES_1, type TagLayout } from "./layouts.js";

/** A run of bits of a field: bit 0 of key and tag is the most significant bit of byte 0. */
export interface Run {
  readonly field: Field;
  readonly keyBit: number;
  readonly width: number;
  readonly tag: TagBits;
}

export type TagBits =
  /** The bits stand as they are. */
  | { readonly kind: "same"; readonly bit: number }
  /** The bits stand as they are in one of the four words of the tag; the others are 0. */
  | { readonly kind: "anyWord"; readonly bit: number }
  /** Somewhere in the entry, with others. */
  | { readonly kind: "unknown" }
  /** Bits that are set for a value; all others of these are 0. */
  | { readonly kind: "values"; readonly values: ReadonlyMap<number, readonly number[]> }
  /** The gvmi of a function, and the bit that tells it from the wire. */
  | { readonly kind: "gvmi"; readonly bit: number; readonly notWire: number | null };

/** The fields that an entry may hold: one of the lists. */
export type Alternatives = readonly (readonly Run[])[];

const TOKEN = /^([\w.]+)(?:\[(\d+):(\d+)\])?(?:@(\d+)(?:\+(\d+))?(?:!(\d+))?|\{(.*)\})$/;

function parseLayout({ fields }: TagLayout, layer: "outer" | "inner" | null): Alternatives {
  return fields.split(" | ").map((list) => list.split(" ").map((token) => runOf(token, layer)));
}

/** A run of a layout, in the notation of `layouts.ts`. */
export function runOf(token: string, layer: "outer" | "inner" | null): Run {
  const text = layer === null ? token : token.replace("~", `${layer}_`);
  const [, name = "", high, low = "0", bit, width, notWire, values] = TOKEN.exec(text) ?? [];
  const field = fieldNamed(name.includes(".") ? name : `${layer}.${name}`);
  if (field === undefined) throw new Error(`no field: ${token}`);
  const from = Number(low);
  const bits = width === undefined ? Number(high ?? field.width - 1) - from + 1 : Number(width);
  const keyBit = field.bit + field.width - from - bits;
  return { field, keyBit, width: bits, tag: tagBits(name, bit, notWire, values) };
}

function tagBits(name: string, bit = "0", notWire?: string, values?: string): TagBits {
  if (values !== undefined) {
    const rows = values.split(",").map((one): [number, number[]] => {
      const [value, bits = ""] = one.split(":");
      return [Number(value), bits === "" ? [] : bits.split("+").map(Number)];
    });
    return { kind: "values", values: new Map(rows) };
  }
  if (name === "misc.source_port") {
    return { kind: "gvmi", bit: Number(bit), notWire: notWire === undefined ? null : Number(notWire) };
  }
  return { kind: "same", bit: Number(bit) };
}

type Layouts = ReadonlyMap<number, Alternatives>;

function layoutsOf(rows: readonly TagLayout[]): Layouts {
  const all = new Map<number, Alternatives>();
  for (const row of rows) {
    for (const layer of ["outer", "inner"] as const) {
      for (const type of row[layer] ?? []) all.set(type, parseLayout(row, layer));
    }
    for (const type of row.types ?? []) all.set(type, parseLayout(row, null));
  }
  return all;
}

const OF_FORMAT_0 = once(() => layoutsOf(LOOKUP_TYPES_0));
const OF_FORMAT_1 = once(() => layoutsOf(LOOKUP_TYPES_1));
const OF_DEFINERS = once(() => layoutsOf(DEFINERS));

/** What an entry of this lookup type, or of this definer (-1: none), can hold; undefined if that is not known. */
export function layoutOf(format: number, type: number, definer: number): Alternatives | undefined {
  if (definer >= 0) return OF_DEFINERS().get(definer);
  return (format === 0 ? OF_FORMAT_0() : OF_FORMAT_1()).get(type);
}
