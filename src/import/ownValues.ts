/** Differences between a rule and a frame in the values of the rule's text, where the importer writes them otherwise. */
import type { Difference } from "../explain/index.js";
import { connectionDifference, connectionWords, type StateFlags } from "../formats/text/connection.js";
import { dotted, isDotted, isUplink, isValue } from "../formats/text/values.js";
import type { SourcePlace } from "../formats/reading/finding.js";
import { placesOf } from "../headers/fields.js";
import { etherTypeName, protocolName } from "../headers/names.js";

/** The words that set a field of a rule. */
export interface FieldWords extends SourcePlace {
  /** The match field: "outer.udp_dport". */
  readonly field: string;
  /** As the language names it: "udp dst". */
  readonly name: string;
  /** The words with their value: "udp dst is 53". */
  readonly text: string;
  /** The value alone: "53". */
  readonly value: string;
}

export const SOURCE_PORT = "misc.source_port";

/** A function by its number, which texts do not have. */
export function functionName(vport: string): string {
  return vport === "0" ? "PF" : /^\d+$/.test(vport) ? `VF ${vport}` : vport;
}

/** Words for what a register C holds of a connection. */
const CONNECTION: ReadonlySet<string> = new Set(["ct_state", "ct_zone"]);

/**
 * A difference as the text of its rule has it.
 *
 * @param words those of the rule that set its fields
 * @param flags of `ct_state` in the text
 */
export function ownDifference(
  difference: Difference,
  words: readonly FieldWords[],
  flags: StateFlags | undefined,
): Difference {
  const { field, found } = difference;
  const own = words.find((one) => one.field === field);
  if (field === SOURCE_PORT && own !== undefined) {
    // The text has names or numbers of its own for ports.
    const is = functionName(difference.wanted);
    const named = isNumber(own.value) ? `${own.value} (${is})` : own.value;
    return { ...difference, field: own.name, wanted: named, found: found === null ? null : functionName(found) };
  }
  const wanted = maskedOf(difference.wanted);
  if (own === undefined || found === null || wanted === undefined || !/^(?:0x)?[\da-f]+$/i.test(found))
    return difference;
  if (flags !== undefined && isConnection(own)) {
    const part = connectionDifference(flags, wanted, BigInt(found));
    if (part === undefined) return difference;
    const { name, note } = part;
    // The field is one of the text: the device has a register for both.
    return { ...difference, field: name, wanted: part.wanted, found: part.found, note: note ?? difference.note };
  }
  // Addresses of ARP are numbers of the device.
  if (isDotted(own.value)) {
    const mask = difference.wanted.includes("/") ? `/${dotted(wanted.mask)}` : "";
    return {
      ...difference,
      field: own.name,
      wanted: `${dotted(wanted.value)}${mask}`,
      found: dotted(BigInt(found)),
    };
  }
  // What no header has, such as a word of a tunnel header, holds other things beside the value of the text.
  if (placesOf(field).length > 0 || !difference.wanted.includes("/") || !isNumber(own.value)) return difference;
  if (BigInt(own.value) !== wanted.value) return difference;
  return { ...difference, wanted: own.value, found: `0x${(BigInt(found) & wanted.mask).toString(16)}` };
}

/** A value, or a value and its mask, as texts write it in the field that they call `name`. */
export function ownValue(name: string, value: string, flags: StateFlags | undefined): string {
  const masked = maskedOf(value);
  if (flags === undefined || masked === undefined || !CONNECTION.has(name)) return value;
  return connectionWords(flags, masked.value, value.includes("/") ? masked.mask : masked.value);
}

/** Whether a field holds the state of a connection: no edit of a rule makes a frame a part of another one. */
export function isConnection({ name }: FieldWords): boolean {
  return CONNECTION.has(name);
}

function isNumber(text: string): boolean {
  return /^(?:\d+|0x[\da-f]+)$/i.test(text);
}

/** A value and its mask, "0x21/0x21"; undefined for other notations. */
function maskedOf(text: string): { value: bigint; mask: bigint } | undefined {
  const [value = "", mask = "0xffffffff", ...more] = text.split("/");
  if (more.length > 0 || !isNumber(value) || !isNumber(mask)) return undefined;
  return { value: BigInt(value), mask: BigInt(mask) };
}

/** A protocol, an EtherType or the uplink by its name, as a change has it; other values stay. */
export function named(field: string, value: unknown): unknown {
  if (typeof value !== "number") return value;
  if (field === SOURCE_PORT) return isUplink(value) ? "uplink" : value;
  const nameOf = field.endsWith(".ip_protocol")
    ? protocolName
    : field.endsWith(".ethertype")
      ? etherTypeName
      : undefined;
  return nameOf?.(value)?.toLowerCase() ?? value;
}

/** Whether a value of a match is the one that is wanted; null: none. */
export function isWanted(now: unknown, wanted: string | null | undefined): boolean {
  if (wanted === undefined) return false;
  if (wanted === null) return now === undefined;
  return (typeof now === "string" || typeof now === "number") && isValue(String(now), wanted);
}
