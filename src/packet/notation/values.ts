/** Numbers and bytes of packet notation. */
import { MAX_FRAME } from "../../abi/engine.js";
import { integerOf } from "../../base/integer.js";

/** A number, decimal or 0x...; undefined for other text. */
export function wholeNumber(text: string): number | bigint | undefined {
  const value = integerOf(text);
  if (value === undefined) return undefined;
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** The hexadecimal digits of `12 bytes`, which are zeros; undefined for other words, and for more than a frame has. */
export function zeroBytes(count: string, unit: string): string | undefined {
  if (!/^\d+$/.test(count) || !/^bytes?$/.test(unit) || Number(count) > MAX_FRAME) return undefined;
  return "00".repeat(Number(count));
}
