/**
 * A core whose allocations fail on demand. Each function that gives out memory first counts down a global,
 * which the module exports, and gives none when it comes to 0.
 */
import {
  bodyOf,
  CODE,
  CUSTOM,
  EXPORTS,
  GLOBALS,
  IMPORTS,
  KIND_GLOBAL,
  leb,
  longer,
  nameBytes,
  Reader,
  sectionsOf,
  withSections,
  type Section,
} from "../../../src/engine/sections.js";
import { joined } from "../../../src/base/bytes.js";
import { SteeringError } from "../../../src/index.js";
import type { Faults, Ran } from "./everyAllocation.js";

/** The functions of assembly/arena.ts that give out memory; all return 0 when there is none. */
const GIVING = ["allocate", "reserve", "lend", "extendLoan"].map((name) => `assembly/arena/${name}`);
const COUNTDOWN = "countdown";
const I32 = 0x7f;
const FUNCTION_NAMES = 1;

/** @param module a core with the names of its functions */
export function faultyCore(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const sections = sectionsOf(module);
  const globals = bodyOf(sections, GLOBALS);
  const countdown = new Reader(globals).number();
  const imported = new Reader(bodyOf(sections, IMPORTS)).number();
  const changed = new Set(functionsNamed(sections, GIVING).map((index) => index - imported));
  const code = functionBodies(bodyOf(sections, CODE)).map((body, n) =>
    changed.has(n) ? counting(body, countdown) : body,
  );
  return withSections(
    module,
    sections,
    new Map([
      [GLOBALS, longer(globals, 1, [I32, 1, 0x41, 0, 0x0b])],
      [EXPORTS, longer(bodyOf(sections, EXPORTS), 1, [...nameBytes(COUNTDOWN), KIND_GLOBAL, ...leb(countdown)])],
      [
        CODE,
        joined(Uint8Array.from(leb(code.length)), ...code.flatMap((one) => [Uint8Array.from(leb(one.length)), one])),
      ],
    ]),
  );
}

/** The countdown of a core that `faultyCore` made. */
export class Countdown implements Faults {
  private readonly _left: WebAssembly.Global<"i32">;

  constructor(device: { readonly core: { readonly exports: object } }) {
    this._left = (device.core.exports as Record<string, unknown>)[COUNTDOWN] as WebAssembly.Global<"i32">;
  }

  run(n: number, call: () => unknown): Ran {
    this.start(n);
    let error: unknown;
    try {
      call();
    } catch (caught) {
      error = caught;
    }
    return { left: this.stop(), error };
  }

  /** As `run`, for a call that may end later. */
  async runLater(n: number, call: () => unknown): Promise<Ran> {
    this.start(n);
    let error: unknown;
    try {
      await call();
    } catch (caught) {
      error = caught;
    }
    return { left: this.stop(), error };
  }

  /** The n-th allocation from now on fails. */
  start(n: number): void {
    this._left.value = n;
  }

  /** No allocation fails any more. @returns how many more it would have taken */
  stop(): number {
    const left = this._left.value;
    this._left.value = 0;
    return left;
  }

  isRefusal(error: unknown): boolean {
    return isFull(error);
  }
}

/** Whether an error says that the memory of the device is full. */
export function isFull(error: unknown): error is SteeringError {
  // A device command says it by its status and syndrome.
  return error instanceof SteeringError && /ENOMEM|the device has no memory left/.test(error.message);
}

/** The numbers of functions by their names in the name section. */
function functionsNamed(sections: readonly Section[], names: readonly string[]): number[] {
  for (const { id, body } of sections) {
    const reader = new Reader(body);
    if (id !== CUSTOM || textOf(reader) !== "name") continue;
    while (reader.at < body.length) {
      const [kind, length] = [reader.number(), reader.number()];
      if (kind !== FUNCTION_NAMES) {
        reader.take(length);
        continue;
      }
      const found = new Map<string, number>();
      for (let left = reader.number(); left > 0; left--) {
        const index = reader.number();
        found.set(textOf(reader), index);
      }
      return names.map((name) => {
        const index = found.get(name);
        if (index === undefined) throw new Error(`the core has no function ${name}`);
        return index;
      });
    }
  }
  throw new Error("the core has no names");
}

function functionBodies(code: Uint8Array): Uint8Array[] {
  const reader = new Reader(code);
  return Array.from({ length: reader.number() }, () => reader.take(reader.number()));
}

function textOf(reader: Reader): string {
  return Buffer.from(reader.take(reader.number())).toString("latin1");
}

/** A function that returns 0 when the countdown comes to 0. A countdown of 0 stands still. */
function counting(body: Uint8Array, countdown: number): Buffer {
  const reader = new Reader(body);
  for (let left = reader.number(); left > 0; left--) {
    reader.number();
    reader.number();
  }
  const global = leb(countdown);
  const get = [0x23, ...global];
  return Buffer.concat([
    body.subarray(0, reader.at),
    // if (countdown) { countdown--; if (countdown == 0) return 0; }
    Buffer.from([...get, 0x04, 0x40, ...get, 0x41, 1, 0x6b, 0x24, ...global]),
    Buffer.from([...get, 0x45, 0x04, 0x40, 0x41, 0, 0x0f, 0x0b, 0x0b]),
    body.subarray(reader.at),
  ]);
}
