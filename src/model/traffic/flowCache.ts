/**
 * The flow cache of a device: its size, hit and miss counters, and `clear` (docs/frames.md). The
 * cache itself is in the core; this file checks its options and reads its counters.
 */
import { CACHE_HITS, CACHE_MISSES } from "../../abi/engine.js";
import type { Core } from "../../engine/core.js";
import { refuse } from "../../errors.js";
import { checkOptions, type OptionTypes, unsigned, wrongType } from "../../base/checks.js";
import { Printable, type PrintedFields } from "../../base/printable.js";

export interface CacheOptions {
  /**
   * The largest number of entries: a power of two up to 1,048,576, or 0 for no cache. @default
   * 65536
   */
  entries?: number;
}

/** The default number of entries. */
const DEFAULT_ENTRIES = 65_536;
const MAX_ENTRIES = 1_048_576;

/**
 * Checks the option `cache` of `createDevice`.
 * @returns the number of entries; 0 for no cache
 * @throws EINVAL if the number is neither 0 nor a power of two up to 1,048,576
 */
export function entriesFrom(cache: CacheOptions | false | 0 | undefined): number {
  if (cache === false || cache === 0) return 0;
  if (cache !== undefined && (typeof cache !== "object" || cache === null))
    wrongType("cache", "an object, false or 0", cache);
  checkOptions("cache", cache ?? {}, { entries: "number" } satisfies OptionTypes<CacheOptions>);
  const entries = unsigned("cache.entries", cache?.entries ?? DEFAULT_ENTRIES, 32);
  if (entries <= MAX_ENTRIES && (entries & (entries - 1)) === 0) return entries;
  const hint = `0, or a power of two up to ${MAX_ENTRIES}`;
  return refuse({ code: "EINVAL", reason: "out_of_range", path: "cache.entries", value: entries, hint });
}

/**
 * The flow cache of a device, `device.cache`. A frame whose key has an entry skips the lookups that
 * the entry recorded.
 */
export class FlowCache extends Printable {
  /** The largest number of entries; 0 when the device has no flow cache. */
  readonly entries: number;
  readonly #core: Core;

  /** @internal */
  constructor(core: Core, entries: number) {
    super();
    this.#core = core;
    this.entries = entries;
    core.exports.limitCache(entries);
  }

  protected override printedFields(): PrintedFields {
    return { entries: this.entries, hits: this.hits, misses: this.misses, paused: this.paused };
  }

  /** The number of frames that had an entry, since the device was created. */
  get hits(): bigint {
    return this.#count(CACHE_HITS);
  }

  /**
   * The number of frames that were looked up in the cache and had no entry. Frames that arrive
   * during a pause count neither as hits nor as misses.
   */
  get misses(): bigint {
    return this.#count(CACHE_MISSES);
  }

  /**
   * Whether frames skip the cache now: because the hit rate is low, the rules read too much of a
   * key, or memory is short.
   */
  get paused(): boolean {
    return this.#core.exports.isCachePaused() !== 0;
  }

  /** Removes all entries and ends a pause. */
  clear(): void {
    this.#core.exports.clearCache();
  }

  #count(offset: number): bigint {
    this.#core.collectCounters();
    return this.#core.u64(this.#core.cache + offset);
  }
}
