/** Values as testpmd reads them: a leading 0 makes a number octal, MAC addresses have colons and two digits each. */
import { ones } from "../../../base/bits.js";
import { integerOf, MAX_DIGITS } from "../../../base/integer.js";
import { nearest } from "../../../base/nearest.js";
import { addressOf, quoted } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { ValueKind } from "../fields/kind.js";

/** A number of a number of bits. @throws NotImported */
export function numberAt(word: Word, what: string, bits: number): bigint {
  const { text } = word;
  if (!/^(?:0x[0-9a-f]+|0[0-7]*|[1-9]\d*)$/i.test(text)) {
    notImported(word, `${what} is a number, not ${quoted(text)}`);
  }
  const isOctal = /^0[0-7]/.test(text);
  const value = isOctal ? octalOf(text) : integerOf(text);
  if (value === undefined || value >> BigInt(bits) !== 0n)
    notImported(word, `${what} has ${bits} bits: 0 to ${ones(bits)}`);
  return value;
}

/** A number after a leading 0; undefined for one of more digits than any value has. */
function octalOf(text: string): bigint | undefined {
  const digits = text.replace(/^0+/, "");
  return digits.length > MAX_DIGITS ? undefined : BigInt(`0o0${digits}`);
}

const TRUE = ["1", "yes", "true", "on"];
const FALSE = ["0", "no", "false", "off"];
const COLOURS = ["green", "yellow", "red"];

/** A value of an item's field or of an action. @throws NotImported */
export function valueOf(word: Word, what: string, bits: number, kind: ValueKind = "number"): bigint {
  switch (kind) {
    case "number":
      return numberAt(word, what, bits);
    case "mac":
      if (!/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(word.text)) {
        notImported(word, `"${word.text}" is not a MAC address: six pairs of digits with colons between them`);
      }
      return addressOf(word, "mac");
    case "ipv4":
    case "ipv6":
      return addressOf(word, kind);
    case "hex":
      if (!/^(?:0x)?(?:[0-9a-f]{2})+$/i.test(word.text)) notImported(word, `${what} is bytes as hexadecimal digits`);
      return BigInt(`0x${word.text.replace(/^0x/i, "")}`);
    case "boolean":
      if (TRUE.includes(word.text)) return 1n;
      if (FALSE.includes(word.text)) return 0n;
      return notImported(word, `${what} is yes or no, not "${word.text}"`);
    case "color": {
      const colour = COLOURS.indexOf(word.text);
      return colour >= 0 ? BigInt(colour) : notImported(word, `${what} is one of ${COLOURS.join(", ")}`);
    }
  }
}

/** Refuses a word that is none of those that can stand here, with the nearest one. @throws NotImported */
export function unknownWord(word: Word, what: string, names: readonly string[]): never {
  const near = nearest(word.text, names);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  return notImported(word, `there is no ${what} "${word.text}"${hint}`);
}
