/** The digits of each byte, made with the first text. */
const DIGITS: string[] = [];

/** The bytes as pairs of hexadecimal digits: `00ff10`. */
export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += DIGITS[byte] ??= byte.toString(16).padStart(2, "0");
  return text;
}
