/** Masks and values in device bytes, as the match fields of scenarios. */
import { fieldNamed, readField, type Field } from "../../model/match/fields.js";
import { format, fullMask } from "../../model/match/term.js";
import { fieldsIn, hasBits } from "./bits.js";

/** A field that a matcher asks for, and the bits of it. */
export interface AskedField {
  readonly field: Field;
  readonly mask: bigint;
  /** As scenarios write it. */
  readonly maskText: string;
}

const IPV4_WIDTH = 32n;

/** Levels whose addresses are of IPv6. */
export type Ipv6Levels = ReadonlySet<string>;

const LEVELS = ["outer", "inner"] as const;

/**
 * Levels at which a rule asks for IPv6 and for the last 32 bits of an address alone: those bits are a
 * whole address of IPv4 in other rules of the same matcher.
 *
 * @param value left out, any rule of the matcher may ask for IPv6
 */
export function narrowIpv6(asked: Uint8Array, value?: Uint8Array): Ipv6Levels {
  const isNarrow = (field: Field): boolean => {
    const bits = readField(asked, field);
    return bits !== 0n && bits >> IPV4_WIDTH === 0n;
  };
  return new Set(
    LEVELS.filter((level) => {
      const version = fieldNamed(`${level}.ip_version`) as Field;
      if (readField(asked, version) === 0n || (value !== undefined && readField(value, version) !== 6n)) return false;
      return ["src", "dst"].some((side) => isNarrow(fieldNamed(`${level}.ipv6_${side}`) as Field));
    }),
  );
}

/**
 * The fields of a mask. Addresses are IPv6 where a bit above their last 32 is asked or the rules ask
 * for it, else IPv4. The device compares an IP version as a whole, whatever bits of it are asked.
 */
export function askedFields(asked: Uint8Array, ipv6: Ipv6Levels = new Set()): AskedField[] {
  return fieldsIn(asked).map((one) => {
    const bits = readField(asked, one);
    const isIpv4 = one.kind === "ipv6" && bits >> IPV4_WIDTH === 0n && !ipv6.has(one.name.split(".")[0] ?? "");
    const field = isIpv4 ? (fieldNamed(one.name.replace("ipv6", "ipv4")) as Field) : one;
    const mask = one.name.endsWith(".ip_version") ? fullMask(one) : bits;
    return { field, mask, maskText: maskText(field, mask) };
  });
}

/** The value of a field, with its mask unless that has every bit. */
export function valueText({ field, maskText: mask }: AskedField, value: Uint8Array): string | number {
  const number = readField(value, field);
  if (mask !== "full") return `${format(field, number)}/${mask.replace("/", "")}`;
  return field.kind === "number" && number <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(number) : format(field, number);
}

function maskText(field: Field, mask: bigint): string {
  const full = fullMask(field);
  if (mask === full) return "full";
  const below = full ^ mask;
  const isPrefix = (below & (below + 1n)) === 0n;
  if (isPrefix && (field.kind === "ipv4" || field.kind === "ipv6")) {
    return `/${field.width - below.toString(2).length * Number(below !== 0n)}`;
  }
  return field.kind === "number" ? `0x${mask.toString(16)}` : format(field, mask);
}

/** Whether a mask asks for a sample, whose place in the frame a dump does not have. */
export function asksSamples(asked: Uint8Array): boolean {
  return SAMPLE_VALUES.some((field) => hasBits(asked, field));
}

const SAMPLE_VALUES = [0, 1, 2, 3].map((n) => fieldNamed(`misc4.prog_sample_field_value_${n}`) as Field);
