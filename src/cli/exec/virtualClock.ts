/**
 * `--virtual-time`: the clock of the devices stands still while a program runs. A poll that finds nothing waits here for
 * its answer. Once all programs wait, in polls or in the kernel, they continue one after another; when each has had its
 * turn, the clock moves to the next event. One program runs at a time, so what it sees does not depend on its speed.
 */
import { isAsleep, processorTime } from "./processState.js";

/** What happens at a time of its own. */
export interface Timed {
  /** Nanoseconds on the clock; null where nothing waits. */
  next(now: bigint): Promise<bigint | null>;
  /** Has what is due happen, one thing at most. */
  run(now: bigint): Promise<void>;
}

export interface ClockedHost {
  readonly now: () => bigint;
  /** The first deadline of the devices; null without one. */
  readonly deadline: () => bigint | null;
  /** Moves the clocks of all devices. */
  readonly advanceTo: (time: bigint) => void;
  /** Hands to the programs what there is for them. */
  readonly flush: () => void;
  /** The programs, oldest first. */
  readonly programs: () => Iterable<Program>;
}

interface Program {
  readonly pid: number;
  readonly isLate: (now: number) => boolean;
}

/** How much later it is after a poll, in nanoseconds, where nothing else happens. */
const POLL = 1000n;
/** Milliseconds until processes that run are looked at again. */
const LOOK = 1;
/** Milliseconds for which a program may run without a message until it is waited for no more: it may spin on its memory. */
const PATIENCE = 50;

export class VirtualClock {
  readonly #host: ClockedHost;
  /** Programs that wait, and what lets them go on. */
  readonly #waiting = new Map<Program, () => void>();
  /** Programs that still have a turn at this time. */
  #turns: Program[] = [];
  /** The processor time of programs when they were first seen to run since the last message. */
  readonly #running = new Map<Program, number>();
  /** Whether no program was seen to run since the last message. A message that one sent before may not have been read yet. */
  #isQuiet = false;
  #looking: { readonly stop: () => void } | null = null;
  #isStepping = false;
  #ended = false;
  /** What happens besides the deadlines of the devices. */
  timed: Timed | null = null;

  constructor(host: ClockedHost) {
    this.#host = host;
  }

  /** A poll has found nothing, or a request to send has to wait for a receiver. @param goOn called once it is its turn */
  wait(program: Program, goOn: () => void): void {
    this.#waiting.set(program, goOn);
  }

  forget(program: Program): void {
    this.#waiting.delete(program);
    this.heard();
  }

  /** A message has come. */
  heard(): void {
    this.#isQuiet = false;
    this.#running.clear();
    this.#look(0);
  }

  end(): void {
    this.#ended = true;
    this.#looking?.stop();
  }

  #look(milliseconds: number): void {
    if (this.#ended) return;
    this.#looking?.stop();
    const look = (): void => void this.#go();
    this.#looking =
      milliseconds === 0
        ? { stop: clearImmediate.bind(null, setImmediate(look)) }
        : { stop: clearTimeout.bind(null, setTimeout(look, milliseconds)) };
  }

  async #go(): Promise<void> {
    if (this.#isStepping) return;
    if (this.#isAnyAwake()) this.#look(LOOK);
    else if (!this.#isQuiet) {
      this.#isQuiet = true;
      this.#look(0);
    } else if (!this.#giveTurn()) await this.#step();
  }

  #isAnyAwake(): boolean {
    const now = performance.now();
    for (const program of this.#host.programs()) {
      if (this.#waiting.has(program)) continue;
      if (program.isLate(now) || (!isAsleep(program.pid) && this.#runsBriefly(program))) return true;
    }
    return false;
  }

  #runsBriefly(program: Program): boolean {
    const time = processorTime(program.pid);
    const since = this.#running.get(program);
    if (since === undefined) this.#running.set(program, time);
    return time - (since ?? time) < PATIENCE;
  }

  /** @returns whether a program that waits goes on at this time */
  #giveTurn(): boolean {
    for (;;) {
      const program = this.#turns.shift();
      if (program === undefined) return false;
      const goOn = this.#waiting.get(program);
      if (goOn === undefined) continue;
      this.#waiting.delete(program);
      goOn();
      this.heard();
      return true;
    }
  }

  /** Moves the clock to what happens next, and gives each program a turn. */
  async #step(): Promise<void> {
    const { now, deadline, advanceTo, flush, programs } = this.#host;
    this.#isStepping = true;
    try {
      const poll = this.#waiting.size > 0 ? now() + POLL : null;
      const time = earlier(deadline(), (await this.timed?.next(now())) ?? null) ?? poll;
      if (time === null || this.#ended) return;
      if (time > now()) advanceTo(time);
      await this.timed?.run(now());
      flush();
    } finally {
      this.#isStepping = false;
    }
    this.#turns = [...programs()];
    this.heard();
  }
}

export function earlier(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
