/** The memory of a process, which the host reads and writes as a NIC does by DMA: proc(5), /proc/PID/mem. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";

export class ProcessMemory {
  readonly #file: number;

  /** @throws an error of the system: the kernel does not allow it (ptrace(2)) */
  constructor(pid: number) {
    this.#file = openSync(`/proc/${pid}/mem`, "r+");
  }

  /** Fills `bytes` from this address on. @returns false where the process has no such memory */
  read(address: number, bytes: Uint8Array): boolean {
    return all(bytes.length, (at) => readSync(this.#file, bytes, at, bytes.length - at, address + at));
  }

  /** @returns false where the process has no such memory, or has ended */
  write(address: number, bytes: Uint8Array): boolean {
    return all(bytes.length, (at) => writeSync(this.#file, bytes, at, bytes.length - at, address + at));
  }

  close(): void {
    closeSync(this.#file);
  }
}

function all(length: number, some: (at: number) => number): boolean {
  try {
    for (let at = 0; at < length;) {
      const moved = some(at);
      if (moved === 0) return false;
      at += moved;
    }
    return true;
  } catch {
    return false;
  }
}
