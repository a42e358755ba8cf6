/** Calls with one argument, or one field of an argument, replaced by a value of a wrong type. */
import { SteeringError } from "../../src/index.js";
import { Handle } from "../../src/model/base/handle.js";

/** Values that hardly any argument allows; several are wrong for each. */
export const WRONG: Readonly<Record<string, () => unknown>> = {
  null: () => null,
  undefined: () => undefined,
  true: () => true,
  "-1": () => -1,
  "1.5": () => 1.5,
  NaN: () => Number.NaN,
  "7n": () => 7n,
  '"text"': () => "text",
  "a symbol": () => Symbol("wrong"),
  "{}": () => ({}),
  "[]": () => [],
  "[null]": () => [null],
  "a function": () => () => 0,
  "3 bytes": () => new Uint8Array(3),
  "a Date": () => new Date(0),
  "an object without prototype": () => Object.create(null) as unknown,
};

/** Replaced at most this deep: `attr.specs[0].val.dst_ip` is five. */
const DEPTH = 5;

/** A call: the function's name, the function and correct arguments. */
export interface Call {
  readonly name: string;
  readonly run: (...args: unknown[]) => unknown;
  readonly args: readonly unknown[];
}

/**
 * What the call did wrong: it threw something that is neither a `SteeringError` nor a `TypeError`
 * of our own, whose message begins with the name of the call.
 */
export function unclear({ name, run }: Call, args: readonly unknown[]): string | undefined {
  try {
    run(...args);
  } catch (error) {
    if (error instanceof Error && !error.stack?.includes(error.message)) return `another stack: ${error.message}`;
    if (error instanceof SteeringError) {
      const named = error.call === name && error.message.startsWith(`${name}: `);
      return named ? undefined : `names ${error.call}: ${error.message}`;
    }
    if (!(error instanceof TypeError)) return `throws ${String(error)}`;
    const { message } = error;
    if (!message.startsWith(`${name}: `)) return `throws TypeError: ${message}`;
    if (/ must be a [AEIOaeio]/.test(message)) return `says: ${message}`;
  }
  return undefined;
}

/** Each argument list with one value replaced, and the path of that value. */
export function* replaced(args: readonly unknown[]): Generator<readonly [path: string, args: unknown[]]> {
  for (const [i, arg] of args.entries()) {
    for (const [path, other] of changes(arg, DEPTH)) {
      const list = [...args];
      list[i] = other;
      yield [`argument ${i}${path}`, list];
    }
  }
}

/** Each argument list with one struct, or one inside of it, that lacks a member or all of them. */
export function* emptied(args: readonly unknown[]): Generator<readonly [path: string, args: unknown[]]> {
  for (const [i, arg] of args.entries())
    for (const [path, other] of lacking(arg)) yield [`argument ${i}${path}`, args.with(i, other)];
}

function* lacking(value: unknown): Generator<readonly [path: string, value: unknown]> {
  if (Array.isArray(value)) {
    for (const [i, item] of (value as unknown[]).entries())
      for (const [path, other] of lacking(item)) yield [`[${i}]${path}`, (value as unknown[]).with(i, other)];
  } else if (isPlain(value)) {
    yield [" = {}", {}];
    for (const [key, item] of Object.entries(value)) {
      const { [key]: _, ...rest } = value as Record<string, unknown>;
      yield [`.${key} absent`, rest];
      for (const [path, other] of lacking(item)) yield [`.${key}${path}`, { ...value, [key]: other }];
    }
  }
}

/**
 * Each argument list with one object of the device replaced by its counterpart in `others`, a
 * second list for the same call. The counterpart is marked as destroyed.
 */
export function* destroyedObjects(
  args: readonly unknown[],
  others: readonly unknown[],
): Generator<readonly [path: string, args: unknown[]]> {
  for (const [i, arg] of args.entries()) {
    for (const [path, other] of destroyedIn(arg, others[i])) {
      const list = [...args];
      list[i] = other;
      yield [`argument ${i}${path}`, list];
    }
  }
}

function* destroyedIn(value: unknown, other: unknown): Generator<readonly [path: string, value: unknown]> {
  if (value instanceof Handle) {
    (other as Handle).destroyed = true;
    yield ["", other];
  } else if (Array.isArray(value)) {
    for (const [i, item] of (value as unknown[]).entries()) {
      for (const [path, dead] of destroyedIn(item, (other as unknown[])[i])) {
        const list = [...(value as unknown[])];
        list[i] = dead;
        yield [`[${i}]${path}`, list];
      }
    }
  } else if (isPlain(value)) {
    for (const [key, item] of Object.entries(value)) {
      for (const [path, dead] of destroyedIn(item, (other as Record<string, unknown>)[key])) {
        yield [`.${key}${path}`, { ...value, [key]: dead }];
      }
    }
  }
}

function* changes(value: unknown, depth: number): Generator<readonly [path: string, value: unknown]> {
  for (const [name, wrong] of Object.entries(WRONG)) yield [` = ${name}`, wrong()];
  if (depth === 0) return;
  if (Array.isArray(value)) {
    for (const [i, item] of (value as unknown[]).entries()) {
      for (const [path, other] of changes(item, depth - 1)) {
        const list = [...(value as unknown[])];
        list[i] = other;
        yield [`[${i}]${path}`, list];
      }
    }
  } else if (isPlain(value)) {
    for (const [key, item] of Object.entries(value)) {
      for (const [path, other] of changes(item, depth - 1)) yield [`.${key}${path}`, { ...value, [key]: other }];
    }
  }
}

export function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
