/**
 * A match of the core as terms: one for each field that it masks, restricts to a range, or requires
 * to be present. The inverse of `matchOf` (model/match/match.ts).
 */
import { EXT_PRESENT_INNER, EXT_PRESENT_OUTER, EXT_PRESENT_TUNNEL, PRESENT_IPV6, PRESENT_L3 } from "../../abi/key.js";
import type { FieldRange } from "../../engine/rules.js";
import { fieldNamed, FIELDS, readField, type Field } from "../../model/match/fields.js";
import { maskedFields } from "../../model/match/match.js";
import { rangeText, termText } from "./notation.js";

/** A mask, a value and ranges over the key, presence included. */
export interface KeyMatch {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
  readonly ranges: readonly FieldRange[];
}

/** What a match says about one field. */
export interface MatchTerm {
  readonly field: Field;
  /** The masked bits; 0 for a range, and for a field whose header must be there with any value. */
  readonly mask: bigint;
  readonly value: bigint;
  readonly range: { readonly low: bigint; readonly high: bigint } | null;
  /** The term in the notation of scenario files. */
  readonly wanted: string;
}

/** Fields of where a frame comes from. */
export const ORIGINS: ReadonlySet<string> = new Set([
  "ext.port",
  "ext.direction",
  "misc.source_port",
  "misc.source_vhca_port",
]);

/** The terms of a match, in key order; terms for presence alone come last. */
export function termsOf(match: KeyMatch): MatchTerm[] {
  const { mask, value, ranges } = match;
  const terms = masked(mask, value).map((field) => bitsTerm(field, readField(mask, field), readField(value, field)));
  for (const range of ranges) {
    const term = rangeTerm(range);
    if (term !== undefined) terms.push(term);
  }
  terms.sort((a, b) => a.field.bit - b.field.bit);
  return [...terms, ...presenceTerms(mask, terms)];
}

function bitsTerm(field: Field, mask: bigint, value: bigint): MatchTerm {
  return { field, mask, value, range: null, wanted: termText(field, mask, value) };
}

function rangeTerm({ dword, shift, fieldMask, low, high }: FieldRange): MatchTerm | undefined {
  const width = 32 - Math.clz32(fieldMask);
  const bit = dword * 8 + 32 - shift - width;
  const field = FIELDS.find((one) => one.bit === bit && one.width === width);
  if (field === undefined) return undefined;
  const range = { low: BigInt(low), high: BigInt(high) };
  return { field, mask: 0n, value: 0n, range, wanted: rangeText(field, range.low, range.high) };
}

/** The masked fields. Addresses of IPv4 and IPv6 share their last dword: one of the two fields names it. */
function masked(mask: Uint8Array, value: Uint8Array): Field[] {
  const fields = new Set(maskedFields(mask).filter(({ bit }) => bit < EXT_PRESENT_OUTER * 8 || bit >= AFTER_PRESENCE));
  for (const [ipv4, ipv6] of ADDRESSES) {
    if (!fields.has(ipv4)) continue;
    if (fields.has(ipv6)) fields.delete(ipv4);
    else if (isIpv6(mask, value, ipv6)) {
      fields.delete(ipv4);
      fields.add(ipv6);
    }
  }
  return [...fields];
}

const AFTER_PRESENCE = (EXT_PRESENT_TUNNEL + 4) * 8;

/** Address fields of IPv4, with those of IPv6 that have the same last dword. */
const ADDRESSES = ["outer", "inner"].flatMap((level) =>
  ["src", "dst"].map(
    (end) => [fieldNamed(`${level}.ipv4_${end}`) as Field, fieldNamed(`${level}.ipv6_${end}`) as Field] as const,
  ),
);

/** Whether a match is for IPv6 packets of the level of an address field. */
function isIpv6(mask: Uint8Array, value: Uint8Array, address: Field): boolean {
  const version = fieldNamed(`${address.name.split(".")[0] ?? ""}.ip_version`) as Field;
  if (readField(mask, version) === 0xfn) return readField(value, version) === 6n;
  return (presenceWord(mask, address.here?.word ?? 0) & PRESENT_IPV6) !== 0;
}

/** Terms for headers that must be there although no other term names a field of theirs. */
function presenceTerms(mask: Uint8Array, terms: readonly MatchTerm[]): MatchTerm[] {
  const rest: MatchTerm[] = [];
  for (const word of [EXT_PRESENT_OUTER, EXT_PRESENT_INNER, EXT_PRESENT_TUNNEL]) {
    let bits = presenceWord(mask, word);
    if (bits === 0) continue;
    for (const { field } of terms) {
      if (field.here?.word !== word) continue;
      bits &= ~field.here.bit;
      if (field.version !== 0) bits &= ~PRESENT_L3;
    }
    for (; bits !== 0; bits &= bits - 1) {
      const field = fieldOfHeader(word, bits & -bits);
      if (field !== undefined) rest.push(bitsTerm(field, 0n, 0n));
    }
  }
  return rest;
}

/** Fields that name their headers, where those are not the first ones of their headers in the key. */
const NAMING =
  /\.(tcp_dport|udp_dport|ipv4_dst|ip_version|ip_protocol|icmp_type|icmpv6_type|first_vid|outer_second_vid|inner_second_vid|gtpu_teid|bth_opcode|geneve_vni|gre_protocol)$|esp_spi$|sctp_dport$/;

/** A field that is present with the header of a presence bit. */
function fieldOfHeader(word: number, bit: number): Field | undefined {
  const fields = FIELDS.filter(({ here, filled }) => filled && here?.word === word && here.bit === bit);
  return fields.find(({ name }) => NAMING.test(name)) ?? fields[0];
}

/** A big-endian word of a key. */
export function presenceWord(key: Uint8Array, word: number): number {
  return (
    ((key[word] as number) << 24) |
    ((key[word + 1] as number) << 16) |
    ((key[word + 2] as number) << 8) |
    (key[word + 3] as number)
  );
}
