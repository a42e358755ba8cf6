/**
 * The clock of a fabric. Each device with something due is in a heap by its earliest deadline, so a step
 * touches only devices whose time has come.
 *
 * A device's deadlines change by calls on it and by frames that other devices send to it. All of them go
 * through its clock, which reports each deadline that is set. What was cancelled is found when its turn
 * comes: the heap may have a device too early, never too late.
 */
import { checkTime } from "../base/checks.js";
import { refuse } from "../errors.js";
import type { Clock, Leader } from "../model/base/time/clock.js";
import { Deadline, Deadlines } from "../model/base/time/deadlines.js";

/** Above the number of devices of any fabric: the order of a device is its round and its index. */
const ROUND = 2 ** 32;

/** A device in the heap of its fabric, at its earliest deadline. */
class Member extends Deadline implements Leader {
  constructor(
    private readonly _timeline: Timeline,
    readonly clock: Clock,
    readonly index: number,
  ) {
    super();
  }

  get time(): bigint {
    return this._timeline.time;
  }

  plan(at: bigint): void {
    if (this.place < 0 || at < this.at) this._timeline.plan(this, at);
  }

  override due(): void {
    try {
      this.clock.advanceTo(this._timeline.time);
    } finally {
      this.replan();
    }
  }

  /** Moves it to its earliest deadline, if it has one. */
  replan(): void {
    const at = this.clock.nextDeadline;
    if (at === null) this._timeline.forget(this);
    else this._timeline.plan(this, at);
  }
}

export class Timeline {
  /** Nanoseconds now. */
  time: bigint;
  private readonly _heap = new Deadlines();
  private readonly _members = new Map<Clock, Member>();
  private _indexes = 0;
  private _running = false;
  /** The order of the device that runs now; -1 between steps. */
  private _order = -1;

  constructor(time: bigint) {
    this.time = time;
  }

  /**
   * Lets a clock follow, and runs what is due on it before now. What is due now runs in the next step.
   * @throws EINVAL a clock of the program, or one that is ahead; EBUSY it follows another one
   */
  add(clock: Clock): void {
    if (clock.isOwn) {
      const hint = "leave out now of createDevice: its time is that of the fabric";
      refuse({ code: "EINVAL", reason: "own_clock", path: "device", hint });
    }
    if (clock.leader !== null) refuse({ code: "EBUSY", reason: "in_use", path: "device", hint: "it is in a fabric" });
    const time = clock.now();
    if (time > this.time) {
      const hint = `it is at ${time}, and the fabric at ${this.time}`;
      refuse({ code: "EINVAL", reason: "time_back", path: "device", hint });
    }
    if (time < this.time) clock.advanceTo(this.time);
    const member = new Member(this, clock, this._indexes++);
    clock.leader = member;
    this._members.set(clock, member);
    member.replan();
  }

  /** Lets a clock go on alone, from now on: it keeps its last reading. */
  remove(clock: Clock): void {
    const member = this._members.get(clock);
    if (member === undefined) return;
    this._members.delete(clock);
    clock.now();
    clock.leader = null;
    this.forget(member);
  }

  /** When something is due next; null while nothing waits. */
  get next(): bigint | null {
    const first = this._first();
    if (first === undefined) return null;
    return first.at > this.time ? first.at : this.time;
  }

  /**
   * Runs what is due until `time`, each at its own time. At one time devices run in the order in which
   * they were added, round by round, as a loop over all of them would run them.
   * @throws TypeError; EINVAL a time before now; EBUSY what is due now calls it
   */
  advanceTo(time: bigint): void {
    checkTime("time", time);
    this.checkIdle("time");
    if (time < this.time)
      refuse({ code: "EINVAL", reason: "time_back", path: "time", value: time, hint: `it is at ${this.time}` });
    this._running = true;
    try {
      for (let next = this._first(); next !== undefined && next.at <= time; next = this._first()) {
        if (next.at > this.time) this.time = next.at;
        this._order = next.order;
        this._heap.cancel(next);
        next.due();
      }
      this.time = time;
    } finally {
      this._running = false;
      this._order = -1;
    }
  }

  /** @throws EBUSY what is due now has called the fabric */
  checkIdle(path: string): void {
    if (this._running) refuse({ code: "EBUSY", reason: "in_use", path, hint: "what is due now has called it" });
  }

  /** Puts a member at a time. One that has had its turn at this time gets another one after the others. */
  plan(member: Member, at: bigint): void {
    let order = member.index;
    if (at <= this.time && this._order >= 0) {
      order += this._order - (this._order % ROUND);
      if (order <= this._order) order += ROUND;
    }
    this._heap.set(member, at, order);
  }

  forget(member: Member): void {
    this._heap.cancel(member);
  }

  /** The member that is due first, at its true time. */
  private _first(): Member | undefined {
    for (;;) {
      const first = this._heap.first as Member | undefined;
      if (first === undefined) return undefined;
      const at = first.clock.nextDeadline;
      if (at !== null && at <= first.at) return first;
      first.replan();
    }
  }
}
