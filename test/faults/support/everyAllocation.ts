/** Every allocation of every call fails once: the call is refused and changes nothing, or does without. */
import { expect } from "vitest";
import type { Device } from "../../../src/index.js";
import { differences, digestOf, objectsIn, type Digest } from "./digest.js";

/** How a call ended, and how many more allocations it would have taken until one fails. */
export interface Ran {
  readonly left: number;
  readonly error: unknown;
}

/** What fails on demand. */
export interface Faults {
  /** Runs a call whose n-th allocation fails, counted from 1. */
  run(n: number, call: () => unknown): Ran;
  /** Whether the error says that there was no memory. */
  isRefusal(error: unknown): boolean;
}

/** A device, and calls in an order in which each succeeds. */
export interface World {
  readonly device: Device;
  readonly calls: readonly Call[];
  /** What frames find after all calls: the same, whatever was refused before. */
  probe?(): unknown;
  /** Takes back what the calls made, with no memory left. */
  end?(): void;
}

export interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
  /** Whether an error may leave its message unfinished, which the next one then finishes (docs/queues.md). */
  readonly isMessage?: boolean;
  run(): unknown;
}

/**
 * Bytes that a refused rule may leave to its table: the table gathers more bytes of the key than before, or has room for
 * more tuples, until it is destroyed or a later rule uses them (assembly/classify/definer.ts).
 */
const WIDENED = 1024;

/** How often a call was refused, and how often it did without what it asked for. */
export interface Failures {
  refused: number;
  without: number;
}

/**
 * Fails the first allocation of each call, then the second, until it makes fewer. A refused call is made again:
 * the world is as before. After one that did without, the next allocation of this call fails in a new world.
 */
export async function failEveryAllocation(
  open: () => Promise<World>,
  faultsOf: (device: Device) => Faults,
): Promise<Map<string, Failures>> {
  const first = await open();
  const { failing, expected } = undisturbed(first, faultsOf(first.device));
  const next = new Map(failing.map((name) => [name, 1]));
  const failures = new Map(failing.map((name) => [name, { refused: 0, without: 0 }]));
  for (let worlds = 0; next.size > 0; worlds++) {
    expect(worlds, `worlds until all is done: ${[...next.keys()].join(", ")}`).toBeLessThan(MAX_WORLDS);
    const world = await open();
    const objects = [...objectsIn(world.calls.map(({ args }) => args))];
    for (const call of world.calls) {
      const counts = failures.get(call.name);
      if (counts === undefined || !next.has(call.name)) call.run();
      else failIn({ faults: faultsOf(world.device), device: world.device, objects }, call, next, counts);
    }
    expect(ended(world)).toEqual(expected);
  }
  return failures;
}

/** Fails the next allocations of a call until it succeeds, and takes it from the list if it made fewer. */
function failIn(
  { faults, device, objects }: { faults: Faults; device: Device; objects: readonly object[] },
  call: Call,
  next: Map<string, number>,
  counts: Failures,
): void {
  for (;;) {
    const n = next.get(call.name) ?? 1;
    const place = `${call.name}, allocation ${n}`;
    const before = stateOf(device, objects);
    const ran = faults.run(n, () => call.run());
    const { left, error } = ran;
    if (left > 0 && error === undefined) {
      next.delete(call.name);
      return;
    }
    next.set(call.name, n + 1);
    if (error === undefined) {
      counts.without++;
      return;
    }
    counts.refused++;
    checkRefusal(place, faults, ran);
    const changed = changesSince(before, device, objects);
    if (changed.length > 0 && call.isMessage === true) return;
    expect(changed, place).toEqual([]);
  }
}

/** Checks that a call ended at the allocation that failed, and says so. */
export function checkRefusal(place: string, faults: Faults, { left, error }: Ran): void {
  if (left > 0 || !faults.isRefusal(error))
    throw new Error(`${place}: the error does not say that memory is full: ${String(error)}`, { cause: error });
}

/** What a refused call has to leave as it is. */
export interface State {
  readonly used: number;
  readonly digest: Digest;
}

export function stateOf(device: Device, objects: readonly unknown[]): State {
  return { used: device.memoryUsed, digest: digestOf(device, objects) };
}

/** What is not as before, as text: objects, and memory that was kept. */
export function changesSince({ used, digest }: State, device: Device, objects: readonly unknown[]): string[] {
  const kept = device.memoryUsed - used;
  const changed = differences(digest, digestOf(device, objects));
  return kept > WIDENED ? [`${kept} bytes are kept`, ...changed] : changed;
}

/** A world in which nothing fails: its calls that allocate, and its end. */
function undisturbed(world: World, faults: Faults): { failing: string[]; expected: unknown } {
  const failing = world.calls.filter((call) => {
    const { left, error } = faults.run(NEVER, () => call.run());
    expect(error, call.name).toBeUndefined();
    return left < NEVER;
  });
  return { failing: failing.map(({ name }) => name), expected: ended(world) };
}

/** What frames find, and the memory in use when all is taken back, for which there need be no memory. */
function ended(world: World): unknown {
  const found = world.probe?.();
  world.device.core.exports.limitArena(0);
  world.end?.();
  return { found, memory: world.end === undefined ? null : world.device.memoryUsed };
}

const MAX_WORLDS = 1000;
const NEVER = 1_000_000;
