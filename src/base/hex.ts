/** The digits of each byte, made with the first text. */
const DIGITS: string[] = [];

/** The bytes as pairs of hexadecimal digits: `00ff10`. */
export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += DIGITS[byte] ??= byte.toString(16).padStart(2, "0");
  return text;
}

/** The bytes of pairs of hexadecimal digits, which the caller has checked. */
export function unhex(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length >> 1);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (digitOf(digits.charCodeAt(2 * i)) << 4) | digitOf(digits.charCodeAt(2 * i + 1));
  return bytes;
}

/** 0 to 15: digits are from 0x30 on, letters from 0x41 and 0x61. */
function digitOf(code: number): number {
  return code <= 0x39 ? code - 0x30 : (code & 7) + 9;
}
