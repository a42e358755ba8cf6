/** Every allocation of every call fails once: the call is refused and changes nothing, or does without. */
import { expect } from "vitest";
import { SteeringError, type Device } from "../../../src/index.js";
import { differences, digestOf, objectsIn } from "./digest.js";
import { Countdown } from "./faultyCore.js";

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
export async function failEveryAllocation(open: () => Promise<World>): Promise<Map<string, Failures>> {
  const { failing, expected } = undisturbed(await open());
  const next = new Map(failing.map((name) => [name, 1]));
  const failures = new Map(failing.map((name) => [name, { refused: 0, without: 0 }]));
  for (let worlds = 0; next.size > 0; worlds++) {
    expect(worlds, `worlds until all is done: ${[...next.keys()].join(", ")}`).toBeLessThan(MOST_WORLDS);
    const world = await open();
    const objects = [...objectsIn(world.calls.map(({ args }) => args))];
    for (const call of world.calls) {
      const counts = failures.get(call.name);
      if (counts === undefined || !next.has(call.name)) call.run();
      else failIn(world.device, objects, call, next, counts);
    }
    expect(ended(world)).toEqual(expected);
  }
  return failures;
}

/** Fails the next allocations of a call until it succeeds, and takes it from the list if it made fewer. */
function failIn(
  device: Device,
  objects: readonly object[],
  call: Call,
  next: Map<string, number>,
  counts: Failures,
): void {
  const countdown = new Countdown(device);
  for (;;) {
    const n = next.get(call.name) ?? 1;
    const place = `${call.name}, allocation ${n}`;
    const used = device.memoryUsed;
    const before = digestOf(device, objects);
    const { left, error } = countdown.run(n, () => call.run());
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
    const { message } = error as Error;
    expect(left, `${place}: ${message}`).toBe(0);
    expect(error, place).toBeInstanceOf(SteeringError);
    // A device command says it by its status and syndrome.
    expect(message, place).toMatch(/ENOMEM|the device has no memory left/);
    expect(device.memoryUsed - used, place).toBeLessThanOrEqual(WIDENED);
    expect(differences(before, digestOf(device, objects)), place).toEqual([]);
  }
}

/** A world in which nothing fails: its calls that allocate, and its end. */
function undisturbed(world: World): { failing: string[]; expected: unknown } {
  const countdown = new Countdown(world.device);
  const failing = world.calls.filter((call) => {
    const { left, error } = countdown.run(NEVER, () => call.run());
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

const MOST_WORLDS = 100;
const NEVER = 1_000_000;
