/** Weeks in the life of a device: what can come and go does, while frames arrive and time jumps. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createDevice, SteeringError, type Device } from "../../../src/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import type { Random } from "../../oracle/generate/random.js";
import type { Target } from "../target.js";
import { type Ground, groundOf, KINDS, type Kind, Missing, type Pick, rule, type Used } from "./support/kinds.js";

const WEEK = 7n * 24n * 3600n * 1_000_000_000n;
/** Steps of a week. In each, some objects come or go, frames arrive, and time passes. */
const STEPS = 400;
/** Objects of a kind that are there at a time; rules have more. */
const MAX = 12;
const MAX_RULES = 3000;
const RULES_A_STEP = 120;
const FRAMES_A_STEP = 8;
/** Weeks until memory is as large as it becomes, and weeks between two looks. */
const WARM = 8;
const BETWEEN = 8;
/** What a heap may have more than at the first look: bytes. */
const NOISE = 4e6;

export const soak: Target = {
  name: "soak",
  about:
    "weeks of a device: queues, tables, matchers, actions, flows, rules and the objects of device commands come and go in " +
    "any order while frames arrive and time jumps; at the end of each week all memory is free, and neither the linear " +
    "memory nor the heap grows from week to week",
  unit: "created and destroyed",
  guide: "host",
  open: async () => {
    const ground = groundOf(await createDevice());
    const growth = new Growth(ground.device);
    const made = new Set<Kind<Used>>();
    let weeks = 0;
    return (random) => {
      const done = new Week(ground, random, made).live();
      const never = KINDS.filter((kind) => !made.has(kind)).map(({ name }) => name);
      // A kind that is always refused would be tested no more.
      if (++weeks >= WARM && never.length > 0) throw new Error(`never made in ${weeks} weeks: ${never.join(", ")}`);
      growth.look(weeks);
      return done;
    };
  },
};

class Week {
  readonly #ground: Ground;
  readonly #random: Random;
  readonly #made: Set<Kind<Used>>;
  readonly #live = new Map<Kind<Used>, Used[]>(KINDS.map((kind) => [kind, []]));
  /** Creations and destructions. */
  #done = 0;

  /** @param made gets the kinds of which one was made */
  constructor(ground: Ground, random: Random, made: Set<Kind<Used>>) {
    this.#ground = ground;
    this.#random = random;
    this.#made = made;
  }

  /** @returns creations and destructions */
  live(): number {
    const { device, context, pd, cq, rx } = this.#ground;
    const before = { memory: device.memoryUsed, users: [context, pd, cq, rx].map(({ users }) => users) };
    const end = device.now() + WEEK;
    for (let step = 0; step < STEPS; step++) {
      this.#comeAndGo();
      this.#receive();
      device.advanceTo(device.now() + ((end - device.now()) * BigInt(this.#random.below(64))) / BigInt(32 * STEPS));
    }
    device.advanceTo(end);
    this.#empty();
    expectSame("bytes in use", device.memoryUsed, before.memory);
    expectSame("users", [context, pd, cq, rx].map(({ users }) => users).join(" "), before.users.join(" "));
    return this.#done;
  }

  #comeAndGo(): void {
    const random = this.#random;
    for (const kind of KINDS) {
      const most = kind === rule ? RULES_A_STEP : 2;
      for (let left = random.below(most + 1); left > 0; left--) {
        const { length } = this.#all(kind);
        if (random.below(kind === rule ? MAX_RULES : MAX) < length) this.#destroyOne(kind);
        else this.#makeOne(kind);
      }
    }
  }

  #all<T extends Used>(kind: Kind<T>): T[] {
    return this.#live.get(kind) as T[];
  }

  readonly #pick: Pick = (kind) => {
    const all = this.#all(kind);
    if (all.length === 0) throw new Missing();
    return this.#random.pick(all);
  };

  /** What cannot be made with the objects that were drawn is refused. */
  #makeOne(kind: Kind<Used>): void {
    try {
      this.#all(kind).push(kind.make(this.#ground, this.#random, this.#pick));
      this.#made.add(kind);
      this.#done++;
    } catch (error) {
      if (!(error instanceof Missing || error instanceof SteeringError)) throw error;
    }
  }

  /** Destroys one that is not in use; one that is stays. */
  #destroyOne(kind: Kind<Used>): void {
    const all = this.#all(kind);
    const at = this.#random.below(all.length);
    const one = all[at]!;
    const isBusy = one.users > 0;
    if (isBusy && this.#random.chance(0.9)) return;
    try {
      kind.destroy(one);
    } catch (error) {
      if (isBusy && error instanceof SteeringError && error.code === "EBUSY") return;
      throw error;
    }
    all[at] = all.at(-1)!;
    all.pop();
    this.#done++;
  }

  #receive(): void {
    const random = this.#random;
    for (let left = random.below(FRAMES_A_STEP); left > 0; left--) {
      const frame = ipv4Frame({ protocol: random.pick([6, 17]), dst: [10, 0, random.below(4), random.below(256)] });
      this.#ground.device.receive(1, random.chance(0.05) ? frame.subarray(0, random.below(64)) : frame);
    }
  }

  /** Destroys everything: users before what they use, where they are of different kinds. */
  #empty(): void {
    for (let left = Infinity; left > 0;) {
      const before = left;
      left = 0;
      for (const kind of [...KINDS].reverse()) {
        for (let tries = 4 * this.#all(kind).length; tries > 0 && this.#all(kind).length > 0; tries--)
          this.#destroyOne(kind);
        left += this.#all(kind).length;
      }
      if (left !== before) continue;
      const kept = KINDS.filter((kind) => this.#all(kind).length > 0).map(({ name }) => name);
      throw new Error(`${left} objects cannot be destroyed: ${kept.join(", ")}`);
    }
  }
}

/** Watches the memory of a device and of the process. */
class Growth {
  readonly #device: Device;
  #first: { readonly heap: number; readonly linear: number } | null = null;

  constructor(device: Device) {
    this.#device = device;
  }

  /** Call it after each week. @throws Error memory has grown */
  look(weeks: number): void {
    if (weeks < WARM || weeks % BETWEEN !== 0) return;
    collectGarbage();
    const heap = process.memoryUsage().heapUsed;
    const linear = this.#device.core.exports.memory.buffer.byteLength;
    this.#first ??= { heap, linear };
    const { heap: was, linear: hadLinear } = this.#first;
    if (heap > was + NOISE) throw new Error(`the heap has ${heap} bytes after ${weeks} weeks, ${was} before`);
    if (linear > 2 * hadLinear)
      throw new Error(`linear memory has ${linear} bytes after ${weeks} weeks, ${hadLinear} before`);
  }
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
})();

function expectSame<T>(what: string, found: T, expected: T): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)}, not ${String(expected)}`);
}
