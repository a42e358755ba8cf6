/** Out parameters of C: a call fills the object that a program gives, and returns the value where it gives none. */
import { checkArray, checkBytes, wrongType } from "../base/checks.js";
import { refuse } from "../errors.js";
import { Handle } from "../model/base/handle.js";

/** A struct of C that a call fills. Members that it has already are replaced. */
export type Out<T> = Partial<T>;

/**
 * Fills a struct.
 * @param out the object of the program; null or undefined for none
 * @returns 0 where there is an object, otherwise the value
 */
export function given<T extends object>(path: string, out: Out<T> | null | undefined, value: T): T | 0 {
  if (out === undefined || out === null) return value;
  fill(path, out, value);
  return 0;
}

/** Copies all members of a struct to the object of the program. @throws TypeError it is no object, or one of the device */
export function fill<T extends object>(path: string, out: Out<T>, value: T): void {
  if (typeof out !== "object" || out === null || out instanceof Uint8Array) wrongType(path, "an object", out);
  // Its members would replace those of the device.
  if (out instanceof Handle) wrongType(path, "an object of the program", out);
  Object.assign(out, value);
}

/** Fills the array of a program from its start. @returns the number of items, as C does */
export function fillList<T extends object>(path: string, out: Out<T>[], values: readonly T[]): number {
  checkArray(path, out);
  for (const [i, value] of values.entries()) fill(`${path}[${i}]`, (out[i] ??= {}), value);
  return values.length;
}

/** Copies wire bytes to the array of a program. @throws EINVAL it is too short */
export function fillBytes(path: string, out: Uint8Array, value: Uint8Array): void {
  checkBytes(path, out);
  if (out.length < value.length) {
    const hint = `the call writes ${value.length} bytes`;
    refuse({ code: "EINVAL", reason: "too_short", path, value: out, hint });
  }
  out.set(value);
}
