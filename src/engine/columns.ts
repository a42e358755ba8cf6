/** The outcomes of a batch as columns, one value a row: views of the memory where the core writes them. */
import {
  COLUMN_DESTINATIONS,
  COLUMN_HITS,
  COLUMN_KIND,
  COLUMN_QUEUE,
  COLUMN_REASON,
  COLUMN_RULE,
  COLUMN_TAG,
  COLUMN_TAGGED,
  COLUMN_VERDICT,
  MAX_BATCH,
} from "../abi/engine.js";

type Column = Uint8Array | Uint16Array | Uint32Array;

/** Up to this many rows, a loop is faster than `set`, which needs a new view. */
const FEW = 32;

export interface Columns {
  /** Indices of VERDICTS. */
  readonly verdicts: Uint8Array;
  /** Indices of REASONS; 0 is none. */
  readonly reasons: Uint8Array;
  /** 1 for a frame with a tag. */
  readonly tagged: Uint8Array;
  readonly tags: Uint32Array;
  /** The number of rules that the frame hit, at most HITS_PER_FRAME. */
  readonly hits: Uint8Array;
  /** The number of the last of them, for `device.rulesOf`; NO_RULE without one. */
  readonly rules: Uint32Array;
  /** The number of destinations of the frame and of its copies. */
  readonly destinations: Uint16Array;
  /** The first destination, for `device.destinationName`. */
  readonly queues: Uint32Array;
  readonly kinds: Uint8Array;
}

/** The columns at an address of memory. The views are valid until memory grows. */
export function columnsAt(buffer: ArrayBufferLike, address: number): Columns {
  const bytes = (column: number): Uint8Array => new Uint8Array(buffer, address + column, MAX_BATCH);
  const words = (column: number): Uint32Array => new Uint32Array(buffer, address + column, MAX_BATCH);
  return {
    verdicts: bytes(COLUMN_VERDICT),
    reasons: bytes(COLUMN_REASON),
    tagged: bytes(COLUMN_TAGGED),
    tags: words(COLUMN_TAG),
    hits: bytes(COLUMN_HITS),
    rules: words(COLUMN_RULE),
    destinations: new Uint16Array(buffer, address + COLUMN_DESTINATIONS, MAX_BATCH),
    queues: words(COLUMN_QUEUE),
    kinds: bytes(COLUMN_KIND),
  };
}

/** Copies the first `count` rows of `from` to the rows of `to` from `first` on. */
export function copyColumns(from: Columns, to: Columns, first: number, count: number): void {
  copy(from.verdicts, to.verdicts, first, count);
  copy(from.reasons, to.reasons, first, count);
  copy(from.tagged, to.tagged, first, count);
  copy(from.tags, to.tags, first, count);
  copy(from.hits, to.hits, first, count);
  copy(from.rules, to.rules, first, count);
  copy(from.destinations, to.destinations, first, count);
  copy(from.queues, to.queues, first, count);
  copy(from.kinds, to.kinds, first, count);
}

function copy(from: Column, to: Column, first: number, count: number): void {
  if (count <= FEW) for (let i = 0; i < count; i++) to[first + i] = from[i]!;
  else to.set(count === from.length ? from : from.subarray(0, count), first);
}
