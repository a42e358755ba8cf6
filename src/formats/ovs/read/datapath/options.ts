/** Options of Geneve as the datapath writes them: `{class=0x102,type=0x80,len=4,0x10002/0x7fffffff}`. */
import { ones } from "../../../../base/bits.js";
import { bigOf, numberOf } from "../../../text/numbers.js";
import { notImported } from "../../../text/refusal.js";
import type { OptionKey } from "../steps.js";
import type { Piece } from "../text.js";
import { maskedOf, type Masked } from "../values.js";

export interface Option extends Masked {
  readonly class: number;
  readonly type: number;
  /** Bytes of its data. */
  readonly length: number;
}

/** @param inside what stands in the parentheses of `geneve` or `options`. @throws NotImported */
export function optionsOf(inside: Piece): Option[] {
  // Options follow each other, with or without a comma.
  const { text } = inside;
  return [...text.matchAll(/\{[^{}]*\}/g)].map(({ index, 0: { length } }) =>
    optionOf(inside.part(index + 1, index + length - 1)),
  );
}

function optionOf(inside: Piece): Option {
  const found: { class?: number; type?: number; length?: number; data?: Piece } = {};
  for (const piece of inside.split(",")) {
    const [name, value] = piece.cut("=") ?? [undefined, piece];
    if (name === undefined) found.data = value;
    else if (name.text === "class") found.class = whole(value, "class", 16);
    else if (name.text === "type") found.type = whole(value, "type", 8);
    else if (name.text === "len") found.length = whole(value, "len", 8);
    else notImported(piece, "an option has class, type, len and its data");
  }
  const { class: of, type, length, data } = found;
  if (of === undefined || type === undefined || length === undefined || length % 4 !== 0)
    return notImported(inside, "an option has class, type, len (a multiple of 4) and its data");
  const width = 8 * length;
  const bits =
    data === undefined
      ? { value: 0n, mask: ones(width) }
      : maskedOf(data, { name: "an option", kind: "number", width });
  return { class: of, type, length, ...bits };
}

/** A number without a mask, or with a full one. */
function whole(piece: Piece, name: string, width: number): number {
  const [value, mask] = piece.cut("/") ?? [piece, undefined];
  const full = ones(width);
  if (mask !== undefined && (bigOf(mask, name, 64) & full) !== full)
    notImported(piece, `the device looks for options of one class, type and length`);
  return numberOf(value, name, width);
}

/** What flows call an option that has no name. */
export function optionKey({ class: of, type, length }: Option): OptionKey {
  return `option ${of} ${type} ${length}`;
}
