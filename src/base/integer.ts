/** `integerOf` reads an integer as people write it. */

/** No field holds a number with more digits. Conversion takes quadratic time: seconds for some millions of digits. */
export const MAX_DIGITS = 1024;

/** Represents every number with more digits: no field holds it either. */
const TOO_BIG = 1n << 4096n;

/** The integer that the text is: decimal, or binary after `0b`, or hexadecimal after `0x`. @returns undefined for other text */
export function integerOf(text: string): bigint | undefined {
  if (!/^(0x[0-9a-f]+|0b[01]+|\d+)$/i.test(text)) return undefined;
  const digits = text.length <= MAX_DIGITS ? 0 : text.replace(/^(0[xb])?0*/i, "").length;
  return digits > MAX_DIGITS ? TOO_BIG : BigInt(text);
}
