/** The fields that filters name: those of every header, from its layout. */
import { LAYOUTS, type FieldLayout, type LaidOutHeader } from "../layout.js";
import type { HeaderName } from "../parsedFrame.js";
import { FILTER_NAMES, type FilterNames } from "./names.js";

/** How values of a field are written and compared. */
export type FilterType = "number" | "ipv4" | "ipv6" | "mac" | "bytes" | "text";

/** Where a field lies: in which header, from which bit on. */
export interface FilterPlace {
  readonly header: HeaderName;
  readonly field: string;
  /** Bits from the start of the header; null where fields of other sizes precede it, or not every header has it. */
  readonly at: number | null;
  readonly bits: number;
  /** What a value stands for. */
  readonly counts?: ((value: number) => number) | undefined;
}

/** A field, or with the places of several headers a header or a whole frame. */
export interface FilterField {
  /** As it is written: `ip.dst`. */
  readonly name: string;
  readonly type: FilterType;
  /** The width of a number. */
  readonly bits: number;
  /** Words for values, such as `udp` of `ip.proto`. */
  readonly names?: Readonly<Record<number, string>> | undefined;
  /** All values of a text; others are refused. */
  readonly words?: readonly string[] | undefined;
  /** Null for what frames do not have in their bytes, such as a verdict. */
  readonly places: readonly FilterPlace[] | null;
  /** Of a header: its bytes up to the end of the frame. */
  readonly header?: true;
}

/** Fields by name. */
export type FilterFields = ReadonlyMap<string, FilterField>;

const NUMBERS: readonly string[] = ["number", "hex", "flag", "flags"];
const FRAME: FilterField = { name: "frame", type: "bytes", bits: 0, places: [], header: true };
/** What a capture says of a frame. */
const OF_RECORDS = ["number", "len", "cap_len", "time_relative"].map((name): FilterField => ({
  name: `frame.${name}`,
  type: "number",
  bits: 0,
  places: null,
}));

let known: FilterFields | undefined;

/** The fields and headers of frames. */
export function packetFilterFields(): FilterFields {
  if (known !== undefined) return known;
  const fields = new Map<string, FilterField>([FRAME, ...OF_RECORDS].map((field) => [field.name, field]));
  const add = (field: FilterField): void => {
    const before = fields.get(field.name);
    const places = [...(before?.places ?? []), ...(field.places ?? [])];
    fields.set(field.name, { ...field, ...before, places });
  };
  for (const [header, layout] of Object.entries(LAYOUTS) as [LaidOutHeader, readonly FieldLayout[]][]) {
    const names: FilterNames = FILTER_NAMES[header];
    const whole: FilterPlace = { header, field: "", at: 0, bits: 0 };
    const words = new Set([names.protocol ?? names.prefix, names.prefix, header]);
    // Both kinds of VXLAN have its fields, but only one is `vxlan`.
    if (names.protocol !== undefined && !names.prefix.includes(".")) words.delete(names.prefix);
    for (const name of words) add({ name, type: "bytes", bits: 0, places: [whole], header: true });
    for (const field of fieldsOf(header, layout, names)) add(field);
  }
  return (known = fields);
}

/** The name by which filters know a field of a header, or a header; null for what is neither, such as a payload. */
export function filterNameOf(header: string, field?: string): string | null {
  const names = (FILTER_NAMES as Readonly<Partial<Record<string, FilterNames>>>)[header];
  if (names === undefined) return null;
  if (field === undefined) return names.protocol ?? names.prefix;
  const name = nameIn(names, field);
  return packetFilterFields().has(name) ? name : null;
}

function nameIn({ prefix, fields }: FilterNames, field: string): string {
  return `${prefix}.${fields?.[field as `flags.${string}`] ?? field}`;
}

function fieldsOf(header: LaidOutHeader, layout: readonly FieldLayout[], names: FilterNames): FilterField[] {
  const found: FilterField[] = [];
  let at: number | null = 0;
  for (const [field, width, kind, detail] of layout) {
    const fixed: number | null = typeof width === "number" && detail?.when === undefined ? width : null;
    const bits = typeof width === "number" ? width : 0;
    const counts = names.bytes?.includes(field) === true ? detail?.counts : undefined;
    const place: FilterPlace = { header, field, at: fixed === null ? null : at, bits, counts };
    const type = typeOf(field, kind, bits);
    const name = nameIn(names, field);
    // What a number stands for may be wider than the number.
    found.push({ name, type, bits: counts === undefined ? bits : 32, names: detail?.names, places: [place] });
    for (const [n, flag] of (detail?.bits ?? []).entries()) {
      const one = { ...place, at: at === null ? null : at + n, bits: 1 };
      found.push({ name: nameIn(names, `flags.${flag}`), type: "number", bits: 1, places: [one] });
    }
    at = at === null || fixed === null ? null : at + fixed;
  }
  return [...found, ...eitherEnd(found, names)];
}

function typeOf(field: string, kind: string, bits: number): FilterType {
  // Of ARP; addresses of other sizes have no value here.
  if (kind === "address") return field.endsWith("hardware") ? "mac" : "ipv4";
  if (NUMBERS.includes(kind)) return bits > 32 ? "bytes" : "number";
  return kind === "ipv4" || kind === "ipv6" || kind === "mac" ? kind : "bytes";
}

/** `ip.addr` is `ip.src` and `ip.dst`, `udp.port` both ports. */
function eitherEnd(fields: readonly FilterField[], names: FilterNames): FilterField[] {
  const both = [
    ["addr", "source", "destination"],
    ["port", "source_port", "destination_port"],
  ] as const;
  return both.flatMap(([name, from, to]) => {
    const [one, other] = [from, to].map((end) => fields.find((field) => field.name === nameIn(names, end)));
    if (one === undefined || other === undefined) return [];
    return [{ ...one, name: `${names.prefix}.${name}`, places: [...(one.places ?? []), ...(other.places ?? [])] }];
  });
}
