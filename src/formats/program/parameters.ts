/** What rules match, as match parameters of the device. */
import { ones } from "../../base/bits.js";
import { DEVICE_KEY_SIZE, GROUP_MISC4, GROUP_SIZE, KEY_SIZE } from "../../abi/key.js";
import { inCall, SteeringError } from "../../errors.js";
import { addPresence, knownField, maskOf, matchOf, type Match, type MatchFields } from "../../model/match/match.js";
import { format, fullMask, parseTerm, type TermText } from "../../model/match/term.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";
import type { ProgramBytes } from "./program.js";

type Fields = NonNullable<ScenarioRule["match"]>;

/** Masks and values of a rule: several where it has ranges, which a device does not compare. */
export interface DeviceMatch {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
  readonly fields: Fields;
}

/** Why a match has no equal in device bytes. */
export type NoMatch = string;

/** The matches of a rule. A range becomes prefixes. */
export function deviceMatches(fields: Fields): DeviceMatch[] | NoMatch {
  const all: DeviceMatch[] = [];
  for (const one of withoutRanges(fields)) {
    const match = attempted(() => matchOf("match", one as MatchFields));
    if (typeof match === "string") return match;
    const why = unlike(match.mask);
    if (why !== null) return why;
    all.push({ mask: match.mask, value: match.value, fields: one });
    if (all.length > MAX) return `its ranges become more than ${MAX} rules of the device`;
  }
  return all;
}

/** Rules that one with two ranges becomes: at most. */
const MAX = 1000;

/** The mask that a matcher gives its rules. */
export function deviceMask(fields: Readonly<Record<string, string | number>>): Uint8Array | NoMatch {
  const mask = attempted(() => maskOf("mask", fields as MatchFields));
  return typeof mask === "string" ? mask : (unlike(mask) ?? mask);
}

/** Why device bytes cannot ask what a mask of the key asks; null if they can. */
function unlike(mask: Uint8Array): NoMatch | null {
  const device = deviceBytes(mask);
  const whole = new Uint8Array(KEY_SIZE);
  whole.set(device);
  addPresence(whole, new Uint8Array(KEY_SIZE));
  const misc4 = device.subarray(GROUP_MISC4 * GROUP_SIZE, (GROUP_MISC4 + 1) * GROUP_SIZE);
  if (misc4.some((byte) => byte !== 0))
    return "it matches programmable samples, whose declaration a program does not have";
  return mask.every((byte, at) => byte === whole[at])
    ? null
    : 'it matches what device match parameters do not have: fields of "ext", or in the mask of a matcher "any" value of a field';
}

function deviceBytes(key: Uint8Array): Uint8Array {
  return key.slice(0, DEVICE_KEY_SIZE);
}

/** The groups that a mask asks about, as bits. */
export function criteriaOf(mask: Uint8Array): number {
  let bits = 0;
  for (let at = 0; at < DEVICE_KEY_SIZE; at++) if (mask[at] !== 0) bits |= 1 << Math.floor(at / GROUP_SIZE);
  return bits;
}

/** The bytes of the first groups, with what they say of the fields. */
export function parametersOf(bytes: Uint8Array, size: number, fields: Readonly<Record<string, unknown>>): ProgramBytes {
  const used = Object.entries(fields).map(([name, text]) => {
    const { bit, width } = knownField("match", name);
    const at = bit >> 3;
    return { at, size: ((bit + width + 7) >> 3) - at, text: `${name} ${String(text)}` };
  });
  return { bytes: bytes.slice(0, size), fields: used.toSorted((a, b) => a.at - b.at) };
}

/** Bytes up to the end of the last group that is asked about; one group where none is, for kernels take no mask of no bytes. */
export function sizeOf(criteria: number): number {
  return Math.max(1, 32 - Math.clz32(criteria)) * GROUP_SIZE;
}

/**
 * The same fields with a prefix in place of each range, and both values of a bit in place of "any": all combinations.
 * A mask of device bytes asks for a header by bits of its fields.
 */
function* withoutRanges(fields: Fields): Generator<Fields> {
  for (const [name, text] of Object.entries(fields)) {
    if (isAny(name, text)) {
      const rest = Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name));
      if (asksTheSame(fields, rest)) {
        yield* withoutRanges(rest);
        return;
      }
    }
    const pieces = prefixesOf(name, text);
    if (pieces === null) continue;
    for (const piece of pieces) yield* withoutRanges({ ...fields, [name]: piece });
    return;
  }
  yield fields;
}

/** Whether a field of device bytes may hold anything, but its header is there. */
function isAny(name: string, text: TermText): boolean {
  return text === "any" && knownField("match", name).bit < DEVICE_KEY_SIZE * 8;
}

function asksTheSame(fields: Fields, others: Fields): boolean {
  const [one, other] = [fields, others].map((of) => attempted(() => matchOf("match", of as MatchFields)));
  if (typeof one !== "object" || typeof other !== "object") return false;
  return one.mask.every((byte, at) => byte === other.mask[at]);
}

/** The prefixes of a range, or the values of a bit, as value and mask; null for other texts. */
function prefixesOf(name: string, text: TermText): string[] | null {
  const term = attempted(() => parseTerm(name, knownField("match", name), text));
  if (typeof term === "string") return null;
  const field = knownField("match", name);
  if (isAny(name, text)) return [0n, 1n].map((bit) => `${format(field, bit)}/${format(field, 1n)}`);
  if (term.kind === "bits" && name.endsWith(".ip_version") && term.mask !== fullMask(field)) {
    // The device compares a version as a whole.
    const versions = [4n, 6n].filter((version) => (version & term.mask) === (term.value & term.mask));
    return versions.length === 0 ? null : versions.map(String);
  }
  if (term.kind !== "range") return null;
  const { width } = field;
  const pieces: string[] = [];
  let low = term.low;
  while (low <= term.high) {
    let bits = 0n;
    while (bits < BigInt(width) && (low & (1n << bits)) === 0n && low + (2n << bits) - 1n <= term.high) bits++;
    const mask = ones(width) ^ ((1n << bits) - 1n);
    pieces.push(`0x${low.toString(16)}/0x${mask.toString(16)}`);
    low += 1n << bits;
  }
  return pieces;
}

/** The result, or what a refusal says. */
function attempted<T>(work: () => T): T | string {
  try {
    return inCall("exportRules", work);
  } catch (error) {
    if (error instanceof SteeringError) return error.message;
    throw error;
  }
}

export type { Match };
