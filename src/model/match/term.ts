/**
 * One field of a match as people write it.
 *
 *     443   "0x800"   "tcp"                        the value, every bit
 *     "10.0.0.0/8"   "fe80::/10"                   a prefix
 *     "0x2/0x3f"   "01:00:00:00:00:00/01:00:00:00:00:00"   value and mask
 *     "1024-65535"   "10.0.0.1-10.0.0.9"           a range, both ends inside
 *     "any"                                        the header is there, whatever the field holds
 */
import { ones } from "../../base/bits.js";
import { VPORT_UPLINK } from "../../abi/engine.js";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_ARP,
  ETHERTYPE_IPV6,
  PROTOCOL_ICMP,
  PROTOCOL_IPV4,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  PROTOCOL_IPV6,
  PROTOCOL_GRE,
  PROTOCOL_ESP,
  PROTOCOL_AH,
  PROTOCOL_ICMPV6,
  PROTOCOL_SCTP,
} from "../../abi/protocols.js";
import { mistyped, refuse, type RefusalReason } from "../../errors.js";
import { integerOf } from "../../base/integer.js";
import { formatIpv4, formatIpv6, formatMac, parseIpv4, parseIpv6, parseMac } from "../../packet/addresses.js";
import type { Field, FieldKind } from "./fields.js";

/** The parsed text of a field. */
export type TermText = string | number | bigint;

export type Term = ({ kind: "bits" } & FieldBits) | { kind: "range"; low: bigint; high: bigint } | { kind: "any" };

const PROTOCOLS: Readonly<Record<string, number>> = {
  icmp: PROTOCOL_ICMP,
  igmp: 2,
  ipip: PROTOCOL_IPV4,
  tcp: PROTOCOL_TCP,
  udp: PROTOCOL_UDP,
  ipv6: PROTOCOL_IPV6,
  gre: PROTOCOL_GRE,
  esp: PROTOCOL_ESP,
  ah: PROTOCOL_AH,
  icmpv6: PROTOCOL_ICMPV6,
  sctp: PROTOCOL_SCTP,
};

const ETHERTYPES: Readonly<Record<string, number>> = { ipv4: ETHERTYPE_IPV4, arp: ETHERTYPE_ARP, ipv6: ETHERTYPE_IPV6 };

/** Named numbers of each field. Flow specs use those with C names. */
const NAMES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ip_protocol: PROTOCOLS,
  proto: PROTOCOLS,
  next_hdr: PROTOCOLS,
  ethertype: ETHERTYPES,
  ether_type: ETHERTYPES,
  protocol: ETHERTYPES,
  // The vport number of the wire.
  source_port: { uplink: VPORT_UPLINK },
};

/** The name of a field's value, where scenario files have one: "tcp" of `ip_protocol` 6. */
export function nameOfValue({ name }: FieldForm, value: bigint): string | undefined {
  const names = NAMES[name.split(".")[1] ?? ""];
  if (names === undefined) return undefined;
  for (const one in names) if (BigInt(names[one] as number) === value) return one;
  return undefined;
}

/** Whether the values of a field are kinds, so that single bits mean nothing. */
export function isEnumeration({ name }: FieldForm): boolean {
  const own = name.split(".")[1] ?? "";
  return own === "ip_version" || Object.hasOwn(NAMES, own);
}

/** What a match says about a field. The name is a group or a header, a dot, and the field. */
export type FieldForm = Pick<Field, "name" | "width" | "kind">;

/** The bits of a field that must match, and their values. */
export interface FieldBits {
  mask: bigint;
  value: bigint;
}

/** All bits of fields, by their width. */
const FULL_MASKS: bigint[] = [];

/** Every bit of the field. */
export function fullMask({ width }: FieldForm): bigint {
  return (FULL_MASKS[width] ??= ones(width));
}

/** Reads the text of a field. Refusals name `call`. */
export function parseTerm(path: string, field: Field, text: TermText): Term {
  const bad = badTerm(path, text, EXAMPLES[field.kind].any);
  if (typeof text === "string") {
    const trimmed = text.trim();
    if (trimmed === "any") return { kind: "any" };
    const range = splitRange(field, trimmed);
    if (range !== undefined) return rangeOf(field, range, bad);
  }
  return { kind: "bits", ...bitsOf(path, field, text, fullMask(field), bad) };
}

/**
 * Reads the text of a field that is matched bit by bit: no ranges, no "any". `whole` is the mask
 * where none is given.
 */
export function parseBits(path: string, field: FieldForm, text: TermText, whole = fullMask(field)): FieldBits {
  return bitsOf(path, field, text, whole, badTerm(path, text, EXAMPLES[field.kind].bits));
}

function bitsOf(path: string, field: FieldForm, text: TermText, whole: bigint, bad: Bad): FieldBits {
  if (typeof text !== "string") {
    if (typeof text !== "bigint" && typeof text !== "number") {
      mistyped(`${path} must be a string, a number or a bigint, not ${typeof text}`);
    }
    const value = inField(field, numberOf(text), bad);
    if (isOutside(field, value, whole)) bad("bad_number", `bits that can be asked: 0x${whole.toString(16)}`);
    return { mask: whole, value };
  }
  const trimmed = text.trim();
  const slash = trimmed.indexOf("/");
  const left = slash < 0 ? trimmed : trimmed.slice(0, slash);
  const right = slash < 0 ? undefined : trimmed.slice(slash + 1);
  if (right?.includes("/") === true) bad(syntaxReason(field));
  const value = parseValue(field, left) ?? bad(syntaxReason(field));
  const mask = right === undefined ? whole : maskOf(field, right, bad);
  inField(field, value, bad);
  if (isOutside(field, value, mask)) {
    bad("value_outside_mask", `the mask keeps ${format(field, value & mask)}/${right ?? `0x${whole.toString(16)}`}`);
  }
  return { mask, value };
}

/** Whether a value of the field has a bit outside a mask. */
function isOutside(field: FieldForm, value: bigint, mask: bigint): boolean {
  return mask !== fullMask(field) && (value & ~mask) !== 0n;
}

/** A mask alone: "full", "/24", "0xff00", an address. */
export function parseMask(path: string, field: Field, text: TermText): bigint {
  const bad = badTerm(path, text, EXAMPLES[field.kind].any);
  if (typeof text !== "string") return inField(field, numberOf(text) ?? bad("bad_number"), bad);
  const trimmed = text.trim();
  if (trimmed === "full") return fullMask(field);
  if (trimmed.startsWith("/")) return maskOf(field, trimmed.slice(1), bad);
  return inField(field, parseValue(field, trimmed) ?? bad(syntaxReason(field), `"full", or a mask`), bad);
}

type Bad = (reason: RefusalReason, hint?: string) => never;

function badTerm(path: string, value: unknown, example: string): Bad {
  return (reason, hint = `write it as ${example}`) => refuse({ code: "EINVAL", reason, path, value, hint });
}

function numberOf(value: number | bigint): bigint | undefined {
  if (typeof value === "bigint") return value;
  return Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function inField(field: FieldForm, value: bigint | undefined, bad: Bad): bigint {
  if (value === undefined || value < 0n || value > fullMask(field)) {
    return bad("bad_number", `${field.name} has ${field.width} bits: 0 to ${format(field, fullMask(field))}`);
  }
  return value;
}

function parseValue(field: FieldForm, text: string): bigint | undefined {
  switch (field.kind) {
    case "mac":
      return parseMac(text);
    case "ipv4":
      return parseIpv4(text);
    case "ipv6":
      return parseIpv6(text);
    case "number": {
      const integer = integerOf(text);
      if (integer !== undefined) return integer;
      const names = NAMES[field.name.split(".")[1] ?? ""];
      const number = names !== undefined && Object.hasOwn(names, text) ? names[text] : undefined;
      return number === undefined ? undefined : BigInt(number);
    }
  }
}

/** The mask after the slash: a prefix length or a mask for addresses, a mask for numbers. */
function maskOf(field: FieldForm, text: string, bad: Bad): bigint {
  const { width } = field;
  if (field.kind === "ipv4" || field.kind === "ipv6") {
    if (/^\d+$/.test(text)) {
      const length = Number(text);
      if (length > width) return bad("bad_prefix", `a prefix of ${field.name} has 0 to ${field.width} bits`);
      return fullMask(field) ^ ((1n << BigInt(width - length)) - 1n);
    }
  }
  return inField(field, parseValue(field, text) ?? bad("bad_prefix"), bad);
}

/** Only numbers and IPv4 addresses have ranges, since MAC addresses may contain "-". */
function splitRange(field: FieldForm, text: string): [string, string] | undefined {
  if (field.kind !== "number" && field.kind !== "ipv4") return undefined;
  const at = text.indexOf("-");
  return at < 0 ? undefined : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function rangeOf(field: FieldForm, [from, to]: [string, string], bad: Bad): Term {
  const low = parseValue(field, from) ?? bad("bad_range");
  const high = parseValue(field, to) ?? bad("bad_range");
  inField(field, low, bad);
  inField(field, high, bad);
  if (low > high) bad("bad_range", `the lower end comes first: "${to}-${from}"`);
  return low === high ? { kind: "bits", mask: fullMask(field), value: low } : { kind: "range", low, high };
}

function syntaxReason(field: FieldForm): RefusalReason {
  return field.kind === "number" ? "bad_number" : "bad_address";
}

const MAC_EXAMPLE = '"66:11:22:33:44:55", with a mask as "01:00:00:00:00:00/01:00:00:00:00:00"';
const IPV6_EXAMPLE = '"fe80::1" or "fe80::/10"';

/** Accepted forms, with ranges and without. */
const EXAMPLES: Readonly<Record<FieldKind, { readonly any: string; readonly bits: string }>> = {
  mac: { any: MAC_EXAMPLE, bits: MAC_EXAMPLE },
  ipv4: { any: '"10.0.0.1", "10.0.0.0/8" or "10.0.0.1-10.0.0.9"', bits: '"10.0.0.1" or "10.0.0.0/8"' },
  ipv6: { any: IPV6_EXAMPLE, bits: IPV6_EXAMPLE },
  number: { any: '80, "0x50", "0x2/0x3f" or "1024-65535"', bits: '80, "0x50" or "0x2/0x3f"' },
};

/** Formats a field's value as people write it. */
export function format(field: FieldForm, value: bigint): string {
  switch (field.kind) {
    case "mac":
      return formatMac(value);
    case "ipv4":
      return formatIpv4(value);
    case "ipv6":
      return formatIpv6(value);
    case "number":
      return value.toString();
  }
}
