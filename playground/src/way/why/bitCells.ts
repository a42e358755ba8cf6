/** Bits of a difference as cells, wanted above found. */
import type { Difference } from "flowsteer/explain";

export interface BitCell {
  /** "1" differs, "0" equal, "." not masked. */
  readonly state: "differs" | "equal" | "free";
  readonly wanted: string;
  readonly found: string;
}

/** Bits in groups of eight, the first group shorter. Empty where the values are not whole numbers or addresses. */
export function bitCells({ wanted, found, bits }: Difference): BitCell[][] {
  const [want, have] = [
    digitsOf(wanted.replace(/\/.*$/, ""), bits.length),
    found === null ? null : digitsOf(found, bits.length),
  ];
  if (bits.length < 2 || want === null || have === null) return [];
  const cells = Array.from(bits, (bit, i): BitCell => ({
    state: bit === "1" ? "differs" : bit === "." ? "free" : "equal",
    wanted: bit === "." ? "·" : want.charAt(i),
    found: have.charAt(i),
  }));
  const groups: BitCell[][] = [];
  for (let end = cells.length; end > 0; end -= 8) groups.unshift(cells.slice(Math.max(0, end - 8), end));
  return groups;
}

/** The bits of a value; null for names and ranges. */
export function digitsOf(value: string, bits: number): string | null {
  if (/^(0x[0-9a-f]+|\d+)$/i.test(value)) return fitting(BigInt(value).toString(2), bits);
  if (/^\d+(\.\d+){3}$/.test(value)) return fitting(bytesOf(value.split("."), 10, 8), bits);
  if (/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(value)) return fitting(bytesOf(value.split(":"), 16, 8), bits);
  if (!/^[0-9a-f:]+$/i.test(value) || !value.includes(":")) return null;
  const [head = "", tail = ""] = value.split("::");
  const [first, last] = [head, tail].map((part) => part.split(":").filter((word) => word !== ""));
  if (first === undefined || last === undefined) return null;
  const zeros = Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0");
  return fitting(bytesOf([...first, ...zeros, ...last], 16, 16), bits);
}

function bytesOf(parts: readonly string[], base: number, width: number): string {
  return parts.map((part) => parseInt(part, base).toString(2).padStart(width, "0")).join("");
}

function fitting(digits: string, bits: number): string | null {
  return digits.length <= bits ? digits.padStart(bits, "0") : null;
}
