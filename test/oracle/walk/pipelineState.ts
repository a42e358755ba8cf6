// Reference of the state of direct rules: meters, first-hit flags, connections, frame numbers; and
// the values that stateful actions write into registers (docs/state.md).

import { type Tracked, trackReference } from "../act/connection.js";
import { GREEN, type Meter, UNDEFINED, colour, costOf } from "../act/meter.js";
import { type Registers } from "../act/modifyHeader.js";
import { type Frame } from "../act/rewrite.js";
import { isSampled } from "../act/sampler.js";

export interface PipelineState {
  seed: bigint;
  /** The clock of the device. */
  now: bigint;
  /** Number of frames received or sent so far: the number of the next frame. */
  frames: bigint;
  /** Of the current frame. */
  frame: { number: bigint; time: bigint };
  /** Number of samplers created. */
  samplers: bigint;
  /** Those of objects and those of actions. */
  meters: Map<string, Meter>;
  flags: boolean[];
  connections: Tracked[];
  /** Number of each result of each kind of action. */
  told: Map<string, number>;
}

export function newState(seed = 0n): PipelineState {
  const frame = { number: 0n, time: 0n };
  const [meters, told] = [new Map<string, Meter>(), new Map<string, number>()];
  return { seed, now: 0n, frames: 0n, frame, samplers: 0n, meters, flags: [], connections: [], told };
}

/** Common part of stateful actions: the number of their register C. */
interface Told {
  register: number;
}

export type StateStep =
  | ({ kind: "firstHit"; flag: number; set: boolean } & Told)
  | ({ kind: "meter"; meter: string; start: number } & Told)
  /** `linked`: through an ASO link between domains, which the device is told of. */
  | ({ kind: "track"; connection: number; original: boolean; linked?: boolean } & Told);

/** Kind of a stateful action; the flow meter counts as the meter of an object. */
type Teller = StateStep | ({ kind: "flowMeter"; meter: string; start: number } & Told);

/** A frame is received or sent; without its own time it has that of the clock. */
export function beginFrame(state: PipelineState, time = state.now): void {
  state.frame = { number: state.frames++, time };
}

/** Writes the low byte of a register. */
export function remember(state: PipelineState, step: Teller, frame: Frame, registers: Registers): void {
  const name = `C${step.register}`;
  const held = registers.values.get(name) ?? 0n;
  const value = valueOf(state, step, frame, registers.written.has(name) ? Number(held & 0xffn) : null);
  const what = `${step.kind} says 0x${value.toString(16)}`;
  state.told.set(what, (state.told.get(what) ?? 0) + 1);
  registers.values.set(name, held - (held & 0xffn) + BigInt(value));
  registers.written.add(name);
}

/** `before` is the low byte of the register, if a rule has written it. */
function valueOf(state: PipelineState, step: Teller, frame: Frame, before: number | null): number {
  const { time } = state.frame;
  switch (step.kind) {
    case "firstHit": {
      const was = state.flags[step.flag] ?? false;
      if (step.set) state.flags[step.flag] = true;
      return was ? 1 : 0;
    }
    case "meter":
    case "flowMeter": {
      const meter = state.meters.get(step.meter);
      if (!meter) throw new Error(`no meter ${step.meter}`);
      const aware = before !== null && before <= GREEN ? before : GREEN;
      return colour(meter, step.start === UNDEFINED ? aware : step.start, time, costOf(frame));
    }
    case "track": {
      const tracked = state.connections[step.connection];
      if (!tracked) throw new Error(`no connection ${step.connection}`);
      return trackReference(tracked, { ...frame, time }, step.original).syndrome;
    }
  }
}

export function takesSample({ seed, frame }: PipelineState, sampler: bigint, ratio: number): boolean {
  return isSampled(seed, frame.number, sampler, ratio);
}
