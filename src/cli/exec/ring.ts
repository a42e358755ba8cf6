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
    const bytes = new Uint8Array(entries.length * ENTRY);
    entries.forEach((entry, i) => writeEntry(new DataView(bytes.buffer, i * ENTRY, ENTRY), entry));
    const first = this.#produced % this.#capacity;
    const straight = Math.min(entries.length, this.#capacity - first) * ENTRY;
    this.#memory.write(this.#address + HEADER + first * ENTRY, bytes.subarray(0, straight));
    if (straight < bytes.length) this.#memory.write(this.#address + HEADER, bytes.subarray(straight));
    this.#produced += entries.length;
    this.#word[0] = BigInt(this.#produced);
    this.#memory.write(this.#address, new Uint8Array(this.#word.buffer));
  }

  #readWord(at: number): number {
    return this.#memory.read(this.#address + at, new Uint8Array(this.#word.buffer)) ? Number(this.#word[0]) : 0;
  }
}

function writeEntry(view: DataView, { wc, wr_id, cookie, received, time }: RingEntry): void {
  view.setBigUint64(0, BigInt.asUintN(64, BigInt(wr_id)), true);
  view.setBigUint64(8, BigInt(cookie), true);
  view.setBigUint64(16, time, true);
  const { status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags, flow_tag } = wc;
  const { pkey_index = 0, slid = 0, sl = 0, dlid_path_bits = 0 } = wc;
  [status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags, flow_tag].forEach((value, i) =>
    view.setUint32(24 + 4 * i, value ?? 0, true),
  );
  view.setUint16(60, pkey_index, true);
  view.setUint16(62, slid, true);
  view.setUint8(64, sl);
  view.setUint8(65, dlid_path_bits);
  view.setUint8(66, received);
}
