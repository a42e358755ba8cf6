/**
 * Arguments and results of calls as JSON. Objects of devices are numbers, in the order in which they were first seen; so two
 * runs that make the same calls give the same numbers.
 *
 *     { "$": "object", "id": 3, "class": "QueuePair" }    an object of a device
 *     { "$": "bytes", "id": 4, "at": 0, "hex": "0a0b" }   bytes of a buffer, from `at` on; without id: bytes alone
 *     { "$": "bytes", "length": 64 }                      that many zeros; `type` names another array than Uint8Array
 *     { "$": "memory", "id": 4, "at": 0, "length": 2 }    bytes of a known buffer, which are not written
 *     { "$": "text", "text": "" }                         a file of C, with the text that calls wrote
 *     { "$": "bigint", "value": "7" }, { "$": "undefined" }, { "$": "number", "value": "NaN" }
 *     { "$": "map", "entries": [[key, value]] }, { "$": "set", "values": [] }
 */
import { hexOf } from "../base/hex.js";
import { SteeringError, refuse } from "../errors.js";
import { textFile, textOf } from "./textFile.js";

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The objects and buffers that calls have named. */
export class KnownObjects {
  readonly #numbers = new Map<object, number>();
  readonly #objects = new Map<number, object>();
  #last = 0;

  /** The number of an object; it gets one when it is first seen. */
  numberOf(object: object): number {
    let number = this.#numbers.get(object);
    if (number === undefined) {
      number = ++this.#last;
      this.#numbers.set(object, number);
      this.#objects.set(number, object);
    }
    return number;
  }

  /** Whether an object has a number. */
  has(object: object): boolean {
    return this.#numbers.has(object);
  }

  /** How many are known. */
  get count(): number {
    return this.#objects.size;
  }

  /** The object of a number; undefined for one that is not known. */
  find(number: number): object | undefined {
    return this.#objects.get(number);
  }

  /** Sets an object that another run has under this number. */
  set(number: number, object: object): void {
    this.#numbers.set(object, number);
    this.#objects.set(number, object);
    this.#last = Math.max(this.#last, number);
  }

  /** Forgets an object. Its number is not used again. */
  forget(number: number): boolean {
    const object = this.#objects.get(number);
    if (object === undefined) return false;
    this.#numbers.delete(object);
    return this.#objects.delete(number);
  }
}

/** How values are written. */
export interface WriteOptions {
  /** Whether bytes name their buffer, so that a replay has the same views of one memory. @default false */
  readonly buffers?: boolean;
  /** Whether bytes of known buffers are written as `{ "$": "memory" }`. @default false */
  readonly memory?: boolean;
}

/** Writes a value. Functions are left out, except those that stand for files. */
export function toJson(known: KnownObjects, value: unknown, options: WriteOptions = {}): Json {
  switch (typeof value) {
    case "bigint":
      return { $: "bigint", value: String(value) };
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: "number", value: numberText(value) };
    case "undefined":
      return { $: "undefined" };
    case "boolean":
    case "string":
      return value;
    case "object":
      return value === null ? null : objectJson(known, value, options);
    default: {
      const text = textOf(value);
      return text === null ? { $: "undefined" } : { $: "text", text };
    }
  }
}

/**
 * What a call wrote into its arguments, by their places from 0 on: `{ out: { 1: ... } }`; an empty object for nothing.
 * @param before the arguments as JSON before the call
 */
export function writtenTo(
  known: KnownObjects,
  before: Json,
  args: readonly unknown[],
  options: WriteOptions,
): { readonly out?: Json } {
  const now = args.map((one) => toJson(known, one, options));
  const changed = now.flatMap((one, i) =>
    JSON.stringify(one) === JSON.stringify((before as readonly Json[])[i]) ? [] : [[i, one] as const],
  );
  return changed.length === 0 ? {} : { out: Object.fromEntries(changed) };
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function objectJson(known: KnownObjects, value: object, options: WriteOptions): Json {
  const inner = (one: unknown): Json => toJson(known, one, options);
  if (Array.isArray(value)) return value.map(inner);
  if (ArrayBuffer.isView(value)) return bytesJson(known, value, options);
  if (value instanceof Map) return { $: "map", entries: [...value].map(([key, one]) => [inner(key), inner(one)]) };
  if (value instanceof Set) return { $: "set", values: [...value].map(inner) };
  const prototype = Object.getPrototypeOf(value) as { constructor: { name: string } } | null;
  if (prototype !== null && prototype !== Object.prototype && !isReport(value))
    return { $: "object", id: known.numberOf(value), class: prototype.constructor.name };
  const pairs = Object.entries(value).filter(([, one]) => one !== undefined && typeof one !== "function");
  return Object.fromEntries(pairs.map(([key, one]) => [key, inner(one)]));
}

/** Outcomes and their destinations are plain data with a class: they say what happened, and have no life of their own. */
function isReport(value: object): boolean {
  return ("verdict" in value && "copies" in value) || ("kind" in value && "frame" in value && "tag" in value);
}

function bytesJson(known: KnownObjects, view: ArrayBufferView, { buffers, memory }: WriteOptions): Json {
  const { buffer, byteOffset: at, byteLength: length } = view;
  const kind = view.constructor.name;
  const type = kind !== "Uint8Array" && kind in ARRAYS ? { type: kind } : {};
  if (memory === true && known.has(buffer)) return { $: "memory", id: known.numberOf(buffer), at, length, ...type };
  const hex = hexOf(new Uint8Array(buffer, at, length));
  if (buffers !== true) return { $: "bytes", ...type, hex };
  return { $: "bytes", ...type, id: known.numberOf(buffer), at, of: buffer.byteLength, hex };
}

type Members = Readonly<Record<string, Json>>;

/** Values of the form `{ "$": kind }`. */
export interface ValueKind {
  /** Its other members. */
  readonly members: readonly string[];
  /**
   * Reads a value of this kind.
   * @param bad refuses the value, with the rule that it breaks
   */
  read(known: KnownObjects, value: Members, bad: (hint: string) => never): unknown;
}

export type ValueKinds = Readonly<Record<string, ValueKind>>;

/** The kinds that every reader knows. */
export const KINDS: ValueKinds = {
  object: {
    members: ["id", "class"],
    read: (known, { id = null }, bad) =>
      (typeof id === "number" ? known.find(id) : undefined) ?? bad(`no object has the number ${JSON.stringify(id)}`),
  },
  bytes: { members: ["id", "at", "of", "hex", "length", "type"], read: readBytes },
  text: { members: ["text"], read: () => textFile() },
  bigint: {
    members: ["value"],
    read: (_, { value }, bad) =>
      typeof value === "string" && /^-?\d{1,40}$/.test(value) ? BigInt(value) : bad("value has the digits, as text"),
  },
  number: { members: ["value"], read: (_, { value }) => Number(value) },
  undefined: { members: [], read: () => undefined },
};

/**
 * Reads a value as `toJson` writes it.
 * @param kinds the kinds of `{ "$": kind }`
 * @throws SteeringError EINVAL: unknown numbers, malformed values
 */
export function fromJson(known: KnownObjects, call: string, path: string, value: Json, kinds = KINDS): unknown {
  if (typeof value !== "object" || value === null) return value;
  const inner = (one: Json, step: string): unknown => fromJson(known, call, `${path}${step}`, one, kinds);
  if (isList(value)) return value.map((one, i) => inner(one, `[${i}]`));
  const { $: name, ...members } = value;
  if (name === undefined)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one, `.${key}`)]));
  const bad = (hint: string): never => refuse({ code: "EINVAL", call, reason: "bad_object", path, hint });
  const kind = typeof name === "string" && Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind === undefined) return bad(`$ is one of ${Object.keys(kinds).join(", ")}`);
  const other = Object.keys(members).find((member) => !kind.members.includes(member));
  if (other !== undefined) bad(`${JSON.stringify(name)} has no ${other}: ${kind.members.join(", ") || "no members"}`);
  return kind.read(known, members, bad);
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

/** The arrays that bytes can be. */
const ARRAYS = { Uint8Array, Int32Array, Uint32Array, BigUint64Array } as const;
/** Zeros that a value can name. */
const MAX_ZEROS = 1 << 20;

function readBytes(known: KnownObjects, { type, ...value }: Members, bad: (hint: string) => never): ArrayBufferView {
  return viewAs(type, readView(known, value, bad), bad);
}

/** The bytes as the array that `type` names. */
export function viewAs(
  type: Json = "Uint8Array",
  { buffer, byteOffset, length }: Uint8Array<ArrayBuffer>,
  bad: (hint: string) => never,
): ArrayBufferView {
  const array = typeof type === "string" && Object.hasOwn(ARRAYS, type) ? ARRAYS[type as keyof typeof ARRAYS] : null;
  if (array === null) return bad(`type is one of ${Object.keys(ARRAYS).join(", ")}`);
  const each = array.BYTES_PER_ELEMENT;
  if (byteOffset % each !== 0 || length % each !== 0) return bad(`${array.name} has items of ${each} bytes`);
  return new array(buffer, byteOffset, length / each);
}

function readView(
  known: KnownObjects,
  { id, at = 0, of, hex, length }: Members,
  bad: (hint: string) => never,
): Uint8Array<ArrayBuffer> {
  if (hex === undefined && length !== undefined && id === undefined) {
    if (typeof length !== "number" || !Number.isInteger(length) || length < 0 || length > MAX_ZEROS)
      return bad(`length is 0 to ${MAX_ZEROS}`);
    return new Uint8Array(length);
  }
  if (typeof hex !== "string" || !/^([0-9a-fA-F]{2})*$/.test(hex)) return bad("hex has hexadecimal digits");
  const bytes = bytesOf(hex);
  if (id === undefined) return bytes;
  if (typeof id !== "number" || typeof at !== "number") return bad("id and at are numbers");
  let buffer = known.find(id);
  if (buffer === undefined && typeof of === "number") known.set(id, (buffer = new ArrayBuffer(of)));
  if (!(buffer instanceof ArrayBuffer) || at < 0 || at + bytes.length > buffer.byteLength)
    return bad("no buffer has these bytes");
  const view = new Uint8Array(buffer, at, bytes.length);
  view.set(bytes);
  return view;
}

/** A thrown error as JSON. */
export function errorJson(error: unknown): Json {
  if (!(error instanceof SteeringError)) return { message: String(error) };
  const { code, errno, call, reason, path = null, hint = null, message } = error;
  return { code, errno, call, reason, path, hint, message };
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
