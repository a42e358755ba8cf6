/** `integerOf` reads an integer as people write it. */

/** No field holds a number with more digits. Conversion takes quadratic time: seconds for some millions of digits. */
export const MAX_DIGITS = 1024;

/** Represents every number with more digits: no field holds it either. */
const TOO_BIG = 1n << 4096n;

/** The integer that the text is: decimal, or binary after `0b`, or hexadecimal after `0x`. @returns undefined for other text */
export function integerOf(text: string): bigint | undefined {
  const [prefix = ""] = /^0[xb]/i.exec(text) ?? [];
  const digits = text.slice(prefix.length);
  // One character at a time: a pattern of a whole number overflows the stack of the matcher where it has millions.
  if (digits === "" || (NO_DIGIT[prefix.toLowerCase()] as RegExp).test(digits)) return undefined;
  const zeros = text.length <= MAX_DIGITS ? 0 : digits.search(/[^0]/);
  if (zeros < 0) return 0n;
  return digits.length - zeros > MAX_DIGITS ? TOO_BIG : BigInt(prefix + digits.slice(zeros));
}

const NO_DIGIT: Readonly<Record<string, RegExp>> = { "": /\D/, "0x": /[^0-9a-f]/i, "0b": /[^01]/ };
