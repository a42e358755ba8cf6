/** Allocations of the host that fail on demand: typed arrays, buffers and their copies throw as engines do. */
import type { Faults, Ran } from "./everyAllocation.js";

const TYPES = [
  ...["ArrayBuffer", "Uint8Array", "Uint16Array", "Uint32Array", "Int8Array", "Int16Array", "Int32Array"],
  ...["Float64Array", "BigUint64Array", "BigInt64Array"],
] as const;

type Constructor = new (...args: unknown[]) => object;

export class HostMemory implements Faults {
  private _left = 0;
  private readonly _restore: (() => void)[] = [];

  /** Puts itself before the constructors of this process, until `close`. */
  constructor() {
    const globals = globalThis as unknown as Record<string, Constructor | undefined>;
    for (const name of TYPES) {
      const real = globals[name];
      if (real === undefined) throw new Error(`no ${name}`);
      globals[name] = new Proxy<Constructor>(real, {
        construct: (target, args: unknown[], newTarget: Constructor) => {
          // A view of a buffer that is there allocates nothing that counts.
          if (!(args[0] instanceof ArrayBuffer || args[0] instanceof SharedArrayBuffer)) this._count();
          return Reflect.construct<unknown[], object>(target, args, newTarget);
        },
      });
      this._restore.push(() => (globals[name] = real));
    }
    for (const prototype of [Object.getPrototypeOf(Uint8Array.prototype) as object, ArrayBuffer.prototype]) {
      const owner = prototype as unknown as { slice: (...args: unknown[]) => unknown };
      const { slice } = owner;
      const count = (): void => this._count();
      owner.slice = function (this: unknown, ...args: unknown[]) {
        count();
        return slice.apply(this, args);
      };
      this._restore.push(() => (owner.slice = slice));
    }
  }

  run(n: number, call: () => unknown): Ran {
    this._left = n;
    let error: unknown;
    try {
      call();
    } catch (caught) {
      error = caught;
    }
    const left = this._left;
    this._left = 0;
    return { left, error };
  }

  isRefusal(error: unknown): boolean {
    return error instanceof RangeError && error.message === FAILED;
  }

  close(): void {
    for (const one of this._restore) one();
  }

  private _count(): void {
    if (this._left > 0 && --this._left === 0) throw new RangeError(FAILED);
  }
}

const FAILED = "Array buffer allocation failed";
