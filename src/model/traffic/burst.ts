/**
 * Bursts: input frames and their outcomes in typed arrays that are reused (docs/frames.md,
 * "Bursts"). A burst takes frames, steers them in one call, and gives one row of results per frame.
 */
import { FRAME_ARENA, MAX_FRAME } from "../../abi/engine.js";
import { Link } from "../../abi/headers.js";
import type { Batch } from "../../engine/batch.js";
import type { Columns } from "../../engine/columns.js";
import { inCall, refuse } from "../../errors.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { checkTime, describe, unsigned } from "../../base/checks.js";
import { LINK_TYPES } from "../../packet/capture/linkTypes.js";
import { linkOf } from "./links.js";
import type { Outcome } from "./outcome.js";
import type { Summing, Traffic } from "./receive.js";

/** The outcomes of a burst, one row per frame. They are valid until the next `clear`. */
export type BurstColumns = Columns;

/** Frames of a capture, one row per frame. */
export interface FrameRows {
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  readonly wireLengths: Uint32Array;
  /** LINKTYPE_ numbers. */
  readonly linkTypes: Uint32Array;
}

export interface Burst extends BurstColumns {
  /** The largest number of frames. */
  readonly rows: number;
  /** The number of frames in the burst. */
  readonly count: number;
  /**
   * The memory that holds the frames. Read this property again after each call of the device:
   * memory may have moved.
   */
  readonly bytes: Uint8Array;
  /**
   * Removes all frames; `bytes` keep their values.
   * @param alone (internal) on a device pool: the first core steers the next frames alone
   */
  clear(alone?: boolean): void;
  /**
   * Copies a frame into the burst.
   * @param frame the captured bytes, from the first header on
   * @param port the port that receives the frame, from 1 on. @default 1
   * @param linkType the LINKTYPE_ number of its first header. @default 1, Ethernet
   * @param wireLength its length on the wire in bytes, if the capture cut it. @default its length
   * @returns the row of the frame, or -1 when the burst is full
   * @throws SteeringError EINVAL for an unknown port or a bad length; EOPNOTSUPP for a link type
   *   without a parser; EBUSY when another call has taken the memory of the burst
   * @example
   * burst.clear();
   * burst.put(frame);
   * burst.steer();
   * console.log(burst.verdicts[0], burst.outcome(0));
   */
  put(frame: Uint8Array, port?: number, linkType?: number, wireLength?: number): number;
  /**
   * Adds a frame whose bytes are in `bytes` already; otherwise like `put`.
   * @param offset the first byte of the frame in `bytes`
   * @param length captured bytes
   * @returns the row of the frame, or -1 when the burst is full
   * @throws SteeringError as `put`
   */
  add(offset: number, length: number, port?: number, linkType?: number, wireLength?: number): number;
  /**
   * @internal Adds rows `first` to `end` - 1 of a capture whose bytes are in `bytes` already. It
   *   stops before the first frame that has another link type, is too long or does not fit into the
   *   burst. A wire length below the captured length is raised to it. On a stateful device the
   *   caller must stamp the frames.
   * @param at the offset of row `first` in `bytes`
   * @returns the number of frames added
   */
  addRows(frames: FrameRows, first: number, end: number, at: number, port: number): number;
  /**
   * Sets the arrival time of a row.
   * @param time nanoseconds
   */
  stamp(row: number, time: bigint): void;
  /**
   * Starts to steer on the worker threads of a pool; without one it steers the frames before it
   * returns. After the call `bytes` belong to the next burst. Another burst may be filled until
   * `steer` waits for this one.
   * @param summing (internal) gets the sums by outcome class before `steer` returns
   * @throws SteeringError EBUSY when another call has taken the memory of the burst; EINVAL when it
   *   was already started or the device is closed
   */
  start(summing?: Summing): void;
  /**
   * Steers the frames, or waits for the frames that `start` has started.
   * @returns the number of frames
   * @throws SteeringError as `start`
   */
  steer(summing?: Summing): number;
  /**
   * Gives the outcome of a row as an object, as `device.receive` does. It is available until
   * another burst is cleared, another call runs frames on the device, or a rule is removed.
   * @param frame the input bytes, if the caller has kept them: destinations of an unchanged frame
   *   then refer to them instead of a copy (but not with `copyFrames`)
   * @throws SteeringError EINVAL before `steer` or for a row that does not exist; EBUSY when the
   *   outcome is no longer available
   */
  outcome(row: number, frame?: Uint8Array): Outcome;
}

/** The burst of a device or of a device pool. */
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
  /** The number of frames that were started; -1 before `start`. */
  #started = -1;
  /** Whether the columns hold the results. */
  #steered = false;
  /** The port of the last frame that was checked; 0 before the first. */
  #port = 0;
  /** The device's count of removed rules at the start. */
  #removed = 0;
  /** Outcomes that had to be read at the start; null when they are read on demand. */
  #outcomes: readonly Outcome[] | null = null;

  constructor(device: DeviceBase, traffic: Traffic) {
    this.#device = device;
    this.#traffic = traffic;
    this.#batch = traffic.batch;
    const { most } = traffic;
    this.rows = most;
    if (!this.#batch.core.openRows(most)) device.noMemory();
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
    return this.#batch.bytes ?? inCall("burst.bytes", () => this.#device.noMemory());
  }

  clear(alone = false): void {
    this.#traffic.wait(this);
    this.#traffic.takeBurst(this, alone);
    this.#started = -1;
    this.#steered = false;
    this.#outcomes = null;
  }

  put(frame: Uint8Array, port = 1, linkType = 1, wireLength = frame.length): number {
    return inCall("burst.put", () => {
      if (!(frame instanceof Uint8Array)) {
        throw new TypeError(`burst.put: frame must be a Uint8Array, not ${describe(frame)}`);
      }
      if (this.#isUsual(port, linkType, frame.length, wireLength))
        return this.#taken(this.#batch.pack(frame, wireLength, port, Link.ethernet));
      const link = this.#check(port, linkType, frame.length, wireLength);
      return this.#stamped(this.#taken(this.#batch.pack(frame, wireLength, port, link)));
    });
  }

  add(offset: number, length: number, port = 1, linkType = 1, wireLength = length): number {
    return inCall("burst.add", () => {
      if (
        this.#isUsual(port, linkType, length, wireLength) &&
        offset >>> 0 === offset &&
        offset + length <= FRAME_ARENA
      )
        return this.#batch.add(offset, length, wireLength, port, Link.ethernet);
      const link = this.#check(port, linkType, length, wireLength);
      if (unsigned("offset", offset, 32) + length > FRAME_ARENA) {
        const hint = `offset + length must not exceed ${FRAME_ARENA}, the bytes of the burst`;
        refuse({ code: "EINVAL", reason: "out_of_range", path: "offset", value: offset, hint });
      }
      return this.#stamped(this.#batch.add(offset, length, wireLength, port, link));
    });
  }

  addRows(frames: FrameRows, first: number, end: number, at: number, port: number): number {
    return inCall("burst.addRows", () => {
      const { offsets, lengths, wireLengths, linkTypes } = frames;
      const linkType = linkTypes[first] as number;
      const origin = (offsets[first] as number) - at;
      const link = this.#check(port, linkType, 0, 0);
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
    });
  }

  stamp(row: number, time: bigint): void {
    inCall("burst.stamp", () => {
      this.#open();
      const n = this.#row(row);
      checkTime("time", time);
      this.#batch.stamp(time, n);
    });
  }

  start(summing: Summing | null = null): void {
    inCall("burst.start", () => this.#begin(summing));
  }

  steer(summing: Summing | null = null): number {
    return inCall("burst.steer", () => {
      if (this.#started < 0 || this.#steered) this.#begin(summing);
      this.#traffic.wait(this);
      this.#steered = true;
      return this.#started;
    });
  }

  outcome(row: number, frame: Uint8Array | null = null): Outcome {
    return inCall("burst.outcome", () => {
      if (!this.#steered) refuseState("call burst.steer first");
      const n = this.#row(row);
      if (this.#outcomes !== null) return this.#outcomes[n] as Outcome;
      this.#hold();
      if (this.#device.installed.removed !== this.#removed)
        this.#busy("a rule that the outcome may list was removed: read outcomes first");
      return this.#traffic.burstOutcome(n, frame);
    });
  }

  #begin(summing: Summing | null): void {
    this.#open();
    this.#device.checkOpen();
    const { count } = this.#batch;
    this.#removed = this.#device.installed.removed;
    this.#outcomes = this.#traffic.start(this, summing);
    this.#started = count;
  }

  /** The row of a frame; -1 when the burst is full. @throws ENOMEM not even an empty burst has memory for it */
  #taken(row: number): number {
    return inCall("burst.put", () => {
      if (row < 0 && this.#batch.count === 0) this.#device.noMemory();
      return row;
    });
  }

  #stamped(row: number): number {
    if (row >= 0 && this.#device.stateful) this.#batch.stamp(this.#device.now(), row);
    return row;
  }

  /** Fast path: whether the frame needs no check and no time stamp. It runs for every frame. */
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

  #check(port: number, linkType: number, length: number, wireLength: number): number {
    this.#open();
    this.#device.checkPort(port);
    if (unsigned("length", length, 32) > MAX_FRAME) {
      const hint = `at most ${MAX_FRAME} bytes`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "length", value: length, hint });
    }
    if (wireLength !== length && unsigned("wireLength", wireLength, 32) < length) {
      const hint = `the frame has ${length} bytes`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "wireLength", value: wireLength, hint });
    }
    this.#port = port;
    return linkOf("linkType", linkType);
  }

  /** Refuses unless frames can be added. */
  #open(): void {
    if (this.#started >= 0) refuseState("its frames are steered: call burst.clear first");
    this.#hold();
  }

  /** Refuses when another user has taken the memory of the burst. */
  #hold(): void {
    if (!this.#traffic.holds(this))
      this.#busy("another burst was cleared, or another call has run frames: call burst.clear again");
  }

  #busy(hint: string): never {
    return refuse({ code: "EBUSY", reason: "in_use", path: "burst", value: this.#device.name, hint });
  }

  #row(row: number): number {
    const { count } = this;
    if (Number.isInteger(row) && row >= 0 && row < count) return row;
    const hint = count === 0 ? "the burst is empty" : `0 to ${count - 1}`;
    return refuse({ code: "EINVAL", reason: "out_of_range", path: "row", value: row, hint });
  }
}

function refuseState(hint: string): never {
  return refuse({ code: "EINVAL", reason: "burst_state", path: "burst", value: "burst", hint });
}
