/** The cache of decisions as programs see it: how large it may be, what it found, and that it forgets (docs/frames.md). */
import type { Core } from "../../engine/core.js";
import { refuse } from "../../errors.js";
import { unsigned } from "../../checks.js";

export interface CacheOptions {
  /** Entries at most: a power of two up to 1,048,576, or 0 for no cache. @default 65536 */
  entries?: number;
}

/** Entries of a device that says nothing about them. */
const DEFAULT_ENTRIES = 65_536;
const MOST_ENTRIES = 1_048_576;

/** How many entries `cache` of createDevice asks for. */
export function entriesFrom(call: string, cache: CacheOptions | false | 0 | undefined): number {
  if (cache === false || cache === 0) return 0;
  if (cache !== undefined && (typeof cache !== "object" || cache === null))
    throw new TypeError(`${call}: cache must be an object, false or 0, not ${cache === null ? "null" : typeof cache}`);
  const entries = unsigned(call, "cache.entries", cache?.entries ?? DEFAULT_ENTRIES, 32);
  if (entries <= MOST_ENTRIES && (entries & (entries - 1)) === 0) return entries;
  const hint = `0, or a power of two up to ${MOST_ENTRIES}`;
  return refuse({ code: "EINVAL", call, reason: "out_of_range", path: "cache.entries", value: entries, hint });
}

/** What the tables of a device have found for frames of the same key is not looked up again. */
export class DecisionCache {
  /** Entries that it may have; 0: there is none. */
  readonly entries: number;
  readonly #core: Core;

  /** @internal */
  constructor(core: Core, entries: number) {
    this.#core = core;
    this.entries = entries;
    core.exports.limitCache(entries);
  }

  /** Frames that had an entry, since the device was made. */
  get hits(): bigint {
    return this.#count(0);
  }

  /** Frames that were looked up in it and had none. Those that came while it was asleep are in neither number. */
  get misses(): bigint {
    return this.#count(8);
  }

  /** Whether it is not asked at the moment: it does not pay, rules ask about too much of a frame, or there is no memory. */
  get asleep(): boolean {
    return this.#core.exports.isCacheAsleep() !== 0;
  }

  /** Forgets all entries, and is awake. */
  clear(): void {
    this.#core.exports.clearCache();
  }

  #count(offset: number): bigint {
    this.#core.settle();
    return this.#core.u64(this.#core.cache + offset);
  }
}
