/** Numbers and windows of ESP without ciphers: a module of the core's sources with an entry that the core does not have. */
import { ESP_NUMBER, ESP_SIZE, ESP_WINDOW, ESP_WINDOW_SIZE, ESP_WINDOW_WORDS } from "../../../../src/abi/esp.js";
import type { Core } from "../../../../src/engine/core.js";
import { ReplayWindow } from "../../../../src/model/esp/replayWindow.js";
import { compile } from "../../crypto/support/compile.js";

const ENTRY = "test/assembly/esp/support/replayWindowEntry.ts";
/** As assembly/esp/decrypt.ts asks in front of a packet's authentication and notes behind it. */
const SOURCE = `
  import { Reason } from "../../../../src/abi/outcome";
  import { infer, isBelowZero, windowCheck, windowNote } from "../../../../assembly/esp/replayWindow";

  memory.grow(64);

  export function arrive(association: usize, extended: bool, slots: usize, count: u32): void {
    for (let i: u32 = 0; i < count; i++) {
      const slot = slots + ((<usize>i) << 4);
      const low = load<u32>(slot);
      const below = extended && isBelowZero(association, low);
      const number = extended ? infer(association, low) : <u64>low;
      const reason = below ? Reason.esp_replay : windowCheck(association, number);
      if (reason == Reason.none && load<u32>(slot, 4) != 0) windowNote(association, number);
      store<u32>(slot, reason);
      store<u32>(slot, below, 4);
      store<u64>(slot, number, 8);
    }
  }
`;

interface Exports {
  memory: WebAssembly.Memory;
  /** Slots of 16 bytes: | lower half 4 | authentic 4 | 8 |; then | reason 4 | below 0: 1 | number 8 |. */
  arrive(association: number, extended: boolean, slots: number, count: number): void;
}

/** Where things lie: behind the static data of the module. */
const ASSOCIATION = 0x8000;
const RINGS = 0x10000;
const SLOTS = 0x100000;
/** Around each ring, where nobody writes. */
const GUARD = 256;
const UNTOUCHED = 0xa5;

export interface Arrival {
  low: number;
  /** Whether its ICV turns out to be right. */
  authentic: boolean;
}

export interface Verdict {
  /** Of `Reason`. */
  reason: number;
  /** null: it would lie below 0. */
  number: bigint | null;
}

export class NumbersCore {
  readonly #exports: Exports;
  #window: ReplayWindow | null = null;
  #rings = RINGS;

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  static async make(): Promise<NumbersCore> {
    const { instance } = await WebAssembly.instantiate(await compile(ENTRY, { [ENTRY]: SOURCE }));
    return new NumbersCore(instance.exports as unknown as Exports);
  }

  get highest(): bigint {
    return this.#view.getBigUint64(ASSOCIATION + ESP_NUMBER, true);
  }

  /** A new association; `size` null: without a window. */
  begin(first: bigint, size: number | null): void {
    this.#bytes.fill(0, ASSOCIATION, ASSOCIATION + ESP_SIZE);
    this.#view.setBigUint64(ASSOCIATION + ESP_NUMBER, first, true);
    this.#rings = RINGS;
    this.#window = size === null ? null : this.#windowOf(size);
    this.#window?.begin(first);
    this.#use();
  }

  /** The window gets another size. */
  resize(size: number): void {
    const old = this.#window;
    if (old === null) throw new Error("there is no window");
    this.#window = this.#windowOf(size);
    this.#window.follow(old, this.highest);
    this.#use();
  }

  arrive(arrivals: readonly Arrival[], extended: boolean): Verdict[] {
    const view = this.#view;
    for (const [i, { low, authentic }] of arrivals.entries()) {
      view.setUint32(SLOTS + 16 * i, low, true);
      view.setUint32(SLOTS + 16 * i + 4, authentic ? 1 : 0, true);
    }
    this.#exports.arrive(ASSOCIATION, extended, SLOTS, arrivals.length);
    return arrivals.map((_, i) => {
      const slot = SLOTS + 16 * i;
      const below = view.getUint32(slot + 4, true) !== 0;
      return { reason: view.getUint32(slot, true), number: below ? null : view.getBigUint64(slot + 8, true) };
    });
  }

  /** Whether the bytes around the window in use are as they were. */
  get guarded(): boolean {
    if (this.#window === null) return true;
    const { address, last } = this.#window;
    const end = address + (last + 1) * 8;
    const around = [this.#bytes.subarray(address - GUARD, address), this.#bytes.subarray(end, end + GUARD)];
    return around.every((bytes) => bytes.every((byte) => byte === UNTOUCHED));
  }

  /** The host's window, in memory of this module. */
  #windowOf(size: number): ReplayWindow {
    const core = { u8: this.#bytes, exports: { createCounters: (units: number) => this.#room(16 * units) } };
    return ReplayWindow.create(core as unknown as Core, size) as ReplayWindow;
  }

  #room(bytes: number): number {
    const at = this.#rings + GUARD;
    this.#rings = at + bytes + GUARD;
    if (this.#rings > SLOTS) throw new Error("more windows than there is room for");
    this.#bytes.fill(UNTOUCHED, at - GUARD, this.#rings).fill(0, at, at + bytes);
    return at;
  }

  #use(): void {
    const { address = 0, size = 0, last = 0 } = this.#window ?? {};
    this.#view.setUint32(ASSOCIATION + ESP_WINDOW, address, true);
    this.#view.setUint32(ASSOCIATION + ESP_WINDOW_SIZE, size, true);
    this.#view.setUint32(ASSOCIATION + ESP_WINDOW_WORDS, last, true);
  }

  get #bytes(): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer);
  }

  get #view(): DataView {
    return new DataView(this.#exports.memory.buffer);
  }
}
