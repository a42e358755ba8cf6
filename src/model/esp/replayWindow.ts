/**
 * Replay windows (RFC 6479; src/abi/esp.ts): rings of bits in the core, with one 64-bit word more
 * than the window needs. A set bit marks a number that was seen. In the word of the highest number,
 * the bits above it are 0. The core clears a word when it reaches it.
 */
import type { Core } from "../../engine/core.js";
import { createRoom, recordBytes, releaseRoom } from "../../engine/records.js";

const WORD = 64;

export class ReplayWindow {
  readonly size: number;
  readonly address: number;
  /** Words minus one: the number of words is a power of two. */
  readonly last: number;
  private readonly _core: Core;

  private constructor(core: Core, size: number, last: number, address: number) {
    this._core = core;
    this.size = size;
    this.last = last;
    this.address = address;
  }

  /** Allocates a window; null when memory is full. */
  static create(core: Core, size: number): ReplayWindow | null {
    const words = 2 ** Math.ceil(Math.log2(Math.ceil(size / WORD) + 1));
    const address = createRoom(core, (words * WORD) / 8);
    return address === 0 ? null : new ReplayWindow(core, size, words - 1, address);
  }

  release(): void {
    releaseRoom(this._core, this.address, this._bits / 8);
  }

  /**
   * Accepts all numbers from `first` on and none before; not `first` itself where it was `seen`.
   */
  begin(first: bigint, seen = false): void {
    const ring = this._ring;
    ring.fill(0xff);
    const from = this._place(first);
    for (let bit = from; bit === from || bit % WORD !== 0; bit++) clear(ring, bit);
    if (seen) set(ring, from);
  }

  /** Copies from `old` the numbers up to `top`; older numbers count as seen. */
  follow(old: ReplayWindow, top: bigint): void {
    this.begin(top);
    const ring = this._ring;
    const known = old._ring;
    const [to, from] = [this._place(top), old._place(top)];
    const count = Math.min(this.size, old.size);
    for (let back = 0; back < count; back++) {
      const bit = (to - back + this._bits) % this._bits;
      if (has(known, (from - back + old._bits) % old._bits)) set(ring, bit);
      else clear(ring, bit);
    }
  }

  private get _bits(): number {
    return (this.last + 1) * WORD;
  }

  /** A view that is valid until the core's memory grows. */
  private get _ring(): Uint8Array {
    return recordBytes(this._core, this.address, this._bits / 8);
  }

  private _place(number: bigint): number {
    return Number(number % BigInt(this._bits));
  }
}

function has(ring: Uint8Array, bit: number): boolean {
  return (((ring[bit >> 3] ?? 0) >> (bit & 7)) & 1) !== 0;
}

function set(ring: Uint8Array, bit: number): void {
  ring[bit >> 3] = (ring[bit >> 3] ?? 0) | (1 << (bit & 7));
}

function clear(ring: Uint8Array, bit: number): void {
  ring[bit >> 3] = (ring[bit >> 3] ?? 0) & ~(1 << (bit & 7));
}
