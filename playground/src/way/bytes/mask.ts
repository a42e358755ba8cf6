/** The bits of a field that a rule masks, read from the notation of scenario files. */
import { digitsOf } from "../why/bitCells.js";

/**
 * @param wanted `10.0.0.0/8`, `0x2/0x3f`, an address and a mask, `1024-65535`, `any`, or a whole value
 * @param bits the width of the field
 * @returns a character for each bit, the highest first: "1" masked, "0" not
 */
export function maskBits(wanted: string, bits: number): string {
  if (wanted === "any") return "0".repeat(bits);
  const mask = /\/([^/]+)$/.exec(wanted)?.[1];
  if (mask === undefined) return "1".repeat(bits);
  if (/^\d+$/.test(mask)) return "1".repeat(Math.min(bits, Number(mask))).padEnd(bits, "0");
  return digitsOf(mask, bits) ?? "1".repeat(bits);
}
