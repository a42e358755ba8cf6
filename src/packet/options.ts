/**
 * Decodes and encodes the options of TCP, IPv4, IPv6 and Geneve, as lists that people can read and
 * write.
 *
 * Decoding loses nothing. An option whose data does not fit its type is decoded as a number with
 * data; bytes after a broken option become a last entry, `rest`. Encoding a decoded list gives the
 * same bytes.
 */
import { formatIpv4, parseIpv4 } from "./addresses.js";
import { bytesGiven, bytesOf, hexOf, joined, readBits, readNumber, type BytesText } from "./bytes.js";

/** An option by number, with the data after its length byte. */
export interface OtherOption {
  option: number;
  data?: BytesText;
}

/**
 * Bytes that are not an option: after the end of the list, or from an option with an invalid length
 * on.
 */
export interface RestOption {
  option: "rest";
  data: BytesText;
}

/**
 * TCP options (RFC 9293 section 3.2, RFC 7323, RFC 2018). `edges` are the left and right edge of
 * each block in turn.
 */
export type TcpOption =
  | { option: "end" | "nop" | "sack_permitted" }
  | { option: "mss"; size: number }
  | { option: "wscale"; shift: number }
  | { option: "sack"; edges: readonly number[] }
  | { option: "timestamps"; value: number; echo: number }
  | OtherOption
  | RestOption;

/**
 * IPv4 options (RFC 791 section 3.1, RFC 2113). Pointers count from 1 at the option's type byte, so
 * the first address is at 4.
 */
export type Ipv4Option =
  | { option: "end" | "nop" }
  | {
      option: "record_route" | "loose_source_route" | "strict_source_route";
      pointer: number;
      addresses: readonly string[];
    }
  | { option: "timestamp"; pointer: number; overflow_flag: number; data: BytesText }
  | { option: "router_alert"; value: number }
  | OtherOption
  | RestOption;

/** IPv6 options (RFC 8200 section 4.2, RFC 2711, RFC 2675). */
export type Ipv6Option =
  | { option: "pad1" }
  | { option: "padn"; data: BytesText }
  | { option: "router_alert"; value: number }
  | { option: "jumbo"; length: number }
  | OtherOption
  | RestOption;

/**
 * Geneve options (RFC 8926 section 3.5). `length` counts the data in words of 4 bytes. @default the
 * length of `data`
 */
export type GeneveOption =
  { class: number; type: number; reserved?: number; length?: number; data?: BytesText } | RestOption;

/** Any option, as the codec handles it. */
export type Option = Readonly<Record<string, unknown>>;

/** An option and its place in the bytes. */
export interface FoundOption {
  option: Option;
  at: number;
  length: number;
}

/**
 * A field of an option: its name, and its size in bytes or the kind of list that fills the rest.
 */
type Part = readonly [name: string, size: 1 | 2 | 4 | "words" | "addresses" | "data"];

interface Named {
  name: string;
  type: number;
  parts: readonly Part[];
}

/** A family of options: a type byte, in most options a length byte, and data. */
interface Family {
  /** The types that consist of one byte. */
  single: readonly number[];
  /** The type that ends the list. */
  end: number | null;
  /** The bytes that the length counts in addition to the data. */
  counted: 0 | 2;
  named: readonly Named[];
}

const route = [
  ["pointer", 1],
  ["addresses", "addresses"],
] as const;

export const TCP: Family = {
  single: [0, 1],
  end: 0,
  counted: 2,
  named: [
    { name: "end", type: 0, parts: [] },
    { name: "nop", type: 1, parts: [] },
    { name: "mss", type: 2, parts: [["size", 2]] },
    { name: "wscale", type: 3, parts: [["shift", 1]] },
    { name: "sack_permitted", type: 4, parts: [] },
    { name: "sack", type: 5, parts: [["edges", "words"]] },
    { name: "timestamps", type: 8, parts: [["value", 4], ["echo", 4]] }, // prettier-ignore
  ],
};

export const IPV4: Family = {
  single: [0, 1],
  end: 0,
  counted: 2,
  named: [
    { name: "end", type: 0, parts: [] },
    { name: "nop", type: 1, parts: [] },
    { name: "record_route", type: 7, parts: route },
    { name: "timestamp", type: 68, parts: [["pointer", 1], ["overflow_flag", 1], ["data", "data"]] }, // prettier-ignore
    { name: "loose_source_route", type: 131, parts: route },
    { name: "strict_source_route", type: 137, parts: route },
    { name: "router_alert", type: 148, parts: [["value", 2]] },
  ],
};

export const IPV6: Family = {
  single: [0],
  end: null,
  counted: 0,
  named: [
    { name: "pad1", type: 0, parts: [] },
    { name: "padn", type: 1, parts: [["data", "data"]] },
    { name: "router_alert", type: 5, parts: [["value", 2]] },
    { name: "jumbo", type: 0xc2, parts: [["length", 4]] },
  ],
};

/** Decodes all bytes of an option list. */
export function decodeOptions(family: Family, bytes: Uint8Array): FoundOption[] {
  const found: FoundOption[] = [];
  let at = 0;
  let ended = false;
  while (at < bytes.length && !ended) {
    const type = bytes[at] ?? 0;
    const single = family.single.includes(type);
    const length = single ? 1 : (bytes[at + 1] ?? 0) + 2 - family.counted;
    if (!single && (at + 2 > bytes.length || length < 2 || at + length > bytes.length)) break;
    const named = namedBy(family, type);
    // Most options are padding, which has no data.
    const option =
      single && named?.parts.length === 0
        ? { option: named.name }
        : decodeOne(named, type, bytes.slice(single ? at + 1 : at + 2, at + length));
    found.push({ option, at, length });
    at += length;
    ended = type === family.end;
  }
  if (at < bytes.length)
    found.push({ option: { option: "rest", data: bytes.slice(at) }, at, length: bytes.length - at });
  return found;
}

function namedBy({ named }: Family, type: number): Named | undefined {
  for (const one of named) if (one.type === type) return one;
  return undefined;
}

function decodeOne(named: Named | undefined, type: number, data: Uint8Array): Option {
  const option: Record<string, unknown> = { option: named?.name ?? type };
  let at = 0;
  for (const [name, size] of named?.parts ?? []) {
    if (typeof size === "number") {
      if (data.length - at < size) return { option: type, data };
      option[name] = readNumber(data, 8 * at, 8 * size);
      at += size;
      continue;
    }
    const left = data.subarray(at);
    if (size === "data") option[name] = left;
    else {
      if (left.length % 4 !== 0) return { option: type, data };
      const words = Array.from({ length: left.length / 4 }, (_, i) => readBits(left, 32 * i, 32));
      option[name] = size === "words" ? words.map(Number) : words.map(formatIpv4);
    }
    at = data.length;
  }
  if (named === undefined) return data.length === 0 ? option : { ...option, data };
  return at === data.length ? option : { option: type, data };
}

/** The fault of an option to encode: the key, and the values that it takes. */
export class OptionFault {
  readonly key: string;
  readonly hint: string;
  constructor(key: string, hint: string) {
    this.key = key;
    this.hint = hint;
  }
}

const DATA = "a Uint8Array, or hexadecimal digits";

export function encodeOption(family: Family, option: Option): Uint8Array | OptionFault {
  const { option: name } = option;
  if (name === "rest") return bytesGiven(option["data"]) ?? new OptionFault("data", DATA);
  const named = family.named.find((one) => one.name === name);
  const type = named?.type ?? name;
  if (typeof type !== "number" || !fits(type, 1)) {
    return new OptionFault("option", `${family.named.map((one) => one.name).join(", ")}, rest, or a number of 8 bits`);
  }
  const parts = named?.parts ?? [["data", "data"] as const];
  const unknown = Object.keys(option).find((key) => key !== "option" && !parts.some(([part]) => part === key));
  if (unknown !== undefined)
    return new OptionFault(unknown, `it has ${parts.map(([part]) => part).join(", ") || "no other key"}`);
  const data: Uint8Array[] = [];
  for (const [key, size] of parts) {
    const bytes = encodePart(size, option[key]);
    if (typeof bytes === "string") return new OptionFault(key, bytes);
    data.push(bytes);
  }
  const all = joined(...data);
  if (named !== undefined && family.single.includes(type)) return Uint8Array.of(type);
  if (named === undefined && family.single.includes(type) && all.length === 0) return Uint8Array.of(type);
  if (all.length + family.counted > 255) return new OptionFault("data", `at most ${255 - family.counted} bytes`);
  return joined(Uint8Array.of(type, all.length + family.counted), all);
}

function encodePart(size: Part[1], value: unknown): Uint8Array | string {
  if (size === "data") {
    return value === undefined ? new Uint8Array() : (bytesGiven(value) ?? DATA);
  }
  if (size === "words") {
    const words = Array.isArray(value) ? (value as unknown[]) : [];
    if (value !== undefined && (!Array.isArray(value) || !words.every((word) => fits(word, 4))))
      return "a list of 32-bit numbers";
    return joined(...words.map((word) => bytesOf(word as number, 4)));
  }
  if (size === "addresses") {
    const texts = Array.isArray(value) ? (value as unknown[]) : [];
    const addresses = texts.map((text) => (typeof text === "string" ? parseIpv4(text) : undefined));
    if ((value !== undefined && !Array.isArray(value)) || addresses.includes(undefined))
      return "a list of IPv4 addresses";
    return joined(...addresses.map((address) => bytesOf(address ?? 0n, 4)));
  }
  return fits(value, size) ? bytesOf(value as number, size) : `a number of ${8 * size} bits`;
}

function fits(value: unknown, size: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 256 ** size;
}

/**
 * Decodes Geneve options, RFC 8926 section 3.5: | class 2 | type 1 | reserved 3, length 5 | data |.
 */
export function decodeGeneve(bytes: Uint8Array): FoundOption[] {
  const found: FoundOption[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const last = bytes[at + 3] ?? 0;
    const length = 4 + 4 * (last & 0x1f);
    if (at + length > bytes.length) break;
    const option = {
      class: readNumber(bytes, 8 * at, 16),
      type: bytes[at + 2] ?? 0,
      ...(last >> 5 === 0 ? {} : { reserved: last >> 5 }),
      data: bytes.slice(at + 4, at + length),
    };
    found.push({ option, at, length });
    at += length;
  }
  if (at < bytes.length)
    found.push({ option: { option: "rest", data: bytes.slice(at) }, at, length: bytes.length - at });
  return found;
}

export function encodeGeneve(option: Option): Uint8Array | OptionFault {
  if (option["option"] === "rest") return bytesGiven(option["data"]) ?? new OptionFault("data", DATA);
  const { class: kind, type, reserved = 0 } = option;
  const data = bytesGiven(option["data"] ?? "");
  const known = ["class", "type", "reserved", "length", "data"];
  const unknown = Object.keys(option).find((key) => !known.includes(key));
  if (unknown !== undefined) return new OptionFault(unknown, `it has ${known.join(", ")}`);
  if (!fits(kind, 2)) return new OptionFault("class", "a number of 16 bits");
  if (!fits(type, 1)) return new OptionFault("type", "a number of 8 bits");
  if (!fits(reserved, 1) || (reserved as number) > 7) return new OptionFault("reserved", "a number of 3 bits");
  if (data === undefined) return new OptionFault("data", DATA);
  const length = option["length"] ?? data.length / 4;
  if (!fits(length, 1) || (length as number) > 31) {
    const hint = option["length"] === undefined ? "0 to 31 words of 4 bytes; or say another length" : "0 to 31";
    return new OptionFault(option["length"] === undefined ? "data" : "length", hint);
  }
  return joined(
    bytesOf(kind as number, 2),
    Uint8Array.of(type as number, ((reserved as number) << 5) | (length as number)),
    data,
  );
}

/** The text of an option: `mss 1460`, `sack 1:2 5:9`, `option 253 0x0102`. */
export function optionText(option: Option): string {
  const { option: name } = option;
  if (typeof option["class"] === "number") {
    const data = option["data"] as Uint8Array;
    const words = `class 0x${option["class"].toString(16).padStart(4, "0")} type 0x${(option["type"] as number).toString(16).padStart(2, "0")}`;
    return data.length === 0 ? words : `${words} data 0x${hexOf(data)}`;
  }
  let text = typeof name === "number" ? `option ${name}` : withBlanks(String(name));
  const keys = Object.keys(option);
  for (const key of keys) {
    if (key === "option") continue;
    const shown = valueText(key, option[key]);
    if (shown === "") continue;
    const called = keys.length > 2 && key !== "addresses" && key !== "data";
    text += called ? ` ${withBlanks(key)} ${shown}` : ` ${shown}`;
  }
  return text;
}

function withBlanks(name: string): string {
  return name.includes("_") ? name.replaceAll("_", " ") : name;
}

function valueText(key: string, value: unknown): string {
  if (typeof value === "number") return String(value);
  if (value instanceof Uint8Array) {
    if (value.every((byte) => byte === 0))
      return value.length === 0 ? "" : `${value.length} zero ${value.length === 1 ? "byte" : "bytes"}`;
    return `0x${hexOf(value)}`;
  }
  if (!Array.isArray(value)) return String(value);
  const list = value as unknown[];
  if (key !== "edges") return list.join(" ");
  return Array.from({ length: Math.ceil(list.length / 2) }, (_, i) => list.slice(2 * i, 2 * i + 2).join(":")).join(" ");
}
