/**
 * The completions of a queue in the memory of its process, where the C library polls them without a call.
 *
 *     | produced 8 | consumed 8 | capacity 8 | next 8 | entries, 80 each |         struct ring of native/flowsteer-verbs.h
 *     | wr_id 8 | cookie 8 | time 8 | status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags,
 *       flow_tag 4 each | pkey_index, slid 2 | sl, dlid_path_bits, received 1 | 0 |  struct entry
 */
import type { WorkCompletion } from "../../verbs/index.js";
import type { ProcessMemory } from "./processMemory.js";

const HEADER = 32;
const ENTRY = 80;
const CONSUMED = 8;
const CAPACITY = 16;
const MAX_CAPACITY = 1 << 22;

/** Whose completion it is: of a send request, of a receive request of a queue pair, of a work queue. */
export type Received = 0 | 1 | 2;

/** A completion with what the C library needs to know of it. */
export interface RingEntry {
  /** What is left out is 0. */
  readonly wc: Partial<WorkCompletion>;
  readonly wr_id: bigint | number;
  /** The address of the queue in the process. */
  readonly cookie: bigint | number;
  readonly received: Received;
  readonly time: bigint;
}

export class CompletionRing {
  readonly #memory: ProcessMemory;
  readonly #address: number;
  readonly #capacity: number;
  readonly #word = new BigUint64Array(1);
  readonly #wordBytes = new Uint8Array(this.#word.buffer);
  /** Entries as they are written; the bytes that nothing is written to are 0. */
  #view = new DataView(new ArrayBuffer(ENTRY));
  #produced = 0;
  #consumed = 0;

  constructor(memory: ProcessMemory, address: number) {
    this.#memory = memory;
    this.#address = address;
    const capacity = this.#readWord(CAPACITY);
    this.#capacity = capacity > 0 && capacity <= MAX_CAPACITY && Number.isInteger(Math.log2(capacity)) ? capacity : 0;
  }

  /** Entries that it has room for. */
  get room(): number {
    const known = this.#capacity - (this.#produced - this.#consumed);
    if (known > 0) return known;
    this.#consumed = Math.min(this.#readWord(CONSUMED), this.#produced);
    return this.#capacity - (this.#produced - this.#consumed);
  }

  /** Entries that the program has not polled yet. */
  get unread(): number {
    if (this.#produced === this.#consumed) return 0;
    this.#consumed = Math.min(this.#readWord(CONSUMED), this.#produced);
    return this.#produced - this.#consumed;
  }

  /** Entries that the program has polled, as far as is known. */
  get consumed(): number {
    return this.#consumed;
  }

  /** Writes entries, for which there must be room, and then their number. */
  push(entries: readonly RingEntry[]): void {
    const length = entries.length * ENTRY;
    if (this.#view.byteLength < length) this.#view = new DataView(new ArrayBuffer(length));
    for (const [i, entry] of entries.entries()) writeEntry(this.#view, i * ENTRY, entry);
    const bytes = new Uint8Array(this.#view.buffer, 0, length);
    const first = this.#produced % this.#capacity;
    const straight = Math.min(entries.length, this.#capacity - first) * ENTRY;
    this.#memory.write(this.#address + HEADER + first * ENTRY, bytes.subarray(0, straight));
    if (straight < length) this.#memory.write(this.#address + HEADER, bytes.subarray(straight));
    this.#produced += entries.length;
    this.#word[0] = BigInt(this.#produced);
    this.#memory.write(this.#address, this.#wordBytes);
  }

  #readWord(at: number): number {
    return this.#memory.read(this.#address + at, this.#wordBytes) ? Number(this.#word[0]) : 0;
  }
}

function writeEntry(view: DataView, at: number, { wc, wr_id, cookie, received, time }: RingEntry): void {
  writeWide(view, at, wr_id);
  writeWide(view, at + 8, cookie);
  writeWide(view, at + 16, time);
  view.setUint32(at + 24, wc.status ?? 0, true);
  view.setUint32(at + 28, wc.opcode ?? 0, true);
  view.setUint32(at + 32, wc.vendor_err ?? 0, true);
  view.setUint32(at + 36, wc.byte_len ?? 0, true);
  view.setUint32(at + 40, wc.imm_data ?? 0, true);
  view.setUint32(at + 44, wc.qp_num ?? 0, true);
  view.setUint32(at + 48, wc.src_qp ?? 0, true);
  view.setUint32(at + 52, wc.wc_flags ?? 0, true);
  view.setUint32(at + 56, wc.flow_tag ?? 0, true);
  view.setUint16(at + 60, wc.pkey_index ?? 0, true);
  view.setUint16(at + 62, wc.slid ?? 0, true);
  view.setUint8(at + 64, wc.sl ?? 0);
  view.setUint8(at + 65, wc.dlid_path_bits ?? 0);
  view.setUint8(at + 66, received);
}

function writeWide(view: DataView, at: number, value: bigint | number): void {
  if (typeof value === "bigint") view.setBigUint64(at, value, true);
  else {
    view.setUint32(at, value >>> 0, true);
    view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
  }
}
