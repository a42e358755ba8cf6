/**
 * Frames between wires and the device. Frames that came in wait until the end of a turn of the event
 * loop, and are steered in the order in which they came, as batches.
 */
import { SteeringError, type Outcome, type ReasonName } from "../../index.js";
import { cannotRun, farOutcomes, type LoadedScenario, type Sum } from "../../scenario/index.js";
import type { Place } from "./places.js";

interface Arrival {
  readonly place: Place;
  readonly frame: Uint8Array;
  readonly linkType: number;
}

/** A frame that was steered. */
export interface SteeredFrame {
  /** Where it came in, as in outcomes: `port:1`, `qp:vm1`. */
  readonly place: string;
  readonly bytes: Uint8Array;
  readonly linkType: number;
}

/** Is called with a frame and its outcome. */
export type SeeSteered = (frame: SteeredFrame, outcome: Outcome) => void;

/** Frames that are steered in one turn, so that control and wires have theirs. */
const MAX_IN_TURN = 1024;

/** The longest time that a timer of Node.js waits, in milliseconds. */
const MAX_WAIT = 2 ** 31 - 1;
const MILLISECOND = 1_000_000n;

export class Switchboard {
  readonly loaded: LoadedScenario;
  readonly places: readonly Place[];
  /** Whether only `advanceTo` moves the clock of the device. */
  readonly isVirtual: boolean;
  /** Frames that ended without a destination, by reason; `miss` where there is none. */
  readonly dropped = new Map<ReasonName | "miss", Sum>();
  /** Those who see each frame that wires and the control gave. */
  readonly watchers = new Set<SeeSteered>();
  readonly #byQueue: ReadonlyMap<object, Place>;
  readonly #started = process.hrtime.bigint();
  /** The clock of the device at the beginning: that of its snapshot. */
  readonly #since: bigint;
  #waiting: Arrival[] = [];
  #scheduled: NodeJS.Immediate | null = null;
  #deadline: NodeJS.Timeout | null = null;

  constructor(loaded: LoadedScenario, places: readonly Place[], isVirtual = false) {
    this.loaded = loaded;
    this.places = places;
    this.isVirtual = isVirtual;
    this.#since = loaded.device.now();
    this.#byQueue = new Map(places.flatMap((place) => (place.queue === null ? [] : [[place.queue, place] as const])));
  }

  /** Takes frames from the wires from now on. */
  begin(): void {
    for (const place of this.places) {
      place.wire.begin((frame, linkType) => {
        this.#waiting.push({ place, frame, linkType });
        this.#schedule();
      });
    }
    this.tick();
  }

  /** Nanoseconds since the beginning. */
  get age(): bigint {
    return process.hrtime.bigint() - this.#started;
  }

  /** Moves the clock of the device to the present, and runs what is due. Each call on the device comes after it. */
  tick(): void {
    if (this.isVirtual) return;
    const { device } = this.loaded;
    const { time } = this;
    if (time > device.now()) device.advanceTo(time);
    this.#arm();
  }

  /** Steers all frames that have arrived. */
  settle(): void {
    while (this.busy) this.#turn();
  }

  /** Moves a virtual clock, after the frames that have arrived. @throws SteeringError EINVAL: it would go back */
  advanceTo(time: bigint): void {
    this.settle();
    this.loaded.device.advanceTo(time);
  }

  /** What the clock of the device shows at present. */
  get time(): bigint {
    return this.isVirtual ? this.loaded.device.now() : this.#since + this.age;
  }

  /** Whether frames wait. */
  get busy(): boolean {
    return this.#waiting.length > 0;
  }

  end(): void {
    if (this.#scheduled !== null) clearImmediate(this.#scheduled);
    if (this.#deadline !== null) clearTimeout(this.#deadline);
  }

  /** Gives what queues with wires got to their wires, and counts what was dropped. Port wires have theirs already. */
  deliver(frame: SteeredFrame, outcome: Outcome): void {
    for (const see of this.watchers) see(frame, outcome);
    this.#deliver(frame.bytes.length, outcome);
  }

  #deliver(length: number, outcome: Outcome): void {
    const { verdict, reason } = outcome;
    if (verdict === "drop" || verdict === "miss") this.#drop(reason ?? "miss", length);
    for (const list of [outcome.to, outcome.copies]) {
      for (const { kind, object, frame } of list) if (kind === "qp") this.#byQueue.get(object)?.wire.send(frame);
    }
    for (const [, far, frame] of farOutcomes(outcome)) this.#deliver(frame.length, far);
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = null;
      this.#turn();
    });
  }

  #turn(): void {
    this.tick();
    const all = this.#waiting;
    this.#waiting = all.slice(MAX_IN_TURN);
    if (this.busy) this.#schedule();
    const some = all.slice(0, MAX_IN_TURN);
    for (let first = 0; first < some.length;) {
      const { place } = some[first] as Arrival;
      let end = first + 1;
      while (end < some.length && (some[end] as Arrival).place === place) end++;
      this.#steer(place, some.slice(first, end).filter(isSteerable));
      first = end;
    }
    this.#arm();
  }

  #steer({ name, port, queue, wire }: Place, arrivals: readonly Arrival[]): void {
    const { device } = this.loaded;
    const frames = arrivals.map(({ frame, linkType }) => ({ place: name, bytes: frame, linkType }));
    if (port !== null) {
      const outcomes = device.receiveBatch(
        port,
        frames.map(({ bytes }) => bytes),
        frames.map(({ linkType }) => ({ linkType })),
      );
      outcomes.forEach((outcome, i) => this.deliver(frames[i] as SteeredFrame, outcome));
    }
    if (queue === null) return;
    for (const frame of frames) {
      try {
        this.deliver(frame, device.send(queue, frame.bytes));
      } catch (error) {
        // Too short to be sent, or the queue does not send.
        if (!(error instanceof SteeringError)) throw error;
        wire.lose("refused");
      }
    }
  }

  #drop(reason: ReasonName | "miss", length: number): void {
    const sum = this.dropped.get(reason) ?? { frames: 0, bytes: 0 };
    this.dropped.set(reason, sum);
    sum.frames++;
    sum.bytes += length;
  }

  /** Runs what waits on the clock of the device at its time. */
  #arm(): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#deadline = null;
    const at = this.isVirtual ? null : this.loaded.device.nextDeadline();
    if (at === null) return;
    const wait = Number((at - this.time) / MILLISECOND) + 1;
    this.#deadline = setTimeout(() => this.tick(), Math.max(0, Math.min(MAX_WAIT, wait)));
  }
}

function isSteerable({ place, frame, linkType }: Arrival): boolean {
  if (cannotRun(linkType, frame.length) === null) return true;
  place.wire.lose("no_parser");
  return false;
}
