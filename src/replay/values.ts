/**
 * Arguments and results of calls as JSON. Objects of devices are numbers, in the order in which they were first seen; so two
 * runs that make the same calls give the same numbers.
 *
 *     { "$": "object", "id": 3, "class": "QueuePair" }    an object of a device
 *     { "$": "bytes", "id": 4, "at": 0, "hex": "0a0b" }   bytes of a buffer, from `at` on; without id: bytes alone
 *     { "$": "bigint", "value": "7" }, { "$": "undefined" }, { "$": "number", "value": "NaN" }
 *     { "$": "map", "entries": [[key, value]] }, { "$": "set", "values": [] }
 */
import { hexOf } from "../base/hex.js";
import { SteeringError, refuse } from "../errors.js";

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
}

/** Writes a value. Functions are left out: a log has what they are told, not what they do. */
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
    default:
      return { $: "undefined" };
  }
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

function bytesJson(known: KnownObjects, view: ArrayBufferView, { buffers = false }: WriteOptions): Json {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const hex = hexOf(bytes);
  if (!buffers) return { $: "bytes", hex };
  return { $: "bytes", id: known.numberOf(view.buffer), at: view.byteOffset, of: view.buffer.byteLength, hex };
}

/** Reads a value as `toJson` writes it. @throws SteeringError EINVAL: unknown numbers, malformed values */
export function fromJson(known: KnownObjects, call: string, path: string, value: Json): unknown {
  if (typeof value !== "object" || value === null) return value;
  const inner = (one: Json, step: string): unknown => fromJson(known, call, `${path}${step}`, one);
  if (isList(value)) return value.map((one, i) => inner(one, `[${i}]`));
  const { $: kind } = value;
  if (kind === undefined)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one, `.${key}`)]));
  return readSpecial(known, call, path, value);
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function readSpecial(known: KnownObjects, call: string, path: string, value: Readonly<Record<string, Json>>): unknown {
  const bad = (hint: string): never => refuse({ code: "EINVAL", call, reason: "bad_object", path, hint });
  const { $: kind, id, value: text } = value;
  if (kind === "undefined") return undefined;
  if (kind === "number") return Number(text);
  if (kind === "bigint") return typeof text === "string" && /^-?\d{1,40}$/.test(text) ? BigInt(text) : bad("digits");
  if (kind === "object") {
    const found = typeof id === "number" ? known.find(id) : undefined;
    return found ?? bad(`no object has the number ${JSON.stringify(id)}`);
  }
  if (kind === "bytes") return readBytes(known, value, bad);
  return bad("$ is one of object, bytes, bigint, number, undefined");
}

function readBytes(
  known: KnownObjects,
  { id, at = 0, of, hex }: Readonly<Record<string, Json>>,
  bad: (hint: string) => never,
): Uint8Array {
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

function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
