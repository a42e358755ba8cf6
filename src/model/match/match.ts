/**
 * A match as the classifier takes it: mask, value and ranges over the key, presence included.
 *
 * Front ends pass names or device bytes; this file normalises both. An `ip_version` mask of 4 or 6
 * becomes all four bits, and every masked field adds the presence bit of its header.
 */
import { MAX_RANGES } from "../../abi/engine.js";
import {
  DEVICE_KEY_SIZE,
  GROUP_SIZE,
  KEY_SIZE,
  INNER,
  LAYER_STATE,
  OUTER,
  STATE_VERSION,
  STATE_VERSION_SHIFT,
} from "../../abi/key.js";
import type { FieldRange } from "../../engine/rules.js";
import { refuse, type ErrnoName } from "../../errors.js";
import { bitsIn, readDword, writeDword, type FieldPart } from "./fieldParts.js";
import {
  fieldNamed,
  fieldsOf,
  nearestFields,
  writeField,
  type Field,
  type FieldName,
  type Presence,
} from "./fields.js";
import { takeSampleMask, type SamplePlaces } from "./samples.js";
import { parseMask, parseTerm, type TermText } from "./term.js";

/** Match fields by name, with values as term.ts reads them. */
export type MatchFields = Readonly<Partial<Record<FieldName, TermText>>>;

export interface Match {
  mask: Uint8Array;
  value: Uint8Array;
  ranges: FieldRange[];
}

/**
 * `struct mlx5dv_flow_match_parameters`: `match_sz` device bytes (all of `match_buf` where it is
 * left out).
 */
export interface MatchParameters {
  match_sz?: number | undefined;
  match_buf: Uint8Array;
}

export function emptyMatch(): Match {
  return { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE), ranges: [] };
}

/** The field with this name. @throws EINVAL there is none, or a key cannot hold it */
export function knownField(path: string, name: string): Field {
  const field = fieldNamed(name);
  if (field === undefined) {
    const near = nearestFields(name).map((one) => `"${one}"`);
    const general = "names are those of the match parameters, such as outer.ipv4_dst";
    const hint = near.length === 0 ? general : `did you mean ${near.join(" or ")}?`;
    return refuse({ code: "EINVAL", reason: "bad_field", path: `${path}.${name}`, hint });
  }
  if (!field.filled) {
    const hint = "ids stand in device bytes; here, sample n is misc4.prog_sample_field_value_n";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: `${path}.${name}`, hint });
  }
  return field;
}

/** Turns fields by name into a match: adds them to `match`, which is empty. */
export function matchOf(path: string, fields: MatchFields, match = emptyMatch()): Match {
  for (const name of Object.keys(fields) as FieldName[]) {
    const field = knownField(path, name);
    const text = fields[name] as TermText;
    const term = parseTerm(`${path}.${name}`, field, text);
    if (field.version !== 0) implyVersion(path, match, field, fields);
    if (term.kind === "bits") {
      if (!addBits(match, field, term.mask, term.value))
        refuseContradiction(`${path}.${name}`, text, addressHint(field, fields));
    } else if (term.kind === "range") addRange(path, match, field, term.low, term.high);
    if (field.here !== null) require(match, field.here);
  }
  return match;
}

/** Turns fields by name into a mask: each value is "full", a prefix "/24", or bits. */
export function maskOf(path: string, fields: MatchFields): Uint8Array {
  const match = emptyMatch();
  for (const [name, text] of Object.entries(fields)) {
    const field = knownField(path, name);
    const mask = parseMask(`${path}.${name}`, field, text);
    if (field.version !== 0) writeField(match.mask, versionField(field), 0xfn);
    writeField(match.mask, field, mask);
    if (field.here !== null) require(match, field.here);
  }
  addPresence(match.mask, match.value);
  return match.mask;
}

/**
 * Completes the enabled groups of a mask in device bytes, in place: moves samples to their places
 * in a key, widens the ip_version that rules repeat, adds presence. Returns the places of samples.
 */
export function completeMask(
  mask: Uint8Array,
  versions: readonly number[],
  badId: ErrnoName | undefined,
): SamplePlaces | null {
  const samples = takeSampleMask(mask, badId);
  for (const [i, version] of versions.entries()) {
    const at = (i === 0 ? OUTER : INNER) + LAYER_STATE;
    if (version !== 0) mask[at] = (mask[at] ?? 0) | STATE_VERSION;
  }
  checkBits(mask);
  addPresence(mask, new Uint8Array(KEY_SIZE));
  return samples;
}

/** `ip_version` of the outer and of the inner group of a key. */
export function ipVersions(key: Uint8Array): number[] {
  return [ipVersion(key, OUTER), ipVersion(key, INNER)];
}

function ipVersion(key: Uint8Array, layer: number): number {
  return ((key[layer + LAYER_STATE] as number) & STATE_VERSION) >> STATE_VERSION_SHIFT;
}

/**
 * Copies the groups that `match_criteria_enable` names from device bytes of any length into a key
 * (a new one by default).
 */
export function enabledGroups(
  criteria: number,
  parameters: Uint8Array,
  key: Uint8Array = new Uint8Array(KEY_SIZE),
): Uint8Array {
  key.fill(0);
  for (let group = 0; group < DEVICE_KEY_SIZE / GROUP_SIZE; group++) {
    if ((criteria & (1 << group)) === 0) continue;
    // A loop, not `set`: `set` would create a view for each rule.
    const end = Math.min((group + 1) * GROUP_SIZE, parameters.length);
    for (let byte = group * GROUP_SIZE; byte < end; byte++) key[byte] = parameters[byte] as number;
  }
  return key;
}

/** Checks that every masked bit belongs to a field that a key can hold. */
function checkBits(mask: Uint8Array): void {
  const rest = mask.slice(0, DEVICE_KEY_SIZE);
  for (const field of maskedFields(rest)) writeField(rest, field, 0n);
  const byte = rest.findIndex((bits) => bits !== 0);
  if (byte < 0) return;
  refuse({
    code: "EOPNOTSUPP",
    reason: "reserved_bits",
    path: `mask byte ${byte}`,
    value: rest[byte],
    cite: "fte_match_param of the Adapters PRM",
  });
}

/** Adds to mask and value the presence bits of every header that the mask needs. */
export function addPresence(mask: Uint8Array, value: Uint8Array): void {
  const match = { mask, value, ranges: [] };
  for (const { here, bit } of maskedFields(mask)) {
    if (here !== null && bit < DEVICE_KEY_SIZE * 8) require(match, here);
  }
}

/**
 * The fields that a mask covers. IPv4 and IPv6 share the last dword of an address; the three dwords
 * before it belong to IPv6 only.
 */
export function maskedFields(mask: Uint8Array): Field[] {
  const masked: Field[] = [];
  for (let byte = 0; byte < mask.length; byte++) {
    if (mask[byte] === 0) continue;
    // Most masks cover two or three groups.
    const group = Math.floor(byte / GROUP_SIZE);
    for (const field of fieldsOf(group)) {
      if (isMasked(mask, field)) masked.push(field);
    }
    byte = (group + 1) * GROUP_SIZE - 1;
  }
  return masked;
}

/** Whether a mask covers some bit of a field. */
export function isMasked(mask: Uint8Array, { parts, kind }: Field): boolean {
  // The last dword of an IPv6 address is that of IPv4.
  const count = kind === "ipv6" ? parts.length - 1 : parts.length;
  for (let i = 0; i < count; i++) {
    const part = parts[i] as FieldPart;
    if ((readDword(mask, part.dword) & part.mask) !== 0) return true;
  }
  return false;
}

function require({ mask, value }: Match, { word, bit }: Presence): void {
  writeDword(mask, word, bit, bit);
  writeDword(value, word, bit, bit);
}

const OUTER_VERSION = fieldNamed("outer.ip_version") as Field;
const INNER_VERSION = fieldNamed("inner.ip_version") as Field;

/** The `ip_version` of an address field. */
function versionField({ bit }: Field): Field {
  return bit < INNER * 8 ? OUTER_VERSION : INNER_VERSION;
}

/** An address field implies its IP version. */
function implyVersion(path: string, match: Match, field: Field, fields: MatchFields): void {
  const version = versionField(field);
  if (!addBits(match, version, 0xfn, BigInt(field.version))) {
    // What the caller wrote is wrong: the version, or this field beside others.
    const is = `${field.name} is IPv${field.version}`;
    const written = new Map<string, TermText | undefined>(Object.entries(fields));
    const asked = written.get(version.name);
    if (asked !== undefined) refuseContradiction(`${path}.${version.name}`, asked, is);
    const hint = `${is}, and a field before it is not`;
    refuseContradiction(`${path}.${field.name}`, written.get(field.name), hint);
  }
  require(match, version.here as Presence);
}

/** The address field that an ip_version contradicts. */
function addressHint(field: Field, fields: MatchFields): string | undefined {
  for (const name of Object.keys(fields)) {
    const other = fieldNamed(name);
    if (other === undefined || other.version === 0 || versionField(other) !== field) continue;
    return `${other.name} is IPv${other.version}`;
  }
  return undefined;
}

function refuseContradiction(path: string, value: unknown, hint: string | undefined): never {
  refuse({ code: "EINVAL", reason: "contradiction", path, value, hint });
}

/** Adds bits to a match. @returns false where they contradict the bits that are there */
function addBits(match: Match, { parts }: Field, mask: bigint, value: bigint): boolean {
  for (const part of parts) {
    const { dword } = part;
    const masked = bitsIn(part, mask);
    const bits = bitsIn(part, value);
    const common = masked & readDword(match.mask, dword);
    if (((bits ^ readDword(match.value, dword)) & common) !== 0) return false;
    writeDword(match.mask, dword, masked, masked);
    writeDword(match.value, dword, masked, bits);
  }
  return true;
}

function addRange(path: string, match: Match, field: Field, low: bigint, high: bigint): void {
  if (match.ranges.length === MAX_RANGES) {
    const hint = "split the rule, or write one of them as a prefix or a mask";
    refuse({ code: "EINVAL", reason: "too_many_ranges", path: `${path}.${field.name}`, hint });
  }
  match.ranges.push(rangeOver(field, Number(low), Number(high)));
}

/** A range over a field that lies within one dword. */
export function rangeOver({ parts, width }: Field, low: number, high: number): FieldRange {
  const [{ dword, shift }] = parts as [FieldPart];
  return { dword, shift, fieldMask: 2 ** width - 1, low, high };
}
