/** Spreading: which fields of a frame say which of several queues gets it, and what the core is given for that. */
import {
  SPREAD_FUNCTION,
  SPREAD_INNER,
  SPREAD_KEY,
  SPREAD_KEY_SIZE,
  SPREAD_MASK,
  SPREAD_OUTER,
  SPREAD_QUEUES,
  SPREAD_SIZE,
  SPREAD_SYMMETRIC,
} from "../../abi/state.js";
import { createRecord, releaseRecord } from "../../engine/records.js";
import type { QueueList } from "./indirectionTable.js";

/** Bits IBV_RX_HASH_... that a queue pair can have (`rss_caps.rx_hash_fields_mask`). */
export const HASH_FIELDS = 0x8000_01ff;

/** How frames are hashed. */
export interface HashOptions {
  /** HASH_* */
  function: number;
  symmetric: boolean;
  /** SPREAD_* of the fields of the outer and of the inner packet. */
  outer: number;
  inner: number;
  /** Of SPREAD_KEY_SIZE bytes. */
  key: Uint8Array;
}

/** A spread record. It holds nothing: whoever makes it keeps the list alive. */
export class Spread {
  /** The operand of Op.spread. */
  readonly address: number;
  readonly #list: QueueList;

  /** @throws ENOMEM */
  constructor(call: string, list: QueueList, hash: HashOptions) {
    this.#list = list;
    this.address = list.device.allocated(call, createRecord(list.device.core, recordOf(list, hash)));
  }

  release(): void {
    releaseRecord(this.#list.device.core, this.address, SPREAD_SIZE);
  }
}

function recordOf(list: QueueList, hash: HashOptions): Uint8Array {
  const record = new Uint8Array(SPREAD_SIZE);
  const view = new DataView(record.buffer);
  view.setUint8(SPREAD_FUNCTION, hash.function);
  view.setUint8(SPREAD_SYMMETRIC, hash.symmetric ? 1 : 0);
  view.setUint8(SPREAD_OUTER, hash.outer);
  view.setUint8(SPREAD_INNER, hash.inner);
  view.setUint32(SPREAD_QUEUES, list.address, true);
  view.setUint32(SPREAD_MASK, list.length - 1, true);
  record.set(hash.key.subarray(0, SPREAD_KEY_SIZE), SPREAD_KEY);
  return record;
}
