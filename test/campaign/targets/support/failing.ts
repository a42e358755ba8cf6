/** Work on a device, each step of which also runs with allocations of the core that fail. */
import debug from "../../../../build/debug/core.wasm";
import type { Device } from "../../../../src/index.js";
import type { Random } from "../../../oracle/generate/random.js";
import { changesSince, stateOf, type Ran, type State } from "../../../faults/support/everyAllocation.js";
import { Countdown, faultyCore, isFull } from "../../../faults/support/faultyCore.js";
import { Tape } from "./tape.js";

/** Something that a program does. */
export interface Step {
  readonly name: string;
  /** @throws SteeringError, or as `isRefusal` says */
  run(): unknown;
  /** Whether it makes several changes, those before the refused one stay. */
  readonly makesSeveral?: boolean;
  /** Whether it makes objects before it is refused, and destroys them: their numbers stay taken. */
  readonly takesNumbers?: boolean;
  /** Whether the step may end so, whatever its memory. */
  isRefusal(error: unknown): boolean;
}

/** A device, what a program has of it, and what it does next. */
export interface Work {
  readonly device: Device;
  readonly objects: readonly unknown[];
  draw(random: Random): Step;
  /** Takes back all it can, with no memory left. */
  end(): unknown;
}

/** What became of a step. */
interface Failed {
  /** How many allocations failed. */
  readonly failed: number;
  /** Whether it is done, or refused for another reason, as a whole. */
  readonly isWhole: boolean;
  readonly error: string;
}

/** Allocations of a step that fail, one after the other. */
const MAX = 24;
/** More allocations than any step makes. */
export const NEVER = 1_000_000_000;

/** Compiled once: the core with assertions, whose allocations fail on demand. */
export function failingModule(): WebAssembly.Module {
  return new WebAssembly.Module(faultyCore(debug));
}

/** The allocations of a step that are to fail: all, or some of them in order. */
export function drawnAllocations(random: Random, all: number): number[] {
  if (all <= MAX) return Array.from({ length: all }, (_, n) => n + 1);
  return Array.from({ length: MAX }, () => random.between(1, all)).sort((a, b) => a - b);
}

/**
 * Runs steps on a device where nothing fails, and on one where their allocations fail first. Each failure is refused by
 * name and changes nothing, or the step does without; then it ends as on the other device.
 * @returns how many allocations failed
 */
export async function failSteps(open: () => Promise<Work>, random: Random, steps: number): Promise<number> {
  const [whole, failing] = [await open(), await open()];
  let failed = 0;
  let alike = true;
  for (let n = 0; n < steps; n++) {
    const tape = new Tape(random);
    const step = whole.draw(tape);
    const { left, error } = await new Countdown(whole.device).runLater(NEVER, () => step.run());
    if (error !== undefined && !step.isRefusal(error)) throw error as Error;
    tape.rewind();
    const same = failing.draw(tape);
    const done = await failStep(failing, same, drawnAllocations(random, NEVER - left));
    failed += done.failed;
    alike &&= done.isWhole;
    if (alike && done.error !== textOf(error))
      throw new Error(`${step.name}: ${done.error} after failures, ${textOf(error)} without`);
  }
  for (const one of [whole, failing]) {
    one.device.core.exports.limitArena(0);
    await one.end();
    one.device.users = 0;
    one.device.close();
  }
  return failed;
}

/** Runs a step until it ends other than by the allocation that fails. */
async function failStep({ device, objects }: Work, step: Step, allocations: readonly number[]): Promise<Failed> {
  const faults = new Countdown(device);
  let failed = 0;
  let before: State | null = null;
  for (const n of [...allocations, NEVER]) {
    const place = `${step.name}, allocation ${n}`;
    if (n !== NEVER) before = step.takesNumbers === true ? stateOf(device, objects) : stillAs(before, device, objects);
    const ran = await faults.runLater(n, () => step.run());
    const error = textOf(ran.error);
    if (ran.left === 0) failed++;
    if (ran.error === undefined) return { failed, isWhole: ran.left > 0, error };
    if (!step.isRefusal(ran.error)) throw new Error(`${place}: no refusal of this call`, { cause: ran.error });
    // It is refused for another reason, before or after the one that it did without.
    if (ran.left > 0 || !faults.isRefusal(ran.error)) return { failed, isWhole: ran.left > 0, error };
    if (step.makesSeveral === true) return { failed, isWhole: false, error };
    const changed = (before === null ? [] : changesSince(before, device, objects)).filter(
      (one) => step.takesNumbers !== true || !one.startsWith("device._numbers:"),
    );
    if (changed.length > 0) throw new Error(`${place}: ${error}\n${changed.join("\n")}`);
  }
  throw new Error(`${step.name}: more than ${NEVER} allocations`);
}

/** The state of a device whose objects are those of an earlier state: a failure changes none. */
function stillAs(state: State | null, device: Device, objects: readonly unknown[]): State {
  return state === null ? stateOf(device, objects) : { ...state, used: device.memoryUsed };
}

/** Checks that a call was refused for its memory, by its name. */
export function checkRefused(place: string, call: string, { left, error }: Ran): void {
  if (left === 0 && isFull(error) && error.call === call) return;
  throw new Error(`${place}: no refusal that memory is full`, { cause: error });
}

function textOf(error: unknown): string {
  return error === undefined ? "done" : (error as Error).message;
}
