/** Keys of frames, parsed in bulk: what rules can match of them, as numbers that are equal for equal values. */
import { EXT_PRESENT_INNER, EXT_PRESENT_OUTER, EXT_PRESENT_TUNNEL, KEY_SIZE, NEEDS_ALL } from "../../abi/key.js";
import { Batch } from "../../engine/batch.js";
import type { DeviceBase } from "../../model/base/deviceBase.js";
import { linkOf } from "../../model/traffic/links.js";
import { keyView, type KeyView } from "../why/compare.js";
import type { KeyMatch } from "../match/terms.js";

/** A frame as it came in. */
export interface KeyFrame {
  readonly bytes: Uint8Array;
  readonly linkType: number;
  readonly wireLength: number;
}

/** Key words that say which headers are there. They are always part of the number. */
export const PRESENCE_WORDS = [EXT_PRESENT_OUTER, EXT_PRESENT_INNER, EXT_PRESENT_TUNNEL].map((byte) => byte / 4);

export class FrameKeys {
  readonly #batch: Batch;
  /** Word index and mask of the key words that some rule matches. */
  readonly #words: Int32Array;

  /** @param matches all rules of the device */
  constructor(device: DeviceBase, matches: Iterable<KeyMatch>) {
    this.#batch = new Batch(device.core);
    this.#words = matchedWords(matches);
  }

  /**
   * Parses frames, in the memory that the device has for frames: no frame may be under way.
   * @param visit gets the index of each frame, its number, and its key, which is valid during the call
   */
  parse<T extends KeyFrame>(frames: readonly T[], visit: (frame: T, number: number, key: KeyView) => void): void {
    const batch = this.#batch;
    for (let next = 0; next < frames.length;) {
      batch.clear();
      const first = next;
      for (; next < frames.length; next++) {
        const { bytes, linkType, wireLength } = frames[next] as T;
        if (batch.pack(bytes, wireLength, 1, linkOf("explain", "linkType", linkType)) < 0) break;
      }
      batch.parse(NEEDS_ALL);
      const { u8, keys } = batch.core;
      for (let i = first; i < next; i++) {
        const at = keys + (i - first) * KEY_SIZE;
        const key = keyView(u8.subarray(at, at + KEY_SIZE));
        visit(frames[i] as T, this.#numberOf(key), key);
      }
    }
  }

  /** 53 bits of a hash of the matched words. */
  #numberOf({ words }: KeyView): number {
    const list = this.#words;
    let low = 0x2545f491;
    let high = 0x165667b1;
    for (let i = 0; i < list.length; i += 2) {
      const word = (words[list[i] as number] as number) & (list[i + 1] as number);
      low = Math.imul(low ^ word, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high + word, 0x85ebca6b) ^ (high >>> 13);
    }
    return (low >>> 0) * 2 ** 21 + (high >>> 11);
  }
}

function matchedWords(matches: Iterable<KeyMatch>): Int32Array {
  const masks = new Uint8Array(KEY_SIZE);
  const words = new Int32Array(masks.buffer);
  for (const { mask, ranges } of matches) {
    for (let byte = 0; byte < KEY_SIZE; byte++) (masks[byte] as number) |= mask[byte] as number;
    for (const { dword } of ranges) words[dword >> 2] = -1;
  }
  for (const word of PRESENCE_WORDS) words[word] = -1;
  return Int32Array.from([...words].flatMap((mask, word) => (mask === 0 ? [] : [word, mask])));
}
