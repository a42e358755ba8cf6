/** Finds fields of the key by name, group or bit; reads and writes them. */
import { GROUP_SIZE, PRESENT_IPV4 } from "../../abi/key.js";
import { nearest } from "../../base/nearest.js";
import { bitsIn, readDword, writeDword } from "./fieldParts.js";
import { FIELDS, type Field, type FieldName } from "./fieldTable.js";

export { FIELDS, type Field, type FieldKind, type FieldName, type Presence } from "./fieldTable.js";

const BY_NAME: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [field.name, field]));

/** The fields of each group, computed on first use. A field belongs to one group. */
const OF_GROUP: (readonly Field[])[] = [];

/** The fields of a group, in key order. */
export function fieldsOf(group: number): readonly Field[] {
  return (OF_GROUP[group] ??= FIELDS.filter((field) => groupOf(field) === group));
}

/** The group of a field. */
export function groupOf({ bit }: Field): number {
  return Math.floor(bit / (GROUP_SIZE * 8));
}

/** The field of this name. */
export function fieldNamed(name: string): Field | undefined {
  return BY_NAME.get(name);
}

/** Names of earlier versions, and the names today. */
const RENAMED: Readonly<Record<string, FieldName>> = { "ext.side": "ext.direction" };

/** Names close to a misspelt one, for hints. */
export function nearestFields(name: string): string[] {
  const now = RENAMED[name];
  if (now !== undefined) return [now];
  const bare = name.split(".").at(-1) ?? name;
  const names = FIELDS.filter((field) => field.filled).map((field) => field.name);
  const same = names.filter((known) => known.split(".")[1] === bare);
  if (same.length > 0) return same;
  const holding = names.filter((known) => known.includes(bare) && bare.length > 2);
  if (holding.length > 0 && holding.length < 6) return holding;
  const near = nearest(name, names);
  return near === undefined ? [] : [near];
}

/**
 * The name of the narrowest field that holds a bit of the key; the bit number where the bit is
 * reserved.
 */
export function fieldAtBit(bit: number): string {
  const holding = FIELDS.filter((field) => field.bit <= bit && bit < field.bit + field.width);
  return holding.sort((a, b) => a.width - b.width)[0]?.name ?? `bit ${bit} (reserved)`;
}

/** Reads a field of a key. */
export function readField(key: Uint8Array, { parts }: Field): bigint {
  let value = 0n;
  for (const { dword, mask, shift, below } of parts) {
    const bits = BigInt((readDword(key, dword) & mask) >>> shift);
    value |= below === 0 ? bits : bits << BigInt(below);
  }
  return value;
}

/** Writes a field of a key and leaves its neighbours as they are. */
export function writeField(key: Uint8Array, { parts }: Field, value: bigint): void {
  for (const part of parts) writeDword(key, part.dword, part.mask, bitsIn(part, value));
}

/** Whether the header of a field is present in a parsed key. */
export function isPresent(key: Uint8Array, field: Field): boolean {
  if (field.here === null) return true;
  const { word, bit } = field.here;
  const bits = readDword(key, word);
  if ((bits & bit) === 0) return false;
  if (field.version === 4) return (bits & PRESENT_IPV4) !== 0;
  return true;
}
