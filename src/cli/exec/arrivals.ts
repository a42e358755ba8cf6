/** `--capture`: frames of a capture arrive at a port while programs run, at the capture's pace or at a rate. */
import { setTimeout as wait } from "node:timers/promises";
import { cannotRun, type LoadedScenario } from "../../scenario/index.js";
import { CaptureLog, framesOf, readColumns, type NumberedFrame } from "../input/captures.js";
import type { OpenFile } from "../input/chunks.js";
import type { Timed } from "./virtualClock.js";

/** Milliseconds between two looks for a receiver, and the longest burst without a turn for programs. */
const LOOK = 2;
const NANOSECONDS = 1e9;
const MILLISECONDS = 1e3;
/** Frames after which programs get a turn. */
const BURST = 64;

export interface ArrivalOptions {
  readonly files: readonly OpenFile[];
  /** Frames per second; null for the times of the capture. */
  readonly rate: number | null;
  /** Steers a frame. */
  readonly arrive: (frame: NumberedFrame) => void;
}

interface Due {
  /** Seconds after the first frame. */
  readonly after: number;
  readonly frame: NumberedFrame;
}

export class Arrivals implements Timed {
  readonly log = new CaptureLog();
  /** Frames that have arrived. */
  frames = 0;
  /** Whether all frames have arrived. */
  complete = false;
  readonly #loaded: LoadedScenario;
  readonly #options: ArrivalOptions;
  readonly #due = this.#read();
  readonly #stop = new AbortController();
  #skipped = 0;
  #done: Promise<void> = Promise.resolve();
  /** The frame that comes next, and when the first one came, where the clock is virtual. */
  #next: Due | null = null;
  #began: bigint | null = null;

  constructor(loaded: LoadedScenario, options: ArrivalOptions) {
    this.#loaded = loaded;
    this.#options = options;
  }

  /** Begins once a program has a rule or flow, and a receive buffer. */
  begin(): void {
    this.#done = this.#run();
    // `end` throws it.
    this.#done.catch(() => undefined);
  }

  /** Ends it, and waits. @throws CommandRefusal the capture cannot be read */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#done;
    await this.#due.return(undefined);
    if (this.#skipped > 0)
      this.log.notes.push(`${this.#skipped} frames of the capture have a link type without parser`);
  }

  async next(now: bigint): Promise<bigint | null> {
    if (this.#began === null) {
      if (!hasReceiver(this.#loaded)) return null;
      this.#began = now;
      await this.#readNext();
    }
    if (this.#next === null) return null;
    return this.#began + BigInt(Math.round(this.#next.after * NANOSECONDS));
  }

  async run(now: bigint): Promise<void> {
    const time = await this.next(now);
    if (this.#next === null || time === null || time > now) return;
    this.#arrive(this.#next);
    await this.#readNext();
  }

  async #readNext(): Promise<void> {
    this.#next = null;
    const next = this.#due.next();
    // What it fails with is thrown by `end`.
    this.#done = next.then(() => undefined);
    this.#done.catch(() => undefined);
    const result = await next.catch(() => null);
    if (result === null) return;
    if (result.done === true) this.complete = true;
    else this.#next = result.value;
  }

  async #run(): Promise<void> {
    while (!hasReceiver(this.#loaded)) if (!(await this.#pause(LOOK))) return;
    const begin = performance.now();
    for await (const due of this.#due) {
      const early = begin + due.after * MILLISECONDS - performance.now();
      if ((early > 1 || this.frames % BURST === 0) && !(await this.#pause(Math.max(0, early)))) return;
      this.#arrive(due);
    }
    this.complete = true;
  }

  #arrive({ frame }: Due): void {
    if (cannotRun(frame.linkType, frame.bytes.length) !== null) this.#skipped++;
    // The columns are used again.
    else this.#options.arrive({ ...frame, bytes: frame.bytes.slice() });
    this.frames++;
  }

  async *#read(): AsyncGenerator<Due, void, void> {
    const { files, rate } = this.#options;
    let first: bigint | null = null;
    let count = 0;
    for await (const rows of readColumns({ files, limit: Infinity, quiet: true }, this.log)) {
      for (const frame of framesOf(rows)) {
        first ??= frame.time;
        yield { after: rate === null ? sinceFirst(frame, first) : count / rate, frame };
        count++;
      }
    }
  }

  /** False where it has ended. */
  async #pause(milliseconds: number): Promise<boolean> {
    const { signal } = this.#stop;
    await wait(milliseconds, undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  }
}

/** Seconds after the first frame; 0 for frames without a time. */
function sinceFirst({ time }: NumberedFrame, first: bigint | null): number {
  return time === null || first === null ? 0 : Math.max(0, Number(time - first) / NANOSECONDS);
}

/** Whether a frame can reach a program: it has a rule or a flow, and a receive buffer. */
function hasReceiver({ device }: LoadedScenario): boolean {
  if (device.metrics().rules === 0) return false;
  return [...device.receivers.values()].some((queue) => {
    const { bufferLengths = [] } = queue as { readonly bufferLengths?: readonly number[] };
    return bufferLengths.length > 0;
  });
}
