/**
 * The clock of a device, and what waits on it (docs/embedding.md, "Time"). A virtual clock moves by
 * `advance` and `advanceTo` only. An own clock, `now` of createDevice, belongs to the program, and
 * `advanceTo` runs what is due by then. A clock that follows another one, as those of a fabric do,
 * has its time.
 */
import { checkTime, describe } from "../../../base/checks.js";
import { inCall, mistyped, refuse } from "../../../errors.js";
import { Deadlines, type Deadline } from "./deadlines.js";

/** The clock that others follow, as one of them knows it. */
export interface Leader {
  /** Nanoseconds now. */
  readonly time: bigint;
  /** Called when something begins to wait on the clock that follows. */
  plan(at: bigint): void;
}

const OF_FABRIC = "the device is in a fabric: call advance or advanceTo of the fabric";

export class Clock {
  /** Nanoseconds now. */
  readonly now: () => bigint;
  private readonly _own: boolean;
  /** What it follows; null for a clock that goes alone. Its fabric sets it. */
  leader: Leader | null = null;
  private readonly _deadlines = new Deadlines();
  /** The time of a virtual clock; the latest reading of an own one, and of one that follows. */
  private _time = 0n;
  private _running = false;

  constructor(own: (() => bigint) | undefined) {
    this._own = own !== undefined;
    this.now = own === undefined ? () => this._follow() : () => this._read(own());
  }

  /** The earliest time at which something is due; null while nothing waits. Never before `now`. */
  get nextDeadline(): bigint | null {
    const at = this._deadlines.first?.at;
    if (at === undefined) return null;
    const now = this.now();
    return at < now ? now : at;
  }

  /** What waits, in the order in which it comes. */
  waiting(): Deadline[] {
    return this._deadlines.all();
  }

  /** Lets a deadline wait for a time. */
  set(deadline: Deadline, at: bigint): void {
    this._deadlines.set(deadline, at);
    this.leader?.plan(at);
  }

  /** Removes a deadline, if it waits. */
  cancel(deadline: Deadline): void {
    this._deadlines.cancel(deadline);
  }

  /** Whether the program reads it. */
  get isOwn(): boolean {
    return this._own;
  }

  /** Moves a virtual clock forward. @throws as `advanceTo`; EINVAL an own clock */
  advance(nanoseconds: bigint): void {
    checkTime("nanoseconds", nanoseconds);
    if (this._own || this.leader !== null) {
      const hint =
        this.leader === null ? "move the clock that now of createDevice reads, then call advanceTo" : OF_FABRIC;
      refuse({ code: "EINVAL", reason: "own_clock", path: "nanoseconds", value: nanoseconds, hint });
    }
    checkTime("clock", this._time + nanoseconds);
    this.advanceTo(this._time + nanoseconds);
  }

  /**
   * Runs what is due until `time`, in the order of its times, each at its own time of a virtual clock,
   * which is at `time` in the end.
   * @throws TypeError no bigint; EINVAL a time before that of the clock, or after that of a clock
   *   that moves elsewhere; EBUSY what is due now calls it
   */
  advanceTo(time: bigint): void {
    checkTime("time", time);
    if (this._running) {
      const hint = "what is due now has called it";
      refuse({ code: "EBUSY", reason: "in_use", path: "time", value: time, hint });
    }
    const now = this.now();
    if ((this._own || this.leader !== null) && time > now) {
      const hint = this.leader === null ? `now of createDevice gives ${now}: move it there first` : OF_FABRIC;
      refuse({ code: "EINVAL", reason: "own_clock", path: "time", value: time, hint });
    }
    if (!this._own && time < now) {
      refuse({ code: "EINVAL", reason: "time_back", path: "time", value: time, hint: `it is at ${now}` });
    }
    this._running = true;
    try {
      for (let next = this._deadlines.first; next !== undefined && next.at <= time; next = this._deadlines.first) {
        if (next.at > this._time) this._time = next.at;
        this.cancel(next);
        next.due();
      }
      if (time > this._time) this._time = time;
    } finally {
      this._running = false;
    }
  }

  private _follow(): bigint {
    return this.leader === null ? this._time : (this._time = this.leader.time);
  }

  /** Checks a reading of an own clock. */
  private _read(time: unknown): bigint {
    return inCall("createDevice", () => {
      if (typeof time !== "bigint") {
        mistyped(`now must return nanoseconds as a bigint, not ${describe(time)}: () => BigInt(...)`);
      }
      checkTime("now()", time);
      if (time < this._time) {
        refuse({
          code: "EINVAL",
          reason: "time_back",
          path: "now()",
          value: time,
          hint: `it was at ${this._time}`,
        });
      }
      this._time = time;
      return time;
    });
  }
}
