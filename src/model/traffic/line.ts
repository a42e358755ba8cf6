/**
 * One direction of a cable that takes time: frames wait on the clock of the device at its far end.
 *
 *     | waits for the frames before it | its bits, at the rate | delay | jitter, if it is reordered |
 *     sent                             begins                                        arrives
 */
import { checkOptions, unsigned, type OptionTypes } from "../../base/checks.js";
import { mistyped, refuse } from "../../errors.js";
import { Deadline } from "../base/time/deadlines.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { CableCounters, Port } from "../base/port/ports.js";

/** What a cable does to frames, in each direction. */
export interface CableOptions {
  /** Nanoseconds that a frame takes, besides its bits. @default 0n */
  delay?: bigint;
  /** Bits a second. @default frames take no time for their bits */
  rate?: number;
  /**
   * Frames that wait or are sent at one time; a frame beyond that is lost. It needs a rate.
   * @default as many as come
   */
  queue?: number;
  /** The part of the frames that is lost, from 0 to 1. @default 0 */
  loss?: number;
  /** The part of the frames that arrives twice. @default 0 */
  duplicate?: number;
  /** The part of the frames that takes up to `jitter` longer, so that later ones overtake them. @default 0 */
  reorder?: number;
  /** Nanoseconds. @default the delay */
  jitter?: bigint;
  /** Seed of chance: an integer, taken modulo 2^32. @default the seed of the device */
  seed?: number;
}

export type LineSettings = Readonly<Required<Omit<CableOptions, "rate" | "queue">>> & {
  /** Null: bits take no time. */
  readonly rate: number | null;
  readonly queue: number | null;
};

/** A device that frames arrive at. */
interface Receiver extends DeviceBase {
  receive(port: number, frame: Uint8Array): unknown;
}

/** The options of a cable. */
export const CABLE_OPTIONS: OptionTypes<CableOptions> = {
  delay: "any",
  rate: "number",
  queue: "number",
  loss: "number",
  duplicate: "number",
  reorder: "number",
  jitter: "any",
  seed: "number",
};

/**
 * Checks the options of a cable.
 * @param path of the options among the arguments, "" for the arguments themselves
 * @throws EINVAL; TypeError
 */
export function lineSettings(options: CableOptions, seed: number, path = "options"): LineSettings {
  const at = (name: keyof CableOptions): string => (path === "" ? name : `${path}.${name}`);
  checkOptions(path, options, CABLE_OPTIONS);
  const delay = duration(at("delay"), options.delay ?? 0n);
  const jitter = duration(at("jitter"), options.jitter ?? delay);
  const { rate = null, queue = null } = options;
  if (rate !== null && !(rate > 0 && rate < Infinity)) bad(at("rate"), rate, "bits a second, above 0");
  if (queue !== null) {
    unsigned(at("queue"), queue, 32);
    if (queue === 0) bad(at("queue"), queue, "1 or more frames");
    if (rate === null) missing(at("queue"), queue, "without a rate no frame waits: give rate too");
  }
  const part = (name: "loss" | "duplicate" | "reorder"): number => {
    const value = options[name] ?? 0;
    return value >= 0 && value <= 1 ? value : bad(at(name), value, "a part of the frames, from 0 to 1");
  };
  const settings = { loss: part("loss"), duplicate: part("duplicate"), reorder: part("reorder") };
  if (settings.reorder > 0 && jitter === 0n) missing(at("reorder"), settings.reorder, "give jitter or delay");
  const own = options.seed ?? seed;
  if (!Number.isSafeInteger(own)) bad(at("seed"), own, "an integer");
  return { delay, jitter, rate, queue, ...settings, seed: own };
}

function duration(path: string, value: unknown): bigint {
  if (typeof value !== "bigint") mistyped(`${path} must be nanoseconds as a bigint, as 2000n`);
  return value >= 0n && value < 1n << 63n ? value : bad(path, value, "0n or more nanoseconds, below 2^63");
}

function bad(path: string, value: unknown, hint: string): never {
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint });
}

function missing(path: string, value: unknown, hint: string): never {
  return refuse({ code: "EINVAL", reason: "option_missing", path, value, hint });
}

/** A frame on its way. */
export class Arrival extends Deadline {
  constructor(
    private readonly _line: Line,
    readonly frame: Uint8Array,
  ) {
    super();
  }

  /** The device that has sent it. */
  get from(): DeviceBase {
    return this._line.from;
  }

  /** The port at which it arrives. */
  get port(): number {
    return this._line.port.number;
  }

  override due(): void {
    this._line.arrive(this);
  }
}

export class Line {
  readonly from: DeviceBase;
  private readonly _to: Receiver;
  /** The port at the far end. */
  readonly port: Port;
  private readonly _settings: LineSettings;
  private readonly _underWay = new Set<Arrival>();
  private readonly _counts = {
    sent: 0,
    arrived: 0,
    lost: 0,
    overflowed: 0,
    removed: 0,
    duplicated: 0,
    reordered: 0,
    marked: 0,
  };
  /** When the last bit of the frames so far has left. */
  private _free = 0n;
  /** When the last bit of each frame that may still wait has left, in order. */
  private readonly _leaving: bigint[] = [];
  private _chance: number;
  /** What the fabric of this cable marks (fabric/queues.ts). */
  ecn: number | null = null;
  /** Gets each frame that the queue takes, and how many were there; returns the one to carry. */
  queued: ((frame: Uint8Array, before: number) => Uint8Array) | null = null;

  /** @param salt differs between the two directions of a cable */
  constructor(from: DeviceBase, to: Receiver, port: Port, settings: LineSettings, salt: number) {
    this.from = from;
    this._to = to;
    this.port = port;
    this._settings = settings;
    this._chance = (Math.imul(settings.seed | 0, 0x9e3779b1) + Math.imul(salt + 1, 0x85ebca6b)) >>> 0;
  }

  /** Takes a frame that leaves the port now. */
  send(sent: Uint8Array): void {
    const { rate, queue, delay, loss, duplicate } = this._settings;
    const now = this.from.now();
    this._counts.sent++;
    // All chance is drawn for each frame, so that no option changes what another one draws.
    const [isLost, isDoubled] = [this._draw() < loss, this._draw() < duplicate];
    const copies = [this._late(), this._late()];
    let left = now;
    let before = 0;
    if (rate !== null) {
      while (this._leaving.length > 0 && (this._leaving[0] as bigint) <= now) this._leaving.shift();
      if (queue !== null && this._leaving.length >= queue) {
        this._counts.overflowed++;
        return;
      }
      before = this._leaving.length;
      const begins = this._free > now ? this._free : now;
      left = begins + BigInt(Math.ceil((8e9 * sent.length) / rate));
      this._free = left;
      this._leaving.push(left);
    }
    const frame = this.queued === null ? sent : this.queued(sent, before);
    if (frame !== sent) this._counts.marked++;
    if (isLost) {
      this._counts.lost++;
      return;
    }
    if (isDoubled) this._counts.duplicated++;
    for (const late of isDoubled ? copies : copies.slice(0, 1)) {
      if (late > 0n) this._counts.reordered++;
      // `slice` of a Buffer of Node.js makes no copy.
      const arrival = new Arrival(this, new Uint8Array(frame));
      this._underWay.add(arrival);
      this._to.clock.set(arrival, left + delay + late);
    }
  }

  arrive(arrival: Arrival): void {
    this._underWay.delete(arrival);
    this._counts.arrived++;
    this._to.receive(this.port.number, arrival.frame);
  }

  /** Removes the frames under way. */
  cut(): void {
    for (const arrival of this._underWay) this._to.clock.cancel(arrival);
    this._counts.removed += this._underWay.size;
    this._underWay.clear();
  }

  get counters(): CableCounters {
    return { ...this._counts, underWay: this._underWay.size };
  }

  /** The nanoseconds that a frame is held back. */
  private _late(): bigint {
    const { reorder, jitter } = this._settings;
    const [isLate, part] = [this._draw() < reorder, this._draw()];
    return isLate ? 1n + (BigInt(Math.floor(part * 0x1_0000_0000)) * (jitter - 1n)) / 0xffff_ffffn : 0n;
  }

  /** A number from 0 to 1, from a 32-bit generator: an additive sequence, mixed. */
  private _draw(): number {
    this._chance = (this._chance + 0x9e3779b9) >>> 0;
    let mixed = this._chance;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  }
}
