/** Checks of arguments that every room needs: each refusal names the call, the argument and the rule. */
import { refuse } from "./errors.js";

/**
 * The value, if it is an unsigned integer of at most `bits` bits.
 * @throws TypeError it is no number; SteeringError EINVAL it is out of range
 */
export function unsigned(call: string, path: string, value: unknown, bits: number): number {
  if (typeof value !== "number") throw new TypeError(`${call}: ${path} must be a number, not ${describe(value)}`);
  // Several are asked of every frame: without a power where it can be.
  if (value >>> 0 === value && (bits >= 32 || value >>> bits === 0)) return value;
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
    refuse({ code: "EINVAL", call, reason: "out_of_range", path, value, hint: `0 to ${2 ** bits - 1}` });
  }
  return value;
}

/** The type of a value, as messages name it: `null`, `string`, `QueuePair`. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return value === undefined ? "undefined" : typeof value;
  return value.constructor?.name ?? "an object";
}
