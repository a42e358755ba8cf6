/** A device: ports that frames come in on, the objects made on it, a clock, and the one place that steers. */
import { Reason } from "../abi/engine.js";
import { WANT_ALL } from "../abi/key.js";
import { Batch } from "../engine/batch.js";
import type { Core } from "../engine/core.js";
import { loadCore, type CoreSource } from "../engine/load.js";
import { refuse } from "../errors.js";
import type { Classifier, Placed } from "./classifier.js";
import { rootClassifier } from "./domain.js";
import { unsigned } from "./handle.js";
import { checkFrames, linkFor, optionsOf, wireLengthOf, type BatchOptions, type FrameOptions } from "./input.js";
import { reasonName, verdictName, type Destination, type Outcome, type ReasonName } from "./outcome.js";
import { parsedAt, type ParsedFrame } from "./parse.js";
import { ParserDeclaration, type ParserOptions } from "./parser.js";
import { profileNamed, type Profile } from "./profile.js";
import type { QueuePair } from "./queues.js";
import type { Rule } from "./rule.js";

export interface DeviceOptions {
  /** @default "flowsteer0" */
  name?: string;
  /** Physical ports, numbered from 1. @default 1 */
  ports?: number;
  /** What is refused beyond what the manual pages refuse. @default "manual" */
  profile?: string;
  /** Seed of everything that is left to chance. @default 0 */
  seed?: number;
  /** The clock in nanoseconds. @default a virtual clock that `advance` moves */
  now?: () => bigint;
  limits?: {
    /** Bytes for tables, rules, counters and queues; a call that needs more is ENOMEM. */
    memory?: number;
  };
  /** Programmable samples, and the Geneve option that rules can ask about. @default none */
  parser?: ParserOptions;
  /** Where the core comes from. @default the file beside this module */
  core?: CoreSource;
}

/** Opens a device. The only asynchronous call: it compiles the core, once for each process. */
export async function createDevice(options: DeviceOptions = {}): Promise<Device> {
  const call = "createDevice";
  const profile = profileNamed(options.profile ?? "manual");
  const ports = unsigned(call, "ports", options.ports ?? 1, 8);
  if (ports < 1)
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "ports", value: ports, hint: "1 to 255" });
  const memory = options.limits?.memory;
  if (memory !== undefined) unsigned(call, "limits.memory", memory, 32);
  const parser = new ParserDeclaration(call, options.parser ?? {});
  const core = await loadCore(options.core);
  if (memory !== undefined) core.exports.limitArena(memory);
  parser.declare(core);
  return new Device(core, profile, parser, { ...options, ports });
}

export class Device {
  readonly name: string;
  readonly ports: number;
  readonly profile: Profile;
  readonly seed: number;
  /** Nanoseconds. */
  readonly now: () => bigint;
  /** @internal */
  readonly core: Core;
  /** @internal */
  readonly parser: ParserDeclaration;
  /** @internal Queue pairs by their handle in the core. */
  readonly queuePairs = new Map<number, QueuePair>();
  /** @internal Contexts open. */
  users = 0;
  readonly #batch: Batch;
  readonly #numbers = new Map<string, number>();
  readonly #rules: (Rule | undefined)[] = [];
  readonly #freeRuleIds: number[] = [];
  #root: Classifier | undefined;
  #clock = 0n;
  #closed = false;

  /** @internal */
  constructor(core: Core, profile: Profile, parser: ParserDeclaration, options: DeviceOptions & { ports: number }) {
    this.core = core;
    this.parser = parser;
    this.profile = profile;
    this.name = options.name ?? "flowsteer0";
    this.ports = options.ports;
    this.seed = options.seed ?? 0;
    this.now = options.now ?? (() => this.#clock);
    this.#batch = new Batch(core);
  }

  /** Moves the virtual clock. */
  advance(nanoseconds: bigint): void {
    this.#clock += nanoseconds;
  }

  /** A frame arrives on a port (1 ..). */
  receive(port: number, frame: Uint8Array, options: FrameOptions = {}): Outcome {
    return this.receiveBatch(port, [frame], options)[0] as Outcome;
  }

  /** Frames arrive on a port, in order; one outcome for each. The same rules and frames give what one by one gives. */
  receiveBatch(port: number, frames: readonly Uint8Array[], options: BatchOptions = {}): Outcome[] {
    const root = this.rootClassifier("receive").table;
    return this.#run("receive", port, frames, options, () => this.#batch.steer(root), this.#outcome.bind(this));
  }

  /** What the parser sees in each frame: every field, whether rules read it or not. Nothing is steered. */
  parseBatch(frames: readonly Uint8Array[], options: BatchOptions = {}): ParsedFrame[] {
    return this.#run(
      "parse",
      1,
      frames,
      options,
      () => this.#batch.parse(WANT_ALL),
      (i) => parsedAt(this.#batch, i),
    );
  }

  /** Runs frames through the core, as many at a time as it takes, and reads what came of each. */
  #run<T>(
    call: string,
    port: number,
    frames: readonly Uint8Array[],
    options: BatchOptions,
    work: () => void,
    read: (i: number, frame: Uint8Array) => T,
  ): T[] {
    this.#checkPort(call, port);
    checkFrames(call, frames, options);
    const results: T[] = [];
    for (let next = 0; next < frames.length;) {
      this.#batch.clear();
      const first = next;
      for (; next < frames.length; next++) {
        const frame = frames[next] as Uint8Array;
        const own = optionsOf(options, next);
        if (!this.#batch.put(frame, wireLengthOf(frame, own), port, linkFor(call, next, own))) break;
      }
      work();
      for (let i = first; i < next; i++) results.push(read(i - first, frames[i] as Uint8Array));
    }
    return results;
  }

  /** Frames that ended for each reason, since the device was made. */
  reasons(): Record<ReasonName, bigint> {
    const counts = this.#batch.reasons().map((count, reason) => [reasonName(reason), count] as const);
    return Object.fromEntries(counts.filter(([name]) => name !== null)) as Record<ReasonName, bigint>;
  }

  /** Bytes that tables, rules, counters and queues hold. */
  get memoryUsed(): number {
    return this.core.exports.arenaUsed() >>> 0;
  }

  /** EBUSY while a context is open. */
  close(): void {
    const call = "device.close";
    if (this.users > 0) refuse({ code: "EBUSY", call, reason: "in_use", path: "device", value: this });
    this.#closed = true;
  }

  get closed(): boolean {
    return this.#closed;
  }

  // What follows serves the model, and is no part of the published types.

  /** @internal Rules alive. */
  *rules(): Iterable<Rule> {
    for (const rule of this.#rules) if (rule !== undefined) yield rule;
  }

  /** @internal Rules that have a rank of a classifier. */
  placedRules(): Iterable<Placed> {
    return this.rules();
  }

  /** @internal */
  freeRuleId(): number {
    return this.#freeRuleIds.at(-1) ?? this.#rules.length;
  }

  /** @internal */
  rememberRule(rule: Rule): void {
    if (rule.id === this.#rules.length) this.#rules.push(rule);
    else this.#rules[this.#freeRuleIds.pop() as number] = rule;
  }

  /** @internal */
  forgetRule(rule: Rule): void {
    this.#rules[rule.id] = undefined;
    this.#freeRuleIds.push(rule.id);
  }

  /** @internal The root table that all applications share. */
  rootClassifier(call: string): Classifier {
    this.#root ??= rootClassifier(call, this);
    return this.#root;
  }

  /** @internal The next free number of a kind, and `count` of them taken. */
  nextNumber(kind: string, count = 1): number {
    const next = this.#numbers.get(kind) ?? 0;
    this.#numbers.set(kind, next + count);
    return next;
  }

  /** @internal The address that the core gave; ENOMEM where it had none. */
  allocated(call: string, address: number): number {
    if (address !== 0) return address >>> 0;
    const hint = `${this.memoryUsed} bytes are in use; see limits.memory of createDevice`;
    return refuse({ code: "ENOMEM", call, reason: "no_memory", path: "device", value: this, hint });
  }

  #checkPort(call: string, port: number): void {
    if (this.#closed) refuse({ code: "EINVAL", call, reason: "object_destroyed", path: "device", value: this });
    if (Number.isInteger(port) && port >= 1 && port <= this.ports) return;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "port", value: port, hint: `1 to ${this.ports}` });
  }

  #outcome(i: number, input: Uint8Array): Outcome {
    const batch = this.#batch;
    const tag = batch.tag(i);
    const outcome: Writable<Outcome> = {
      verdict: verdictName(batch.verdict(i)),
      reason: reasonName(batch.reason(i)),
      to: NOWHERE,
      tag: tag < 0 ? null : tag,
      registers: NO_REGISTERS,
      rules: batch.hits(i) === 0 ? NO_RULES : this.#rulesHit(i),
      copies: NOWHERE,
    };
    const destinations = batch.destinations(i);
    let at = batch.firstDestination(i);
    for (let n = 0; n < destinations; n++) {
      this.#arrive(at, outcome, input);
      at = batch.nextDestination(at);
    }
    return outcome;
  }

  /** A destination of a frame: the bytes go to its queue, and the outcome lists it where the queue took them. */
  #arrive(at: number, outcome: Writable<Outcome>, frame: Uint8Array): void {
    const batch = this.#batch;
    const object = this.queuePairs.get(batch.queueOf(at)) as QueuePair;
    const status = batch.statusOf(at);
    const taken = status === NONE;
    if (!object.isSink && (taken || status === TOO_SHORT)) object.arrive(batch.arrivalAt(at), batch.tagOf(at));
    if (!taken) return;
    // No action of this release changes a frame: what arrived is what came in.
    const destination: Destination = { kind: "qp", name: object.label, object, frame, tag: batch.tagOf(at) };
    const list = batch.isCopy(at) ? "copies" : "to";
    if (outcome[list].length === 0) outcome[list] = [destination];
    else (outcome[list] as Destination[]).push(destination);
  }

  #rulesHit(i: number): Rule[] {
    const rules: Rule[] = [];
    for (let n = 0; n < this.#batch.hits(i); n++) rules.push(this.#rules[this.#batch.hit(i, n)] as Rule);
    return rules;
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const NONE: number = Reason.none;
const TOO_SHORT: number = Reason.receive_buffer_too_short;

// Shared by all outcomes that have none.
const NOWHERE: readonly Destination[] = Object.freeze([]);
const NO_RULES: readonly Rule[] = Object.freeze([]);
const NO_REGISTERS: Readonly<Record<string, number>> = Object.freeze({});
