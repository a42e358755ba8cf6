/** Finds fields of the key by name, group or bit; reads and writes them. */
import { GROUP_SIZE, PRESENT_IPV4 } from "../../abi/key.js";
import { nearest } from "../../nearest.js";
import { FIELDS, type Field, type FieldName } from "./fieldTable.js";

export { FIELDS, type Field, type FieldKind, type FieldName, type Presence } from "./fieldTable.js";

const BY_NAME: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [field.name, field]));

/** The fields of each group, computed on first use. A field belongs to one group. */
const OF_GROUP: (readonly Field[])[] = [];

/** The fields of a group, in key order. */
export function fieldsOf(group: number): readonly Field[] {
  return (OF_GROUP[group] ??= FIELDS.filter(({ bit }) => Math.floor(bit / (GROUP_SIZE * 8)) === group));
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

/** Reads a field of a key: a number, or a bigint for whole addresses. */
export function readField(key: Uint8Array, field: Field): bigint {
  let value = 0n;
  const first = field.bit >> 3;
  const end = (field.bit + field.width + 7) >> 3;
  for (let byte = first; byte < end; byte++) value = (value << 8n) | BigInt(key[byte] ?? 0);
  const below = end * 8 - (field.bit + field.width);
  return (value >> BigInt(below)) & ((1n << BigInt(field.width)) - 1n);
}

/** Writes a field of a key and leaves its neighbours as they are. */
export function writeField(key: Uint8Array, field: Field, value: bigint): void {
  const first = field.bit >> 3;
  const end = (field.bit + field.width + 7) >> 3;
  const below = BigInt(end * 8 - (field.bit + field.width));
  let bits = value << below;
  let mask = ((1n << BigInt(field.width)) - 1n) << below;
  for (let byte = end - 1; byte >= first; byte--) {
    key[byte] = ((key[byte] ?? 0) & ~Number(mask & 0xffn)) | Number(bits & mask & 0xffn);
    bits >>= 8n;
    mask >>= 8n;
  }
}

/** Whether the header of a field is present in a parsed key. */
export function isPresent(key: Uint8Array, field: Field): boolean {
  if (field.here === null) return true;
  const { word, bit } = field.here;
  const bits =
    (((key[word] ?? 0) << 24) | ((key[word + 1] ?? 0) << 16) | ((key[word + 2] ?? 0) << 8) | (key[word + 3] ?? 0)) >>>
    0;
  if ((bits & bit) === 0) return false;
  if (field.version === 4) return (bits & PRESENT_IPV4) !== 0;
  return true;
}
