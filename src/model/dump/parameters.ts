/**
 * Match parameters as dumps write them: the library's structs on a little-endian machine. Words are
 * those of the device format, but the first field of a word is in its low bits, and the low byte of
 * a word comes first.
 */
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../../abi/key.js";
import { once } from "../../base/once.js";
import { FIELDS } from "../match/fields.js";

const WORD = 32;
const WORDS = GROUP_SIZE / 4;

/**
 * Bits of a word that stay together: the first bit, counted from the most significant bit, and how
 * many.
 */
interface Piece {
  readonly from: number;
  readonly bits: number;
}

/** The library has two fields for one 32-bit field of ours. */
const GRE_KEY = "misc.gre_key";
const GRE_KEY_HIGH = 24;

/** The parts of each word of the device format. */
const pieces = once((): readonly (readonly Piece[])[] => {
  const words = Array.from({ length: DEVICE_KEY_SIZE / 4 }, (): Piece[] => []);
  for (const { name, bit, width } of FIELDS) {
    if (bit >= DEVICE_KEY_SIZE * 8) continue;
    for (let at = bit; at < bit + width;) {
      const from = at % WORD;
      const left = Math.min(bit + width - at, WORD - from);
      const bits = name === GRE_KEY && from === 0 ? GRE_KEY_HIGH : left;
      words[Math.floor(at / WORD)]?.push({ from, bits });
      at += bits;
    }
  }
  return words;
});

/** Groups in the order of the columns: outer, inner, misc to misc5. */
const COLUMNS = [0, 2, 1, 3, 4, 5, 6];

/**
 * One column for each group of a key: hexadecimal text, or empty where the group is neither enabled
 * nor set.
 */
export function groupTexts(key: Uint8Array, criteria: number): string[] {
  return COLUMNS.map((group) => {
    const bytes = key.subarray(group * GROUP_SIZE, (group + 1) * GROUP_SIZE);
    if ((criteria & (1 << group)) === 0 && bytes.every((byte) => byte === 0)) return "";
    return groupText(bytes, group * WORDS);
  });
}

function groupText(bytes: Uint8Array, firstWord: number): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, GROUP_SIZE);
  let text = "";
  for (let n = 0; n < WORDS; n++) {
    const word = view.getUint32(n * 4);
    let turned = 0;
    for (const { from, bits } of pieces()[firstWord + n] ?? []) {
      turned |= ((word << from) >>> (WORD - bits)) << from;
    }
    for (let byte = 0; byte < 4; byte++) text += ((turned >>> (8 * byte)) & 0xff).toString(16).padStart(2, "0");
  }
  return text;
}

/** How a record holds match parameters: 3205 with the first field of a word in its low bits, 3201 in its high bits. */
export type WordOrder = "first_low" | "first_high";

/**
 * Reads the columns of groups (see `groupTexts`) into a key. Columns that are missing or empty are
 * groups without bits.
 * @returns false if a column is no group of match parameters; the key then holds the columns before it
 */
export function readGroupTexts(columns: readonly string[], order: WordOrder, key: Uint8Array): boolean {
  return columns.slice(0, COLUMNS.length).every((text, n) => {
    if (text === "") return true;
    const group = COLUMNS[n] as number;
    if (!GROUP_TEXT.test(text)) return false;
    readGroupText(
      text,
      order,
      group * WORDS,
      new DataView(key.buffer, key.byteOffset + group * GROUP_SIZE, GROUP_SIZE),
    );
    return true;
  });
}

/** SPEC: a group that is cut short ends with zeros. */
const GROUP_TEXT = new RegExp(`^[0-9a-f]{1,${GROUP_SIZE * 2}}$`, "i");

function readGroupText(given: string, order: WordOrder, firstWord: number, view: DataView): void {
  const text = given.padEnd(GROUP_SIZE * 2, "0");
  for (let n = 0; n < WORDS; n++) {
    let turned = 0;
    for (let byte = 3; byte >= 0; byte--)
      turned = (turned << 8) | Number.parseInt(text.slice((n * 4 + byte) * 2, (n * 4 + byte + 1) * 2), 16);
    let word = order === "first_high" ? turned : 0;
    for (const { from, bits } of order === "first_high" ? [] : (pieces()[firstWord + n] ?? [])) {
      word |= ((turned << (WORD - from - bits)) >>> (WORD - bits)) << (WORD - from - bits);
    }
    view.setUint32(n * 4, word >>> 0);
  }
}
