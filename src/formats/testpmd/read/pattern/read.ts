/** Reads a pattern: items, their fields, and the value, the upper end and the mask of each. */
import { ones } from "../../../../base/bits.js";
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { numberAt, unknownWord, valueOf } from "../values.js";
import { ITEM_NAMES, ITEMS, REFUSED_ITEMS } from "../../fields/items.js";
import type { ItemField, ItemKind } from "../../fields/kind.js";

export interface FieldValue {
  readonly word: Word;
  spec: bigint;
  last: bigint;
  mask: bigint;
}

/** An item as it stands; a field that it does not name has no entry. */
export interface Item {
  readonly word: Word;
  readonly name: string;
  readonly kind: ItemKind;
  readonly fields: Map<string, FieldValue>;
  /** Which of the three parts some field has. */
  hasSpec: boolean;
  hasLast: boolean;
  hasMask: boolean;
}

const OPERATORS = ["is", "spec", "last", "mask", "prefix"];

/** Reads items up to `end`, which is taken too. @throws NotImported */
export function readPattern(words: Cursor, ends: readonly string[] = ["end"]): Item[] {
  const items: Item[] = [];
  for (;;) {
    const word = words.next('the "end" of the pattern');
    if (ends.includes(word.text)) return items;
    const item = readItem(word, words);
    items.push(item);
  }
}

function readItem(word: Word, words: Cursor): Item {
  const name = word.text;
  const kind = Object.hasOwn(ITEMS, name) ? ITEMS[name] : undefined;
  if (kind === undefined) {
    const reason = Object.hasOwn(REFUSED_ITEMS, name) ? REFUSED_ITEMS[name] : undefined;
    if (reason !== undefined) notImported(word, reason);
    return unknownWord(word, "item", ITEM_NAMES);
  }
  const item: Item = { word, name, kind, fields: new Map(), hasSpec: false, hasLast: false, hasMask: false };
  while (!words.take("/")) readField(item, words);
  return item;
}

function readField(item: Item, words: Cursor): void {
  const word =
    item.kind.nameless === undefined ? words.next('the "/" after an item') : nameOf(item.kind.nameless, words);
  const field = Object.hasOwn(item.kind.fields, word.text) ? item.kind.fields[word.text] : undefined;
  if (field === undefined) {
    const names = Object.keys(item.kind.fields);
    if (ITEM_NAMES.includes(word.text)) notImported(word, `"/" is missing between ${item.name} and ${word.text}`);
    return unknownWord(word, `field of ${item.name}`, names);
  }
  const operator = words.next(`one of ${OPERATORS.join(", ")}`);
  if (!OPERATORS.includes(operator.text)) unknownWord(operator, "operator", OPERATORS);
  const operand = words.next(`the value of ${word.text}`);
  const name = field.partOf?.field ?? word.text;
  const value = item.fields.get(name) ?? { word, spec: 0n, last: 0n, mask: 0n };
  item.fields.set(name, value);
  assign(item, value, { ...field, word }, operator.text, operand);
}

/** The name of a field that is not said: `conntrack is 1`. */
function nameOf(text: string, words: Cursor): Word {
  return { text, place: words.place };
}

type Part = "spec" | "last" | "mask";

function assign(
  item: Item,
  value: FieldValue,
  { bits, kind, partOf, word }: ItemField & { readonly word: Word },
  operator: string,
  operand: Word,
): void {
  const low = BigInt(partOf?.low ?? 0);
  const put = (part: Part, given: bigint): void => {
    value[part] = (value[part] & ~(ones(bits) << low)) | (given << low);
  };
  const what = `${item.name} ${word.text}`;
  if (operator === "prefix") {
    const length = Number(numberAt(operand, what, 32));
    if (length > bits) notImported(operand, `${what} has ${bits} bits`);
    put("mask", ones(bits) ^ ones(bits - length));
    item.hasMask = true;
    return;
  }
  const given = valueOf(operand, what, bits, kind);
  if (operator === "is") {
    put("spec", given);
    put("mask", kind === "hex" ? ones(hexBits(operand)) : ones(bits));
  } else put(operator as Part, given);
  item.hasSpec ||= operator === "is" || operator === "spec";
  item.hasMask ||= operator === "is" || operator === "mask";
  item.hasLast ||= operator === "last";
}

function hexBits(word: Word): number {
  return word.text.replace(/^0x/i, "").length * 4;
}

/** What is compared of a field: its mask, or the preset of the item where the item has values but no masks. */
export function maskOf(item: Item, field: string): bigint {
  if (item.hasMask) return item.fields.get(field)?.mask ?? 0n;
  return item.hasSpec ? (item.kind.fields[field]?.preset ?? 0n) : 0n;
}
