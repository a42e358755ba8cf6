/** Bytes on the command line. */
import { badUsage } from "../refusal.js";

/** The bytes of `--hex`: pairs of hexadecimal digits; blanks, colons and 0x are ignored. */
export function hexOption(text: string): Uint8Array {
  const digits = text.replace(/^0x/i, "").replace(/[\s:]/g, "");
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0];
  const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  if (wrong !== undefined) throw badUsage(`--hex ${shown}`, `"${wrong}" is not a hexadecimal digit`);
  if (digits.length % 2 !== 0)
    throw badUsage(`--hex ${shown}`, `odd number of digits (${digits.length}); a byte has two`);
  return hexBytes(digits);
}

/** The bytes of hexadecimal digits that are known to be good. */
export function hexBytes(digits: string): Uint8Array {
  return Uint8Array.from(Buffer.from(digits, "hex"));
}
