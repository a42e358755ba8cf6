/** Reads fields of a tree: all at once, or each part when it is asked for. */
import { readBits, readNumber } from "../bytes.js";
import type { FieldLayout } from "../layout.js";
import { addressText, itemsOf, numberText, shortHex } from "./fieldText.js";
import type { TreeField, TreeItem } from "./types.js";

/** Makes the field of a layout that begins at bit `at` of the frame. */
export type FieldMaker = (frame: Uint8Array, layout: FieldLayout, at: number, bits: number) => TreeField;

/** The layout of bytes that no header names. */
export function bytesLayout(name: string): FieldLayout {
  return [name, "rest", "bytes"];
}

/** A field with all that it has, as plain data. */
export const readField: FieldMaker = (frame, layout, at, bits) => {
  const value = valueOf(frame, layout, at, bits);
  const items = itemsIn(layout, value, at >> 3);
  const text = items === undefined ? textOf(layout, bits, value) : textOfItems(items);
  const field = { name: layout[0], offset: at >> 3, bit: at & 7, bits, value, text };
  return items === undefined ? field : { ...field, items };
};

/** A field that reads its value, its text and its options when they are asked for. */
class LazyField implements TreeField {
  readonly name: string;
  readonly offset: number;
  readonly bit: number;
  readonly bits: number;
  right?: boolean;
  should?: number;
  readonly #frame: Uint8Array;
  readonly #layout: FieldLayout;
  #value: TreeField["value"] | undefined;
  #items: readonly TreeItem[] | undefined;
  #text: string | undefined;

  constructor(frame: Uint8Array, layout: FieldLayout, at: number, bits: number) {
    this.name = layout[0];
    this.offset = at >> 3;
    this.bit = at & 7;
    this.bits = bits;
    this.#frame = frame;
    this.#layout = layout;
  }

  get value(): TreeField["value"] {
    return (this.#value ??= valueOf(this.#frame, this.#layout, 8 * this.offset + this.bit, this.bits));
  }

  get items(): readonly TreeItem[] | undefined {
    return (this.#items ??= itemsIn(this.#layout, this.value, this.offset));
  }

  get text(): string {
    if (this.#text !== undefined) return this.#text;
    const { items } = this;
    this.#text = items === undefined ? textOf(this.#layout, this.bits, this.value) : textOfItems(items);
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
  }
}

export const lazyField: FieldMaker = (frame, layout, at, bits) => new LazyField(frame, layout, at, bits);

function valueOf(frame: Uint8Array, [, , kind]: FieldLayout, at: number, bits: number): TreeField["value"] {
  switch (kind) {
    case "number":
    case "hex":
    case "flag":
    case "flags":
      return bits > 32 ? readBits(frame, at, bits) : readNumber(frame, at, bits);
    case "mac":
    case "ipv4":
    case "ipv6":
    case "address":
      return addressText(frame.subarray(at >> 3, (at + bits) >> 3)) ?? frame.slice(at >> 3, (at + bits) >> 3);
    default:
      return frame.slice(at >> 3, (at + bits) >> 3);
  }
}

/** The options in a field; undefined for a field of another kind. */
function itemsIn([, , kind]: FieldLayout, value: TreeField["value"], offset: number): TreeItem[] | undefined {
  if (kind !== "route" && !kind.endsWith("_options")) return undefined;
  return itemsOf(kind, value as Uint8Array, offset);
}

function textOf([, , kind, detail]: FieldLayout, bits: number, value: TreeField["value"]): string {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? shortHex(value) : numberText(kind, bits, value, detail);
}

function textOfItems(items: readonly TreeItem[]): string {
  let text = items[0]?.text ?? "";
  for (let i = 1; i < items.length; i++) text += `, ${items[i]?.text}`;
  return text;
}
