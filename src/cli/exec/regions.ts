/** Registered memory of a process: the host has a copy, of which only what a request names is up to date. */
import type { MessageReader } from "../../calls/index.js";
import type { MemoryRegion, ScatterEntry } from "../../verbs/index.js";
import type { ProcessMemory } from "./processMemory.js";

type Memory = Pick<ProcessMemory, "read" | "write">;

interface Region {
  readonly bytes: Uint8Array;
  /** Where the process has it, and what addresses requests use. */
  readonly address: number;
  readonly iova: number;
}

/** A part of a request: the copy, and where the process has it. */
export interface Part {
  readonly view: Uint8Array;
  readonly address: number;
}

/** Stands for memory of a request that is not of its region: the model refuses it, and neither reads nor writes it. */
const OUTSIDE = new Uint8Array(1 << 24);

export function isOutside({ buffer }: Uint8Array): boolean {
  return buffer === OUTSIDE.buffer;
}

export class Regions {
  readonly #memory: Memory;
  readonly #regions = new Map<number, Region>();
  readonly #keys = new Map<object, number>();
  /** What peers have written. */
  #changed: Part[] = [];
  /** What has arrived for completions that the process gets next, by address: a buffer may have been used again. */
  readonly #arrived = new Map<number, Uint8Array>();
  /** The copy that these bytes are in: another may be of the same memory. */
  #copy: ArrayBufferLike | null = null;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  add(mr: Pick<MemoryRegion, "lkey" | "backing">, region: Region): void {
    this.#regions.set(mr.lkey, region);
    this.#keys.set(mr, mr.lkey);
    mr.backing = {
      load: (at, length) => {
        this.storeChanges();
        this.#memory.read(region.address + at, region.bytes.subarray(at, at + length));
      },
      changes: (at, length) =>
        this.#changed.push({ view: region.bytes.subarray(at, at + length), address: region.address + at }),
    };
  }

  /** An object is gone. */
  forget(object: object): void {
    const lkey = this.#keys.get(object);
    if (lkey !== undefined) this.#regions.delete(lkey);
    this.#keys.delete(object);
  }

  /** Whether peers have written what the process does not have yet. */
  get changed(): boolean {
    return this.#changed.length > 0;
  }

  storeChanges(): void {
    for (const { view, address } of this.#changed) this.#memory.write(address, view);
    this.#changed = [];
  }

  /** Keeps bytes of a completion for the process. */
  arrived(parts: readonly Part[], length: number): void {
    let left = length;
    for (const { view, address } of parts) {
      const size = Math.min(view.length, left);
      if (view.buffer !== this.#copy) this.storeArrived();
      this.#copy = view.buffer;
      if (size > (this.#arrived.get(address)?.length ?? 0)) this.#arrived.set(address, view.subarray(0, size));
      left -= size;
    }
  }

  storeArrived(): void {
    for (const [address, view] of this.#arrived) this.#memory.write(address, view);
    this.#arrived.clear();
  }

  /** Reads the entries of a request: `| count 4 |`, then `| address 8 | length 4 | lkey 4 |` each. */
  entries(reader: MessageReader): { list: ScatterEntry[]; parts: Part[] } {
    const list: ScatterEntry[] = [];
    const parts: Part[] = [];
    for (let count = reader.u32(); count > 0; count--) {
      const address = Number(reader.u64());
      const length = reader.u32();
      const lkey = reader.u32();
      const region = this.#regions.get(lkey);
      const at = region === undefined ? -1 : address - region.iova;
      const inside = region !== undefined && at >= 0 && at + length <= region.bytes.length;
      const view = inside ? region.bytes.subarray(at, at + length) : OUTSIDE.subarray(0, length);
      list.push({ addr: view, length: view.length, lkey });
      parts.push({ view, address: region === undefined ? address : region.address + at });
    }
    return { list, parts };
  }
}
