/** Values that filters compare with. */
import { parseIpv4, parseIpv6, parseMac } from "../addresses.js";
import { nearest } from "../../base/nearest.js";
import type { FilterField } from "./fields.js";
import { FilterError, type Token } from "./tokens.js";

/** A value of a frame: a number (also an IPv4 address), a text, or else bytes as hexadecimal digits. */
export type FilterValue = number | string;

/** The values that a literal stands for, which a network has many of: from `low` to `high`. */
export interface Literal {
  readonly low: FilterValue;
  readonly high: FilterValue;
}

/** Whether a token is a value of the field. */
export function isLiteral(field: FilterField, token: Token): boolean {
  return token.kind !== "end" && token.kind !== "sign" && valueOf(field, token) !== null;
}

/** @throws FilterError the text is no value of the field */
export function literalOf(field: FilterField, token: Token): Literal {
  const value = token.kind === "end" || token.kind === "sign" ? null : valueOf(field, token);
  if (value !== null) return value;
  const given = token.kind === "end" ? "a value is missing" : `"${token.text}" is not ${KINDS[field.type]}`;
  throw new FilterError(`${given}: ${field.name} ${example(field)}`, token.from, token.to);
}

export const KINDS = {
  number: "a number",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  mac: "a MAC address",
  bytes: "bytes",
  text: "a text",
} as const;

const EXAMPLES = {
  number: "is compared with numbers, such as 80 or 0x50",
  ipv4: "is compared with addresses and networks, such as 10.0.0.0/8",
  ipv6: "is compared with addresses and networks, such as 2001:db8::/32",
  mac: "is compared with addresses, such as 02:00:00:00:00:01",
  bytes: "is compared with bytes, such as 08:00, or text in quotes",
  text: "is compared with text in quotes",
} as const;

function example({ type, bits }: FilterField): string {
  return bits === 1 ? "is compared with 0, 1, true or false" : EXAMPLES[type];
}

function valueOf(field: FilterField, token: Token): Literal | null {
  const { text } = token;
  switch (field.type) {
    case "number":
      return single(numberOf(field, token));
    case "ipv4":
      return network(text, 32, parseIpv4, Number);
    case "ipv6":
      return network(text, 128, parseIpv6, (value) => value.toString(16).padStart(32, "0"));
    case "mac":
      return single(parseMac(text)?.toString(16).padStart(12, "0") ?? null);
    case "bytes":
      return single(token.kind === "string" ? hexOfText(text) : bytesOf(text));
    case "text":
      return single(wordOf(field, token));
  }
}

function single(value: FilterValue | null): Literal | null {
  return value === null ? null : { low: value, high: value };
}

function numberOf({ name, bits, names }: FilterField, { text, from, to }: Token): number | null {
  if (bits === 1 && /^(true|false)$/i.test(text)) return Number(/^t/i.test(text));
  const named = Object.entries(names ?? {}).find(([, word]) => word.toLowerCase() === text.toLowerCase());
  if (named !== undefined) return Number(named[0]);
  if (!/^(\d+(\.\d+)?|0x[0-9a-f]+)$/i.test(text)) return null;
  const value = Number(text);
  const max = 2 ** bits - 1;
  if (bits > 0 && value > max) throw new FilterError(`${text} is too large: ${name} is at most ${max}`, from, to);
  return value;
}

/** An address, or with a length of its prefix the addresses of a network. */
function network(
  text: string,
  width: number,
  parse: (text: string) => bigint | undefined,
  value: (address: bigint) => FilterValue,
): Literal | null {
  const [, whole = "", digits] = /^([^/]*)(?:\/(\d+))?$/.exec(text) ?? [];
  const address = parse(whole);
  const prefix = digits === undefined ? width : Number(digits);
  if (address === undefined || prefix > width) return null;
  const rest = (1n << BigInt(width - prefix)) - 1n;
  return { low: value(address & ~rest), high: value(address | rest) };
}

/** `02:00`, `02-00`, `0x0200`, an address: hexadecimal digits. */
function bytesOf(text: string): string | null {
  const address = /^\d+(\.\d+){3}$/.test(text) ? parseIpv4(text) : undefined;
  if (address !== undefined) return address.toString(16).padStart(8, "0");
  const digits = text.replace(/^0x/i, "").replace(/[:-]/g, "").toLowerCase();
  return /^([0-9a-f]{2})+$/.test(digits) && !/(^|[:-])[0-9a-f]([:-]|$)/i.test(text) ? digits : null;
}

function hexOfText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function wordOf({ name, words }: FilterField, { text, from, to }: Token): string {
  if (words === undefined || words.includes(text)) return text;
  const near = nearest(text, words);
  const hint = near === undefined ? `use ${words.slice(0, 8).join(", ")}` : `did you mean "${near}"?`;
  throw new FilterError(`"${text}" is no value of ${name}: ${hint}`, from, to);
}
