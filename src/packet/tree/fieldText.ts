/** Formats values of fields as text: `6 (tcp)`, `0x012 (ack, syn)`, addresses, options. */
import { ipv4Text, ipv6Text, macText } from "../addresses.js";
import { hexOf } from "../bytes.js";
import type { FieldDetail, FieldKind } from "../layout.js";
import { decodeGeneve, decodeOptions, IPV4, IPV6, optionText, TCP, type FoundOption } from "../options.js";
import type { TreeItem } from "./types.js";

/** The number of bytes that a text shows of a longer field. */
const SHOWN = 24;

export function shortHex(bytes: Uint8Array): string {
  const text = hexOf(bytes.subarray(0, SHOWN));
  return bytes.length > SHOWN ? `${text}... (${bytes.length} bytes)` : text;
}

export function hexNumber(value: number | bigint, bits: number): string {
  return `0x${value.toString(16).padStart(Math.ceil(bits / 4), "0")}`;
}

/** `6 (tcp)`, `5 (20 bytes)`, `0x012 (ack, syn)`. */
export function numberText(
  kind: FieldKind,
  bits: number,
  value: number | bigint,
  detail: FieldDetail | undefined,
): string {
  const plain = kind === "hex" || kind === "flags" ? hexNumber(value, bits) : String(value);
  if (typeof value === "bigint") return plain;
  const set = flagsSet(value, detail?.bits ?? []);
  if (set.length > 0) return `${plain} (${set.join(", ")})`;
  const bytes = detail?.counts?.(value);
  if (bytes !== undefined && value !== 0) return `${plain} (${bytes} ${bytes === 1 ? "byte" : "bytes"})`;
  const meaning = detail?.names?.[value];
  return meaning === undefined ? plain : `${plain} (${meaning})`;
}

/** Names of the bits that are set, the highest first. */
export function flagsSet(value: number, names: readonly string[]): string[] {
  if (value === 0) return [];
  return names.filter((_, i) => ((value >> (names.length - 1 - i)) & 1) === 1);
}

/** Six bytes as a MAC address, four and sixteen as IP addresses; undefined otherwise. */
export function addressText(bytes: Uint8Array): string | undefined {
  if (bytes.length === 4) return ipv4Text(bytes);
  if (bytes.length === 6) return macText(bytes);
  return bytes.length === 16 ? ipv6Text(bytes) : undefined;
}

const FAMILIES = { tcp_options: TCP, ipv4_options: IPV4, ipv6_options: IPV6 };

/** Options in a field's bytes, which begin at `offset` of the frame. */
export function itemsOf(kind: FieldKind, bytes: Uint8Array, offset: number): TreeItem[] {
  if (kind === "route") return routeItems(bytes, offset);
  const found: FoundOption[] =
    kind === "geneve_options" ? decodeGeneve(bytes) : decodeOptions(FAMILIES[kind as keyof typeof FAMILIES], bytes);
  return found.map(({ option, at, length }) => ({
    offset: offset + at,
    length,
    value: option,
    text: optionText(option),
  }));
}

/** A word, which is reserved or says what segment routing needs, then addresses. */
function routeItems(bytes: Uint8Array, offset: number): TreeItem[] {
  const item = (at: number, length: number, value: TreeItem["value"], text: string): TreeItem[] =>
    length === 0 ? [] : [{ offset: offset + at, length, value, text }];
  const word = bytes.slice(0, 4);
  const items = item(0, word.length, { word }, `word 0x${hexOf(word)}`);
  let at = word.length;
  for (; at + 16 <= bytes.length; at += 16) {
    const address = ipv6Text(bytes.subarray(at, at + 16));
    items.push(...item(at, 16, { address }, address));
  }
  const rest = bytes.slice(at);
  return [...items, ...item(at, rest.length, { option: "rest", data: rest }, `rest 0x${hexOf(rest)}`)];
}
