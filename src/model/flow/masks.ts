/** The masks of the flows of a stage, and the texts by which masks and values are found. */
import { KEY_SIZE } from "../../abi/key.js";
import { RuleMask } from "../../engine/ruleMask.js";
import type { Place } from "../table/classifier.js";

/** The characters of the text that is being made. */
const CODES = new Array<number>((3 * KEY_SIZE) / 4).fill(0);

function textOf(count: number): string {
  return String.fromCharCode(...CODES.slice(0, count));
}

/** A mask of a stage, whatever the slots of its flows are. */
export class MaskBits<Entry> {
  /** The key in the table of masks. */
  readonly key: string;
  readonly mask: RuleMask;
  readonly slots = new Map<number, FlowMask<Entry>>();
  /** The entries of all slots, by `entryKey`. */
  readonly entries = new Map<string, Entry>();
  /** The words of a key that the mask covers. */
  private readonly _words: readonly number[];

  constructor(key: string, mask: Uint8Array) {
    this.key = key;
    this.mask = new RuleMask(mask.slice());
    const words = wordsOf(mask);
    this._words = Array.from(words.keys()).filter((word) => words[word] !== 0);
  }

  /** The key of a mask: its words that are not zero. */
  static keyOf(mask: Uint8Array): string {
    const words = wordsOf(mask);
    let count = 0;
    for (let word = 0; word < words.length; word++) {
      const bits = words[word] as number;
      if (bits === 0) continue;
      CODES[count++] = word;
      CODES[count++] = bits & 0xffff;
      CODES[count++] = bits >>> 16;
    }
    return textOf(count);
  }

  /** The key of a value under this mask at a slot. */
  entryKey(slot: number, value: Uint8Array): string {
    const words = wordsOf(value);
    let count = 2;
    CODES[0] = slot & 0xffff;
    CODES[1] = slot >>> 16;
    for (const word of this._words) {
      const bits = words[word] as number;
      CODES[count++] = bits & 0xffff;
      CODES[count++] = bits >>> 16;
    }
    return textOf(count);
  }
}

/** A mask at a slot. It ranks by the age of its oldest entry. */
export class FlowMask<Entry> implements Place {
  readonly slot: number;
  readonly bits: MaskBits<Entry>;
  /** Entries of this slot. */
  entries = 0;
  order = 0;

  constructor(slot: number, bits: MaskBits<Entry>) {
    this.slot = slot;
    this.bits = bits;
  }
}

/** A key as 32-bit words in the machine's byte order. */
function wordsOf(key: Uint8Array): Uint32Array {
  return new Uint32Array(key.buffer, key.byteOffset, key.length / 4);
}
