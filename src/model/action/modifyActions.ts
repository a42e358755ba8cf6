/**
 * Header changes as 64-bit big-endian words and as objects (docs/modify-fields.md). Every type of
 * the encoding has a name, so that any list can be read. modifyHeader.ts checks which types a
 * device carries out.
 */
import { inCall, refuse } from "../../errors.js";
import { namesHint } from "../../base/nearest.js";
import { checkArray, checkBytes, unsigned, wrongType } from "../../base/checks.js";
import { modifyFieldNames, modifyFieldAt, modifyFieldNamed, type DeviceFieldName } from "./modifyFields.js";

export const MODIFY_WORD = 8;

/** A field by name, or by number where it has no name. Other text is refused when the change is made. */
export type ModifyFieldName = DeviceFieldName | (string & Record<never, never>) | number;

/**
 * SET: writes the low `length` bits of `data`, `offset` bits above the field's least significant
 * bit.
 */
export interface ModifySet {
  type: "set";
  field: ModifyFieldName;
  /** @default 0 */
  offset?: number;
  /** 1 to 32 bits. @default the bits of the field from `offset` on */
  length?: number;
  data: number;
}

/** ADD: adds modulo 2^width of the field. */
export interface ModifyAdd {
  type: "add";
  field: ModifyFieldName;
  data: number;
}

/** COPY: copies `length` bits of one field to another. */
export interface ModifyCopy {
  type: "copy";
  field: ModifyFieldName;
  /** @default 0 */
  src_offset?: number;
  /** 1 to 32 bits. @default the bits that both fields have from their offsets on */
  length?: number;
  to: ModifyFieldName;
  /** @default 0 */
  dst_offset?: number;
}

/** Types that no device of this release carries out, under the names of their encoding. */
export interface ModifyOther {
  type: "insert" | "remove" | "nop" | "remove_words" | "add_field" | number;
  [part: string]: number | string | undefined;
}

export type ModifyAction = ModifySet | ModifyAdd | ModifyCopy | ModifyOther;

/**
 * [name, first bit, width, meaning of its numbers]; bit 0 is the most significant bit of the word.
 */
type Part = readonly [name: string, bit: number, bits: number, kind?: "field" | "anchor" | "length"];

const FIELD: Part = ["field", 4, 12, "field"];
const LENGTH: Part = ["length", 27, 5, "length"];
const COPY: readonly Part[] = [FIELD, ["src_offset", 19, 5], LENGTH, ["to", 36, 12, "field"], ["dst_offset", 51, 5]];

export const SET_TYPE = 1;
export const ADD_TYPE = 2;
export const COPY_TYPE = 3;

/** Type numbers and names, and the parts of their words. */
export const MODIFY_ENCODINGS: ReadonlyMap<number, readonly [name: string, parts: readonly Part[]]> = new Map([
  [SET_TYPE, ["set", [FIELD, ["offset", 19, 5], LENGTH, ["data", 32, 32]]]],
  [ADD_TYPE, ["add", [FIELD, ["data", 32, 32]]]],
  [COPY_TYPE, ["copy", COPY]],
  [
    4,
    [
      "insert",
      [
        ["encap", 4, 1],
        ["inline_data", 5, 1],
        ["push_esp", 6, 1],
        ["insert_anchor", 10, 6, "anchor"],
        ["insert_offset", 17, 7],
        ["insert_size", 25, 7],
        ["insert_argument", 32, 32],
      ],
    ],
  ],
  [
    5,
    [
      "remove",
      [
        ["decap", 4, 1],
        ["remove_start_anchor", 10, 6, "anchor"],
        ["remove_end_anchor", 18, 6, "anchor"],
      ],
    ],
  ],
  [6, ["nop", []]],
  [
    7,
    [
      "remove_words",
      [
        ["remove_start_anchor", 10, 6, "anchor"],
        ["remove_offset", 17, 7],
        ["remove_size", 26, 6],
      ],
    ],
  ],
  [8, ["add_field", COPY]],
]);

const TYPE_NUMBERS: ReadonlyMap<string, number> = new Map(
  [...MODIFY_ENCODINGS].map(([number, [name]]) => [name, number]),
);

/** Positions at which words are inserted and removed. */
export const MODIFY_ANCHORS: Readonly<Record<string, number>> = {
  PACKET_START: 0,
  MAC: 1,
  FIRST_VLAN_START: 2,
  IPV6_IPV4: 7,
  ESP: 8,
  TCP_UDP: 9,
  TUNNEL_HEADER: 10,
  INNER_MAC: 19,
  INNER_IPV6_IPV4: 25,
  INNER_TCP_UDP: 26,
  L4_PAYLOAD: 27,
  INNER_L4_PAYLOAD: 28,
};
const ANCHOR_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(MODIFY_ANCHORS).map(([name, number]) => [number, name]),
);

/**
 * Encodes header changes as words of 8 bytes, as `mlx5dv_dr_action_create_modify_header` takes
 * them.
 * @param actions the changes, in the order in which they run
 * @returns 8 big-endian bytes for each change
 * @throws EINVAL if a type, field or part is unknown, or a number does not fit
 * @example
 * modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 64 }]);
 */
export function modifyActions(actions: readonly ModifyAction[]): Uint8Array {
  return inCall("modifyActions", () => {
    checkArray("actions", actions);
    const bytes = new Uint8Array(actions.length * MODIFY_WORD);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < actions.length; i++) writeModifyAction(`actions[${i}]`, view, i * MODIFY_WORD, actions[i]);
    return bytes;
  });
}

/**
 * Decodes words of any type. Fields, anchors and types without a name are numbers; such a type has
 * both halves of its word. @throws EINVAL the size is not a multiple of 8
 */
export function modifyActionsFromBytes(bytes: Uint8Array): ModifyAction[] {
  return inCall("modifyActionsFromBytes", () => {
    checkBytes("bytes", bytes);
    if (bytes.length % MODIFY_WORD !== 0) {
      const hint = "words of 8 bytes";
      refuse({ code: "EINVAL", reason: "bad_modify", path: "bytes.length", value: bytes.length, hint });
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Array.from({ length: bytes.length / MODIFY_WORD }, (_, i) => readModifyAction(view, i * MODIFY_WORD));
  });
}

/** A part of the word at `at`. No part crosses the middle of a word. */
export function readPart(view: DataView, at: number, bit: number, bits: number): number {
  const word = view.getUint32(at + (bit >> 5) * 4);
  return (word << (bit & 31)) >>> (32 - bits);
}

function writePart(view: DataView, at: number, bit: number, bits: number, value: number): void {
  const half = at + (bit >> 5) * 4;
  view.setUint32(half, view.getUint32(half) | (value << (32 - bits - (bit & 31))));
}

function readModifyAction(view: DataView, at: number): ModifyAction {
  const number = readPart(view, at, 0, 4);
  const encoding = MODIFY_ENCODINGS.get(number);
  if (encoding === undefined) return { type: number, high: view.getUint32(at), low: view.getUint32(at + 4) };
  const [type, parts] = encoding;
  const action: Record<string, number | string> = { type };
  for (const [name, bit, bits, kind] of parts) {
    const value = readPart(view, at, bit, bits);
    action[name] =
      kind === "field"
        ? (modifyFieldAt(value)?.name ?? value)
        : kind === "anchor"
          ? (ANCHOR_NAMES.get(value) ?? value)
          : kind === "length" && value === 0
            ? 32
            : value;
  }
  return action as unknown as ModifyAction;
}

/** Writes one action into a word of zeros at `at`. */
export function writeModifyAction(path: string, view: DataView, at: number, action: unknown): void {
  if (typeof action !== "object" || action === null) {
    wrongType(path, "an object or a bigint", action);
  }
  const given = action as Readonly<Record<string, unknown>>;
  const { type } = given;
  if (typeof type !== "string") wrongType(`${path}.type`, "a string", type);
  const number = TYPE_NUMBERS.get(type);
  if (number === undefined) {
    const hint = namesHint(type, "types", [...TYPE_NUMBERS.keys()]);
    return refuse({ code: "EINVAL", reason: "bad_modify", path: `${path}.type`, value: type, hint });
  }
  const parts = MODIFY_ENCODINGS.get(number)?.[1] ?? [];
  checkNames(path, given, parts);
  writePart(view, at, 0, 4, number);
  for (const part of parts) writePart(view, at, part[1], part[2], partOf(path, given, part));
}

function checkNames(path: string, given: object, parts: readonly Part[]): void {
  const names = ["type", ...parts.map(([name]) => name)];
  const wrong = Object.keys(given).find((name) => !names.includes(name));
  if (wrong === undefined) return;
  refuse({
    code: "EINVAL",
    reason: "bad_field",
    path: `${path}.${wrong}`,
    hint: namesHint(wrong, "parts", names),
  });
}

/** The number of a part; offsets and lengths have defaults. */
function partOf(path: string, given: Readonly<Record<string, unknown>>, part: Part): number {
  const [name, , bits, kind] = part;
  const value = given[name];
  const at = `${path}.${name}`;
  switch (kind) {
    case "field":
      return typeof value === "string" ? fieldId(at, value) : unsigned(at, value, bits);
    case "anchor":
      return typeof value === "string" ? anchorNumber(at, value) : unsigned(at, value, bits);
    case "length":
      return lengthOf(at, value ?? wholeLength(given)) % 32;
    default:
      return unsigned(at, value ?? (name.endsWith("offset") ? 0 : value), bits);
  }
}

function fieldId(path: string, name: string): number {
  const field = modifyFieldNamed(name);
  if (field !== undefined) return field.id;
  const hint = namesHint(name, "fields", modifyFieldNames());
  return refuse({ code: "EINVAL", reason: "bad_field", path, value: name, hint });
}

function anchorNumber(path: string, name: string): number {
  const number = MODIFY_ANCHORS[name];
  if (number !== undefined) return number;
  const hint = namesHint(name, "anchors", Object.keys(MODIFY_ANCHORS));
  return refuse({ code: "EINVAL", reason: "bad_modify", path, value: name, hint });
}

/** A length of 32 is encoded as 0. */
function lengthOf(path: string, value: unknown): number {
  const length = unsigned(path, value, 6);
  if (length > 32) refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: "1 to 32 bits" });
  return length;
}

/** The rest of both fields after the offsets; 32 bits for a field without a name. */
function wholeLength({ field, offset, src_offset, to, dst_offset }: Readonly<Record<string, unknown>>): number {
  const left = (name: unknown, from: unknown): number => {
    const known = typeof name === "string" ? modifyFieldNamed(name) : modifyFieldAt(Number(name));
    return Math.max(1, (known?.width ?? 32) - Number(from ?? 0));
  };
  return Math.min(left(field, offset ?? src_offset), to === undefined ? 32 : left(to, dst_offset));
}
