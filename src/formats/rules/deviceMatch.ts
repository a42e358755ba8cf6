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

const named = (name: string): Field => fieldNamed(name) as Field;
const IPV6_VERSION = 6n;
const IPV6_TYPE = 0x86ddn;
const LEVELS = ["outer", "inner"].map((level) => ({
  level,
  version: named(`${level}.ip_version`),
  type: named(`${level}.ethertype`),
  addresses: [named(`${level}.ipv6_src`), named(`${level}.ipv6_dst`)],
}));

/**
 * The levels at which a rule asks for IPv6 where its mask alone does not show it: of an address it asks for bits of the
 * last 32 only, where IPv4 addresses are.
 */
export function ipv6Levels(asked: Uint8Array, value: Uint8Array): string[] {
  const asksFor = (field: Field, number: bigint): boolean =>
    hasBits(asked, field) && readField(value, field) === number;
  return LEVELS.filter(
    ({ version, type, addresses }) =>
      addresses.some((field) => isLast(readField(asked, field))) &&
      (asksFor(version, IPV6_VERSION) || asksFor(type, IPV6_TYPE)),
  ).map(({ level }) => level);
}

/** Whether bits of an IPv6 address are where an IPv4 address is. */
function isLast(bits: bigint): boolean {
  return bits !== 0n && bits >> IPV4_WIDTH === 0n;
}

/**
 * The fields of a mask. Addresses are IPv6 where a bit above their last 32 is asked, and at the levels that are named,
 * else IPv4. The device compares an IP version as a whole, whatever bits of it are asked.
 */
export function askedFields(asked: Uint8Array, ipv6: readonly string[] = []): AskedField[] {
  return fieldsIn(asked).map((one) => {
    const bits = readField(asked, one);
    const isIpv4 = one.kind === "ipv6" && isLast(bits) && !ipv6.some((level) => one.name.startsWith(level));
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

/**
 * What the parser of the device is told apart from its rules, and a mask asks for: a sample, whose place in the frame
 * neither dumps nor recordings have, or an option whose class and type they do not have.
 */
export function undeclared(asked: Uint8Array, hasOption: boolean): string | null {
  if (SAMPLE_VALUES.some((field) => hasBits(asked, field)))
    return "it matches a programmable sample, and the source does not give its offset";
  if (!hasOption && OPTION.some((field) => hasBits(asked, field)))
    return "it matches a Geneve option, and the source does not give its class and type: import into a scenario with geneveOption0";
  return null;
}

const OPTION = [named("misc.geneve_tlv_option_0_exist"), named("misc3.geneve_tlv_option_0_data")];

const SAMPLE_VALUES = [0, 1, 2, 3].map((n) => fieldNamed(`misc4.prog_sample_field_value_${n}`) as Field);
