/** Reads and writes bit fields in network order, and converts bytes to and from hexadecimal text. */
import { unhex } from "../base/hex.js";

export { joined } from "../base/bytes.js";
export { hexOf } from "../base/hex.js";

/** The unsigned number in `bits` bits from bit `at` on, both counted from the start of `bytes`. */
export function readBits(bytes: Uint8Array, at: number, bits: number): bigint {
  let value = 0n;
  const last = (at + bits - 1) >> 3;
  for (let i = at >> 3; i <= last; i++) value = (value << 8n) | BigInt(bytes[i] ?? 0);
  return (value >> BigInt(8 * (last + 1) - at - bits)) & ((1n << BigInt(bits)) - 1n);
}

/** As `readBits`, for at most 32 bits. */
export function readNumber(bytes: Uint8Array, at: number, bits: number): number {
  // Most fields are one or two whole bytes.
  const byte = at >> 3;
  if ((at & 7) === 0 && bits === 16) return ((bytes[byte] ?? 0) << 8) | (bytes[byte + 1] ?? 0);
  if ((at & 7) === 0 && bits === 8) return bytes[byte] ?? 0;
  let value = 0;
  const last = (at + bits - 1) >> 3;
  // At most 39 bits, which a double holds.
  for (let i = at >> 3; i <= last; i++) value = value * 256 + (bytes[i] ?? 0);
  return Math.floor(value / 2 ** (8 * (last + 1) - at - bits)) % 2 ** bits;
}

/** Writes a number into a bit field and leaves the other bits unchanged. */
export function writeBits(bytes: Uint8Array, at: number, bits: number, value: bigint): void {
  let end = at + bits;
  let rest = value;
  for (; end - at > 32; rest >>= 32n) {
    end -= 32;
    writeNumber(bytes, end, 32, Number(BigInt.asUintN(32, rest)));
  }
  writeNumber(bytes, at, end - at, Number(BigInt.asUintN(32, rest)));
}

/** As `writeBits`, for at most 32 bits. */
export function writeNumber(bytes: Uint8Array, at: number, bits: number, value: number): void {
  let rest = value;
  for (let end = at + bits; end > at;) {
    // The bits that lie in the last byte.
    const first = Math.max(at, (end - 1) & ~7);
    const mask = (0xff >> (first & 7)) & (0xff << (-end & 7));
    const byte = first >> 3;
    bytes[byte] = ((bytes[byte] as number) & ~mask) | ((rest << (-end & 7)) & mask);
    rest >>>= end - first;
    end = first;
  }
}

/** Copies bytes to byte `at`. A loop takes less than `set` where they are few, as addresses are. */
export function writeBytes(bytes: Uint8Array, at: number, source: Uint8Array): void {
  if (source.length > 32) bytes.set(source, at);
  else for (let i = 0; i < source.length; i++) bytes[at + i] = source[i] as number;
}

export function bytesOf(value: bigint | number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  writeBits(bytes, 0, 8 * length, BigInt(value));
  return bytes;
}

/** Parses pairs of hexadecimal digits, optionally separated by spaces or colons. @returns undefined for other text */
export function hexBytes(text: string): Uint8Array | undefined {
  const digits = text.replace(/[\s:]/g, "");
  if (!/^([0-9a-f]{2})*$/i.test(digits)) return undefined;
  return unhex(digits);
}

/** Bytes; text is hexadecimal digits. */
export type BytesText = Uint8Array | string;

/** A copy of the bytes that a BytesText stands for. @returns undefined for any other value */
export function bytesGiven(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value.slice();
  return typeof value === "string" ? hexBytes(value) : undefined;
}
