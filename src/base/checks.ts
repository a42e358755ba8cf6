/** Checks of arguments for every part of the package: each refusal names the argument and the rule; `inCall` adds the call. */
import { mistyped, refuse } from "../errors.js";
import { namesHint } from "./nearest.js";

/**
 * The value, if it is an unsigned integer of at most `bits` bits. A field of more than 32 bits takes
 * a bigint too.
 * @throws TypeError it is no number; SteeringError EINVAL it is out of range
 */
export function unsigned(path: string, value: unknown, bits: number): number {
  if (typeof value === "bigint" && bits > 32) return unsigned(path, Number(value), bits);
  if (typeof value !== "number") wrongType(path, "a number", value);
  // Several are asked of every frame: without a power where it can be.
  if (value >>> 0 === value && (bits >= 32 || value >>> bits === 0)) return value;
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
    refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: `0 to ${2 ** bits - 1}` });
  }
  return value;
}

/** A number of a struct of C: 0 where it is absent. @throws as `unsigned` */
export function member(path: string, value: unknown, bits: number): number {
  return value === undefined ? 0 : unsigned(path, value, bits);
}

/** A struct inside of a struct of C: all members are absent where it is. @throws TypeError it is no object */
export function embedded<T extends object>(path: string, value: T | undefined): Partial<T> {
  return value === undefined ? {} : objectArgument(path, value);
}

/**
 * Refuses a value that is no time in nanoseconds.
 * @throws TypeError no bigint; SteeringError EINVAL outside 0 to 2^64 - 1
 */
export function checkTime(path: string, time: unknown): void {
  if (typeof time !== "bigint") wrongType(path, "a bigint", time);
  if (time === BigInt.asUintN(64, time)) return;
  const hint = "nanoseconds, 0 to 2^64 - 1";
  refuse({ code: "EINVAL", reason: "out_of_range", path, value: time, hint });
}

/**
 * The first `num_actions` items of an array; the array itself if it has no more, or if `num_actions` is undefined.
 * `path` names the array. With no items the array may be null, as in C.
 * @throws TypeError no array; SteeringError EINVAL more than there are
 */
export function countedActions<T>(
  num_actions: number | undefined,
  path: string,
  list: readonly T[] | null,
): readonly T[] {
  if (list === null && num_actions === 0) return [];
  checkArray(path, list);
  const count = num_actions ?? list.length;
  if (!Number.isInteger(count) || count < 0 || count > list.length) {
    const hint = `the array has ${list.length}`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "num_actions", value: count, hint });
  }
  return count === list.length ? list : list.slice(0, count);
}

/** Throws the TypeError of an argument. `type` has its article: "an object". */
export function wrongType(path: string, type: string, value: unknown): never {
  mistyped(`${path} must be ${type}, not ${describe(value)}`);
}

/** @throws TypeError */
export function checkNumber(path: string, value: unknown): asserts value is number {
  if (typeof value !== "number") wrongType(path, "a number", value);
}

/** A flag of C, which a program may also give as a boolean. @throws TypeError */
export function flagOf(path: string, value: unknown): boolean {
  if (typeof value !== "boolean") checkNumber(path, value);
  return value !== false && value !== 0;
}

/** @throws TypeError */
export function checkObject(path: string, value: unknown): asserts value is object {
  if (typeof value !== "object" || value === null) wrongType(path, "an object", value);
}

/** The value, if it is an object. @throws TypeError */
export function objectArgument<T>(path: string, value: unknown): T {
  checkObject(path, value);
  return value as T;
}

/** @throws TypeError */
export function checkArray(path: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) wrongType(path, "an array", value);
}

/** @throws TypeError */
export function checkBytes(path: string, value: unknown): asserts value is Uint8Array {
  if (!(value instanceof Uint8Array)) wrongType(path, "a Uint8Array", value);
}

/** The type of a value, as messages name it: `null`, `string`, `QueuePair`. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return value === undefined ? "undefined" : typeof value;
  return value.constructor?.name ?? "an object";
}

/** "an Action", "a Table". */
export function withArticle(name: string): string {
  return `${/^[aeio]/i.test(name) ? "an" : "a"} ${name}`;
}

/** `1 to 4`; `only 1` where both are equal. */
export function rangeText(first: number, last: number): string {
  return first === last ? `only ${first}` : `${first} to ${last}`;
}

/** The JavaScript type of an option; "any" where its own check follows. */
export type OptionType = "string" | "number" | "boolean" | "function" | "object" | "any";

/** Every option of `T` with its type: the compiler holds the two equal. */
export type OptionTypes<T> = Readonly<Record<keyof T, OptionType>>;

/**
 * Checks an object of options: it has no option that the call does not take, and each has its type. An option that is
 * undefined counts as left out.
 * @param path of the object among the arguments, "" for the options of the call themselves
 * @throws TypeError no object, or a value of another type; SteeringError EINVAL an option that the call does not take
 */
export function checkOptions(path: string, options: unknown, types: Readonly<Record<string, OptionType>>): void {
  if (!isObject(options)) wrongType(path || "options", "an object", options);
  for (const name of Object.keys(options)) {
    const value = options[name];
    if (value === undefined) continue;
    const at = path === "" ? name : `${path}.${name}`;
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type === undefined) {
      const hint = namesHint(name, "options", Object.keys(types));
      refuse({ code: "EINVAL", reason: "unknown_option", path: at, value, hint });
    }
    if (type === "any" || (type === "object" ? isObject(value) : typeof value === type)) continue;
    wrongType(at, withArticle(type), value);
  }
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
