/** Values of fields as Open vSwitch writes them: numbers, addresses, masks after a slash. */
import { ones } from "../../../base/bits.js";
import { addressOf, bigOf, prefixMask } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { OvsField } from "../fields.js";
import type { Masked } from "./steps.js";

export type { Masked };

/** A value, with a mask or a prefix length after a slash. @throws NotImported */
export function maskedOf(word: Word, field: Pick<OvsField, "name" | "kind" | "width">): Masked {
  if (field.name === "tcp_flags" && /[a-z+|-]/i.test(word.text.replace(/^0x[\da-f]+|\/0x[\da-f]+/gi, "")))
    return flagsOf(word);
  const [text, maskText] = halves(word.text);
  const value = valueOf({ text, place: word.place }, field);
  if (maskText === undefined) return { value, mask: ones(field.width) };
  const place = { ...word.place, column: word.place.column + text.length + 1 };
  const mask = maskOf({ text: maskText, place }, field);
  return { value: value & mask, mask };
}

/** A value without a mask. @throws NotImported */
export function valueOf(word: Word, { kind, width, name }: Pick<OvsField, "name" | "kind" | "width">): bigint {
  const isNumber = /^(0x[\da-f]+|\d+)$/i.test(word.text);
  return kind === "number" || isNumber ? bigOf(word, name, width) : addressOf(word, kind);
}

function maskOf(word: Word, field: Pick<OvsField, "name" | "kind" | "width">): bigint {
  const { kind, width } = field;
  if (kind !== "ipv4" && kind !== "ipv6") return valueOf(word, field);
  if (!/^\d+$/.test(word.text)) return valueOf(word, field);
  const length = Number(word.text);
  if (length > width) notImported(word, `a prefix of ${field.name} has 0 to ${width} bits`);
  return prefixMask(length, width);
}

/** The text before the last slash and after it. */
function halves(text: string): readonly [string, string | undefined] {
  const at = text.lastIndexOf("/");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

const FLAGS: Readonly<Record<string, bigint>> = {
  fin: 1n,
  syn: 2n,
  rst: 4n,
  psh: 8n,
  ack: 16n,
  urg: 32n,
  ece: 64n,
  cwr: 128n,
  ns: 256n,
};

/** `+syn-ack`, or `syn|ack`. */
function flagsOf(word: Word): Masked {
  const { text } = word;
  let value = 0n;
  let mask = 0n;
  if (/^[+-]/.test(text)) {
    for (const [, sign, name = ""] of text.matchAll(/([+-])(\w+)/g)) {
      const bit = FLAGS[name.toLowerCase()] ?? notImported(word, `there is no TCP flag ${name}`);
      mask |= bit;
      if (sign === "+") value |= bit;
    }
    return { value, mask };
  }
  for (const name of text.split("|"))
    value |= FLAGS[name.toLowerCase()] ?? notImported(word, `there is no TCP flag ${name}`);
  return { value, mask: 0xfffn };
}
