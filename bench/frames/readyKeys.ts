/**
 * Classification alone: keys of the same frames, parsed before, looked up in the root table of the
 * same device.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { Link } from "../../src/abi/headers.js";
import {
  EXT_PRESENT_OUTER,
  KEY_SIZE,
  LAYER_DST_IPV4,
  LAYER_PROTOCOL,
  LAYER_SRC_IPV4,
  LAYER_TCP_PORTS,
  LAYER_UDP_PORTS,
  OUTER,
  NEEDS_ALL,
} from "../../src/abi/key.js";
import { Batch } from "../../src/engine/batch.js";
import type { Core } from "../../src/engine/core.js";
import { cpuSeconds, repeated } from "../harness.js";
import type { AclDevice } from "./acl.js";
import { FRAME_BYTES } from "./stream.js";

/**
 * Words of a key that rules on the 5-tuple need; in all frames here the others are equal or unused.
 */
const WORDS = [
  OUTER + LAYER_SRC_IPV4,
  OUTER + LAYER_DST_IPV4,
  OUTER + LAYER_TCP_PORTS,
  OUTER + LAYER_UDP_PORTS,
  // With the version of IP.
  OUTER + LAYER_PROTOCOL,
  EXT_PRESENT_OUTER,
].map((byte) => byte >> 2);

export class ReadyKeys {
  /**
   * CPU seconds of `classify` for all frames: keys are written between the calls, and the time of
   * writing alone is subtracted.
   */
  readonly seconds: () => Promise<number>;
  readonly #acl: AclDevice;
  readonly #core: Core;
  readonly #words: Uint32Array;
  readonly #count: number;

  constructor(acl: AclDevice, bytes: Uint8Array) {
    this.#acl = acl;
    this.#core = acl.device.core;
    this.#count = bytes.length / FRAME_BYTES;
    this.#words = new Uint32Array(this.#count * WORDS.length);
    const batch = new Batch(this.#core);
    for (let first = 0; first < this.#count; first += MAX_BATCH) {
      batch.clear();
      for (let i = first; i < Math.min(first + MAX_BATCH, this.#count); i++) {
        batch.put(bytes.subarray(i * FRAME_BYTES, (i + 1) * FRAME_BYTES), FRAME_BYTES, 1, Link.ethernet);
      }
      batch.parse(NEEDS_ALL);
      const { u32, keys } = this.#core;
      for (let i = 0; i < batch.count; i++) {
        const key = (keys + i * KEY_SIZE) >> 2;
        for (const [n, word] of WORDS.entries()) this.#words[(first + i) * WORDS.length + n] = u32[key + word]!;
      }
    }
    this.seconds = repeated((times) => {
      this.#open();
      let sum = 0;
      for (let pass = 0; pass < times; pass++) {
        const start = cpuSeconds();
        this.#look();
        const middle = cpuSeconds();
        for (let first = 0; first < this.#count; first += MAX_BATCH) this.#fill(first);
        sum += middle - start - (cpuSeconds() - middle);
      }
      return sum;
    });
  }

  /** The line found for each frame, -1 for none. */
  answers(): Int32Array {
    const lineOf = this.#acl.linesByHandle();
    const lines = new Int32Array(this.#count);
    const { u32, found } = this.#core;
    this.#open();
    this.#look((first, count) => {
      for (let i = 0; i < count; i++) lines[first + i] = lineOf.get(u32[(found >> 2) + i]!)!;
    });
    return lines;
  }

  #look(read?: (first: number, count: number) => void): void {
    const { exports } = this.#core;
    const { table } = this.#acl;
    for (let first = 0; first < this.#count; first += MAX_BATCH) {
      const count = this.#fill(first);
      exports.classify(table, count, 0, 0);
      read?.(first, count);
    }
  }

  /** The common part of all keys: the area may contain frames of other users. */
  #open(): void {
    const { u8, keys } = this.#core;
    u8.fill(0, keys, keys + MAX_BATCH * KEY_SIZE);
  }

  #fill(first: number): number {
    const { u32, keys } = this.#core;
    const words = this.#words;
    const count = Math.min(MAX_BATCH, this.#count - first);
    const [src, dst, tcp, udp, protocol, here] = WORDS as [number, number, number, number, number, number];
    let from = first * 6;
    let key = keys >> 2;
    for (let i = 0; i < count; i++, from += 6, key += KEY_SIZE >> 2) {
      u32[key + src] = words[from]!;
      u32[key + dst] = words[from + 1]!;
      u32[key + tcp] = words[from + 2]!;
      u32[key + udp] = words[from + 3]!;
      u32[key + protocol] = words[from + 4]!;
      u32[key + here] = words[from + 5]!;
    }
    return count;
  }
}
