/** Keys of frames, parsed in bulk: what rules can match of them, as numbers that are equal for equal values. */
import { inCall } from "../../errors.js";
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  KEY_SIZE,
  NEEDS_ALL,
  NEEDS_INNER_IPV4_CHECKSUM,
  NEEDS_INNER_L4_CHECKSUM,
  NEEDS_OUTER_IPV4_CHECKSUM,
  NEEDS_OUTER_L4_CHECKSUM,
} from "../../abi/key.js";
import { Batch } from "../../engine/batch.js";
import type { DeviceBase } from "../../model/base/deviceBase.js";
import { maskedFields } from "../../model/match/match.js";
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
  readonly #needs: number;
  readonly #key = keyView(new Uint8Array(KEY_SIZE));
  /** The key of the frame that is visited: its first word in the memory of the core. */
  #memory: Uint32Array = new Uint32Array();
  #at = 0;

  /** @param matches all rules of the device */
  constructor(device: DeviceBase, matches: Iterable<KeyMatch>) {
    this.#batch = new Batch(device.core);
    const bits = matchedBits(matches);
    this.#words = matchedWords(bits);
    this.#needs = neededFields(bits);
  }

  /**
   * Parses frames, in the memory that the device has for frames: no frame may be under way.
   * @param visit gets each frame and its number; `key` is that of the frame during the call
   */
  parse<T extends KeyFrame>(frames: readonly T[], visit: (frame: T, number: number) => void): void {
    inCall("explain", () => {
      const batch = this.#batch;
      for (let next = 0; next < frames.length;) {
        batch.clear();
        const first = next;
        for (; next < frames.length; next++) {
          const { bytes, linkType, wireLength } = frames[next] as T;
          if (batch.pack(bytes, wireLength, 1, linkOf("linkType", linkType)) < 0) break;
        }
        batch.parse(this.#needs);
        const { u32, keys } = batch.core;
        for (let i = first; i < next; i++) {
          this.#memory = u32;
          this.#at = (keys + (i - first) * KEY_SIZE) / 4;
          visit(frames[i] as T, this.#numberOf(u32, this.#at));
        }
      }
    });
  }

  /** The key of the frame that is visited: the words that some rule matches. The next call overwrites it. */
  get key(): KeyView {
    const { words } = this.#key;
    for (let i = 0; i < this.#words.length; i += 2) {
      const word = this.#words[i] as number;
      words[word] = this.#memory[this.#at + word] as number;
    }
    return this.#key;
  }

  /** 53 bits of a hash of the matched words of the key that begins at word `at`. */
  #numberOf(memory: Uint32Array, at: number): number {
    const list = this.#words;
    let low = 0x2545f491;
    let high = 0x165667b1;
    for (let i = 0; i < list.length; i += 2) {
      const word = (memory[at + (list[i] as number)] as number) & (list[i + 1] as number);
      low = Math.imul(low ^ word, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high + word, 0x85ebca6b) ^ (high >>> 13);
    }
    return (low >>> 0) * 2 ** 21 + (high >>> 11);
  }
}

/** The bits of a key that some rule matches. */
function matchedBits(matches: Iterable<KeyMatch>): Uint8Array {
  const bits = new Uint8Array(KEY_SIZE);
  for (const { mask, ranges } of matches) {
    for (let byte = 0; byte < KEY_SIZE; byte++) (bits[byte] as number) |= mask[byte] as number;
    for (const { dword } of ranges) bits.fill(0xff, dword, dword + 4);
  }
  return bits;
}

/** Word index and mask of the words with matched bits, and of those that say which headers are there. */
function matchedWords(bits: Uint8Array): Int32Array {
  const words = new Int32Array(bits.slice().buffer);
  for (const word of PRESENCE_WORDS) words[word] = -1;
  return Int32Array.from([...words].flatMap((mask, word) => (mask === 0 ? [] : [word, mask])));
}

const CHECKSUMS =
  NEEDS_OUTER_IPV4_CHECKSUM | NEEDS_OUTER_L4_CHECKSUM | NEEDS_INNER_IPV4_CHECKSUM | NEEDS_INNER_L4_CHECKSUM;

/** All fields; checksums, which take a look at every byte, only if some rule matches them. */
function neededFields(bits: Uint8Array): number {
  const verified = maskedFields(bits).some(({ name }) => name.endsWith("checksum_ok"));
  return verified ? NEEDS_ALL : NEEDS_ALL & ~CHECKSUMS;
}
