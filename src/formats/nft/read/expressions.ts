/** Expressions of nftables that the kernel hands to a NIC: what rules match. */
import { prefixMask, addressOf } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import { DEVICE_OF_CHAIN, HEADERS, type Asked, type Header } from "../fields.js";
import { NO_MATCH, NO_SETS } from "./elements.js";

/** Values of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Reads `{ match: { op, left, right } }`. @throws NotImported */
export function askMatch(asked: Asked, expression: Json, word: Word): void {
  const { op, left, right } = objectOf(expression);
  if (op !== "==" && op !== "in")
    notImported(word, `the kernel offloads comparisons for equality only, not "${text(op)}"`);
  const { name, mask: masked } = leftOf(left, word);
  if (DEVICE_OF_CHAIN.includes(name)) {
    if (right !== asked.device) notImported(word, `the chain is for frames of ${asked.device}`);
    return;
  }
  const header = HEADERS[name];
  if (header === undefined) return notImported({ ...word, text: name }, NO_MATCH);
  const full = (1n << BigInt(header.width)) - 1n;
  const mask = masked === undefined ? full : numberIn(masked, header, { ...word, text: text(masked) });
  const { prefix } = objectOf(right);
  if (prefix !== undefined) {
    const { addr, len } = objectOf(prefix);
    const value = numberIn(addr, header, { ...word, text: text(addr) });
    header.ask(asked, value, prefixMask(prefixLength(len, header.width, word), header.width), word);
    return;
  }
  if (typeof right === "object" || (typeof right === "string" && right.startsWith("@"))) {
    notImported({ ...word, text: text(right) }, NO_SETS);
  }
  header.ask(asked, numberIn(right, header, { ...word, text: text(right) }), mask, word);
}

function leftOf(left: Json | undefined, word: Word): { name: string; mask?: Json | undefined } {
  const { payload, meta, "&": and } = objectOf(left);
  if (Array.isArray(and)) return { ...leftOf(and[0] as Json, word), mask: and[1] as Json };
  if (payload !== undefined) {
    const { protocol, field } = objectOf(payload);
    return { name: `${text(protocol)} ${text(field)}` };
  }
  if (meta !== undefined) return { name: `meta ${text(objectOf(meta)["key"])}` };
  return notImported({ ...word, text: text(left) }, NO_MATCH);
}

function prefixLength(value: Json | undefined, width: number, word: Word): number {
  if (isWhole(value) && value <= width) return value;
  return notImported({ ...word, text: text(value) }, `a prefix has 0 to ${width} bits`);
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function numberIn(value: Json | undefined, { kind, width, names }: Header, word: Word): bigint {
  if (typeof value === "string") {
    if (kind !== "number") return addressOf(word, kind);
    const named = names?.[value];
    if (named !== undefined) return BigInt(named);
  }
  const number =
    typeof value === "number"
      ? value
      : typeof value === "string" && /^(0x[\da-f]+|\d+)$/i.test(value)
        ? Number(value)
        : NaN;
  if (!isWhole(number) || number >= 2 ** width)
    notImported(word, `it is a number of ${width} bits, or a name: ${Object.keys(names ?? {}).join(", ")}`);
  return BigInt(number);
}

/** The keys of an object; none of another value. */
export function objectOf(value: Json | undefined): { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { [key: string]: Json }) : {};
}

export function text(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
