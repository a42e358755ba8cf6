/** Frames and what becomes of them as typed arrays, used again and again: docs/frames.md, Bursts. */
import { FRAME_ARENA, MAX_FRAME } from "../../abi/engine.js";
import { Link } from "../../abi/headers.js";
import type { Batch } from "../../engine/batch.js";
import type { Columns } from "../../engine/columns.js";
import { refuse } from "../../errors.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { checkTime, describe, unsigned } from "../../checks.js";
import { LINK_TYPES } from "../../packet/capture/linkTypes.js";
import { linkOf } from "./links.js";
import type { Outcome } from "./outcome.js";
import type { Summing, Traffic } from "./receive.js";

/** What became of the frames of a burst, a value a row; good until the next `clear`. */
export type BurstColumns = Columns;

/** Frames of a capture, a value a row. */
export interface FrameRows {
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  readonly wireLengths: Uint32Array;
  /** LINKTYPE_ numbers. */
  readonly linkTypes: Uint32Array;
}

export interface Burst extends BurstColumns {
  /** Frames that it takes. */
  readonly rows: number;
  /** Frames that it holds. */
  readonly count: number;
  /** Where frames lie. Ask again after each call of the device. */
  readonly bytes: Uint8Array;
  /** Forgets the frames, not the bytes. With `alone` (internal) the first of several cores steers those that come. */
  clear(alone?: boolean): void;
  /**
   * Copies a frame in; gives its row, -1 where there is no room until `clear`. `linkType` is a LINKTYPE_ number.
   * @throws SteeringError EINVAL a port, a length; EOPNOTSUPP a link type without a parser; EBUSY another call has taken the place of the burst
   */
  put(frame: Uint8Array, port?: number, linkType?: number, wireLength?: number): number;
  /** The same for a frame that lies at `offset` in `bytes`. */
  add(offset: number, length: number, port?: number, linkType?: number, wireLength?: number): number;
  /**
   * @internal The same for frames that lie in `bytes` as they do in a capture, the first one at `at`, which are longer on the wire
   * or as long: those from row `first` to `end`, up to one that has another link type, is too long or has no room. Gives how many. Where the
   * device remembers they are to be stamped.
   */
  addRows(frames: FrameRows, first: number, end: number, at: number, port: number): number;
  /** When the frame of a row comes in, in nanoseconds. */
  stamp(row: number, time: bigint): void;
  /**
   * Begins to steer, where others can; else it steers. Frames and `bytes` are the next burst's when it returns. Who sums frames (internal)
   * hears of them before `steer` returns.
   * @throws SteeringError EBUSY another call has taken the place of the burst; EINVAL it was started, or the device is closed
   */
  start(summing?: Summing): void;
  /** From bytes to outcome, or waits for what `start` has begun; gives how many frames. @throws SteeringError as `start` */
  steer(summing?: Summing): number;
  /**
   * What `device.receive` gives for the frame of a row, until another burst is cleared, another call runs frames on the device, or a rule
   * goes. Where the bytes that came in are given, destinations that got just these have them and no copy.
   */
  outcome(row: number, frame?: Uint8Array): Outcome;
}

/** The burst of a device, by itself or of several cores. */
export class DeviceBurst implements Burst {
  readonly rows: number;
  readonly verdicts: Uint8Array;
  readonly reasons: Uint8Array;
  readonly tagged: Uint8Array;
  readonly tags: Uint32Array;
  readonly hits: Uint8Array;
  readonly rules: Uint32Array;
  readonly destinations: Uint16Array;
  readonly queues: Uint32Array;
  readonly kinds: Uint8Array;
  readonly #device: DeviceBase;
  readonly #traffic: Traffic;
  readonly #batch: Batch;
  /** Frames that were started; -1 before. */
  #started = -1;
  /** Whether what became of them is here. */
  #steered = false;
  /** The port of the last frame that was checked; 0 for none. */
  #port = 0;
  /** Rules that were removed before it was started. */
  #removed = 0;
  /** Outcomes that had to be read at once. */
  #outcomes: readonly Outcome[] | null = null;

  constructor(device: DeviceBase, traffic: Traffic) {
    this.#device = device;
    this.#traffic = traffic;
    this.#batch = traffic.batch;
    const { most } = traffic;
    this.rows = most;
    this.verdicts = new Uint8Array(most);
    this.reasons = new Uint8Array(most);
    this.tagged = new Uint8Array(most);
    this.tags = new Uint32Array(most);
    this.hits = new Uint8Array(most);
    this.rules = new Uint32Array(most);
    this.destinations = new Uint16Array(most);
    this.queues = new Uint32Array(most);
    this.kinds = new Uint8Array(most);
    this.clear();
  }

  get count(): number {
    if (this.#started >= 0) return this.#started;
    return this.#traffic.holds(this) ? this.#batch.count : 0;
  }

  get bytes(): Uint8Array {
    return this.#batch.bytes;
  }

  clear(alone = false): void {
    this.#traffic.wait(this);
    this.#traffic.takeBurst(this, alone);
    this.#started = -1;
    this.#steered = false;
    this.#outcomes = null;
  }

  put(frame: Uint8Array, port = 1, linkType = 1, wireLength = frame.length): number {
    if (!(frame instanceof Uint8Array)) {
      throw new TypeError(`burst.put: frame must be a Uint8Array, not ${describe(frame)}`);
    }
    if (this.#isUsual(port, linkType, frame.length, wireLength))
      return this.#batch.pack(frame, wireLength, port, Link.ethernet);
    const link = this.#check("burst.put", port, linkType, frame.length, wireLength);
    return this.#stamped(this.#batch.pack(frame, wireLength, port, link));
  }

  add(offset: number, length: number, port = 1, linkType = 1, wireLength = length): number {
    if (this.#isUsual(port, linkType, length, wireLength) && offset >>> 0 === offset && offset + length <= FRAME_ARENA)
      return this.#batch.add(offset, length, wireLength, port, Link.ethernet);
    const call = "burst.add";
    const link = this.#check(call, port, linkType, length, wireLength);
    if (unsigned(call, "offset", offset, 32) + length > FRAME_ARENA) {
      const hint = `offset and length end behind the ${FRAME_ARENA} bytes of the burst`;
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "offset", value: offset, hint });
    }
    return this.#stamped(this.#batch.add(offset, length, wireLength, port, link));
  }

  addRows(frames: FrameRows, first: number, end: number, at: number, port: number): number {
    const { offsets, lengths, wireLengths, linkTypes } = frames;
    const linkType = linkTypes[first] as number;
    const origin = (offsets[first] as number) - at;
    const link = this.#check("burst.addRows", port, linkType, 0, 0);
    const batch = this.#batch;
    let row = first;
    for (; row < end && linkTypes[row] === linkType; row++) {
      const length = lengths[row] as number;
      const wireLength = Math.max(wireLengths[row] as number, length);
      const offset = (offsets[row] as number) - origin;
      if (length > MAX_FRAME || offset + length > FRAME_ARENA) break;
      if (batch.add(offset, length, wireLength, port, link) < 0) break;
    }
    return row - first;
  }

  stamp(row: number, time: bigint): void {
    const call = "burst.stamp";
    this.#open(call);
    const n = this.#row(call, row);
    checkTime(call, "time", time);
    this.#batch.stamp(time, n);
  }

  start(summing: Summing | null = null): void {
    this.#begin("burst.start", summing);
  }

  steer(summing: Summing | null = null): number {
    if (this.#started < 0 || this.#steered) this.#begin("burst.steer", summing);
    this.#traffic.wait(this);
    this.#steered = true;
    return this.#started;
  }

  outcome(row: number, frame: Uint8Array | null = null): Outcome {
    const call = "burst.outcome";
    if (!this.#steered) refuseState(call, "it is not steered yet");
    const n = this.#row(call, row);
    if (this.#outcomes !== null) return this.#outcomes[n] as Outcome;
    this.#hold(call);
    if (this.#device.installed.removed !== this.#removed) this.#busy(call, "a rule has gone that it may list");
    return this.#traffic.burstOutcome(n, frame);
  }

  #begin(call: string, summing: Summing | null): void {
    this.#open(call);
    this.#device.checkOpen(call);
    const { count } = this.#batch;
    this.#removed = this.#device.installed.removed;
    this.#outcomes = this.#traffic.start(this, summing);
    this.#started = count;
  }

  #stamped(row: number): number {
    if (row >= 0 && this.#device.stateful) this.#batch.stamp(this.#device.now(), row);
    return row;
  }

  /** Whether nothing of a frame is to be refused or stamped: said in few words, as it is asked of every frame. */
  #isUsual(port: number, linkType: number, length: number, wireLength: number): boolean {
    return (
      port === this.#port &&
      linkType === LINK_TYPES.ETHERNET &&
      wireLength === length &&
      length >>> 0 === length &&
      length <= MAX_FRAME &&
      this.#started < 0 &&
      this.#traffic.holds(this) &&
      !this.#device.closed &&
      !this.#device.stateful
    );
  }

  #check(call: string, port: number, linkType: number, length: number, wireLength: number): number {
    this.#open(call);
    this.#device.checkPort(call, port);
    if (unsigned(call, "length", length, 32) > MAX_FRAME) {
      const hint = `at most ${MAX_FRAME} bytes`;
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "length", value: length, hint });
    }
    if (wireLength !== length && unsigned(call, "wireLength", wireLength, 32) < length) {
      const hint = `the frame has ${length} bytes`;
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "wireLength", value: wireLength, hint });
    }
    this.#port = port;
    return linkOf(call, "linkType", linkType);
  }

  /** Frames can be put into it. */
  #open(call: string): void {
    if (this.#started >= 0) refuseState(call, "its frames have been steered: clear it");
    this.#hold(call);
  }

  /** Nobody else has taken the place of its frames. */
  #hold(call: string): void {
    if (!this.#traffic.holds(this))
      this.#busy(call, "another burst was cleared, or another call has run frames: clear it");
  }

  #busy(call: string, hint: string): never {
    return refuse({ code: "EBUSY", call, reason: "in_use", path: "burst", value: this.#device.name, hint });
  }

  #row(call: string, row: number): number {
    const { count } = this;
    if (Number.isInteger(row) && row >= 0 && row < count) return row;
    const hint = count === 0 ? "the burst is empty" : `0 to ${count - 1}`;
    return refuse({ code: "EINVAL", call, reason: "out_of_range", path: "row", value: row, hint });
  }
}

function refuseState(call: string, hint: string): never {
  return refuse({ code: "EINVAL", call, reason: "burst_state", path: "burst", value: "burst", hint });
}
