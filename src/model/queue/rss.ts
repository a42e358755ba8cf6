/**
 * Receive side scaling. In: the hash function, key and fields of a queue pair or a TIR, and its
 * queues. Out: an RSS record of the core (src/abi/state.ts).
 */
import {
  RSS_FUNCTION,
  RSS_INNER,
  RSS_KEY,
  RSS_KEY_SIZE,
  RSS_MASK,
  RSS_OUTER,
  RSS_QUEUES,
  RSS_SIZE,
  RSS_SYMMETRIC,
} from "../../abi/state.js";
import { createRecord, releaseRecord } from "../../engine/records.js";
import type { QueueList } from "./indirectionTable.js";

/** The hash function and its inputs. */
export interface HashOptions {
  /** HASH_* */
  function: number;
  symmetric: boolean;
  /** Bits RSS_* for the fields of the outer packet and of the inner packet. */
  outer: number;
  inner: number;
  /** The hash key, RSS_KEY_SIZE bytes. */
  key: Uint8Array;
}

/**
 * An RSS record in the core. It does not count as a user of the list: its owner keeps the list
 * alive.
 */
export class RssRecord {
  /** The operand of Op.rss. */
  readonly address: number;
  private readonly _list: QueueList;

  /** @throws ENOMEM */
  constructor(list: QueueList, hash: HashOptions) {
    this._list = list;
    this.address = list.device.allocated(createRecord(list.device.core, recordOf(list, hash)));
  }

  release(): void {
    releaseRecord(this._list.device.core, this.address, RSS_SIZE);
  }
}

function recordOf(list: QueueList, hash: HashOptions): Uint8Array {
  const record = new Uint8Array(RSS_SIZE);
  const view = new DataView(record.buffer);
  view.setUint8(RSS_FUNCTION, hash.function);
  view.setUint8(RSS_SYMMETRIC, hash.symmetric ? 1 : 0);
  view.setUint8(RSS_OUTER, hash.outer);
  view.setUint8(RSS_INNER, hash.inner);
  view.setUint32(RSS_QUEUES, list.address, true);
  view.setUint32(RSS_MASK, list.length - 1, true);
  record.set(hash.key.subarray(0, RSS_KEY_SIZE), RSS_KEY);
  return record;
}
