/**
 * How objects of this package print: `Printable` gives each class a text for `console.log` and a value for
 * `JSON.stringify`. Both show the same fields. An object of a device inside another one is its name, so
 * neither text has internals or circles.
 *
 * | value             | in a console          | in JSON                          |
 * | ----------------- | --------------------- | -------------------------------- |
 * | object of a device | its name              | its name                         |
 * | bytes             | length and first bytes | hexadecimal digits, all of them  |
 * | bigint            | `5n`                  | decimal digits, as a string      |
 */
import { hexOf } from "./hex.js";

/** The method that `console.log` of Node calls. The registered symbol needs no import, so it works in browsers too. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom") as typeof INSPECT;

export type PrintedFields = Readonly<Record<string, unknown>>;

/** The options of `util.inspect` that are read here. */
interface InspectOptions {
  readonly stylize?: (text: string, style: string) => string;
}
type Inspect = (value: unknown, options: InspectOptions) => string;

/** Bytes that a console shows. */
const SHOWN_BYTES = 16;
/** Levels of plain objects and lists that are followed. */
const DEPTH = 5;

export abstract class Printable {
  /** The fields that a console and JSON show. @default the own fields of the object, without private ones */
  protected printedFields(): PrintedFields {
    return Object.fromEntries(Object.entries(this).filter(([name]) => !isPrivate(name)));
  }

  /** The name in front of the fields. */
  protected get printedName(): string {
    return this.constructor.name;
  }

  /** The fields for `JSON.stringify`: objects of a device are names, bytes are hexadecimal digits, bigints are strings. */
  toJSON(): Record<string, unknown> {
    return jsonFields(this.printedFields(), DEPTH);
  }

  /** Called by `console.log`; gives `Table { name: table0, domain: nic_rx, level: 1, matchers: 3 }`. */
  [INSPECT](depth: number, options: InspectOptions, inspect: Inspect): string {
    if (depth < 0) return `[${this.printedName}]`;
    const fields = Object.entries(this.printedFields()).map(([name, value]) => [name, consoleValue(value)]);
    return `${this.printedName} ${inspect(Object.fromEntries(fields), options)}`;
  }
}

/** An object of a device: inside another object it prints as its name. */
export abstract class NamedPrintable extends Printable {
  abstract readonly name: string;
}

/**
 * The fields that an object prints when its class names none: numbers, texts and flags, the names of other objects of the
 * device, and the sizes of collections. Other objects are left out.
 * @param hidden names of fields that mean nothing outside the package
 */
export function plainFields(object: object, hidden: ReadonlySet<string>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object) as [string, unknown][]) {
    if (hidden.has(name) || isPrivate(name)) continue;
    if (value instanceof Map || value instanceof Set) fields[name] = value.size;
    else if (isNamed(value) || isScalar(value)) fields[name] = value;
    else if (Array.isArray(value) && value.length > 0 && value.every(isNamed)) fields[name] = value;
  }
  return fields;
}

/** A value as `JSON.stringify` can take it, by the table above. Functions become their type. */
export function jsonValue(value: unknown, depth = DEPTH): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "function" || typeof value === "symbol") return typeof value;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return hexOf(value);
  if (isNamed(value)) return value.name;
  if (value instanceof Printable) return value.toJSON();
  if (depth === 0) return "...";
  if (Array.isArray(value)) return value.map((one) => jsonValue(one, depth - 1));
  return jsonFields(value as PrintedFields, depth - 1);
}

function jsonFields(fields: PrintedFields, depth: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, jsonValue(value, depth)]));
}

/** Names of private fields begin with an underscore (CONTRIBUTING.md). */
function isPrivate(name: string): boolean {
  return name.startsWith("_");
}

function isNamed(value: unknown): value is NamedPrintable {
  return value instanceof NamedPrintable;
}

function isScalar(value: unknown): boolean {
  return value !== null && ["string", "number", "boolean", "bigint"].includes(typeof value);
}

function consoleValue(value: unknown): unknown {
  if (typeof value === "string" && /^[\w:./-]+$/.test(value)) return new Word(value, "string");
  if (value instanceof Uint8Array) return new Word(bytesText(value), "special");
  if (isNamed(value)) return new Word(value.name, "special");
  return Array.isArray(value) ? value.map(consoleValue) : value;
}

function bytesText(bytes: Uint8Array): string {
  const more = bytes.length > SHOWN_BYTES ? "..." : "";
  return `${bytes.length} bytes ${hexOf(bytes.subarray(0, SHOWN_BYTES))}${more}`.trimEnd();
}

/** A text that a console shows without quotes. */
class Word {
  constructor(
    private readonly text: string,
    private readonly style: string,
  ) {}

  [INSPECT](_depth: number, { stylize }: InspectOptions): string {
    return stylize === undefined ? this.text : stylize(this.text, this.style);
  }
}
