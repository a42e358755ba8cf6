/**
 * The events of a device (docs/metrics.md): `device.on(event, listener)`.
 *
 * The events of frames are made of their outcomes, when no frame is under way in the core. So a
 * listener may call the device.
 */
import { namesHint } from "../../base/nearest.js";
import { inCall, refuse } from "../../errors.js";
import { wrongType } from "../../base/checks.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { Observer } from "../base/observer.js";
import type { CompletionQueue, WorkCompletion } from "../queue/completionQueue.js";
import type { QueuePair } from "../queuePair/queuePair.js";
import type { Destination, HitRule, MissedTable, Outcome, PortDestination, ReasonName } from "../traffic/outcome.js";
import { StateWatch, type StateChange } from "./states.js";

/** What all events have. */
export interface DeviceEvent {
  readonly device: DeviceBase;
  /** The clock of the device, in nanoseconds. */
  readonly time: bigint;
}

/** What all events of frames have. */
export interface OfFrame extends DeviceEvent {
  /** The bytes as they were received or sent. */
  readonly frame: Uint8Array;
  readonly outcome: Outcome;
}

/** A frame came in: by a port, or from a queue pair. */
export interface FrameEvent extends OfFrame {
  /** The port that received the frame, or that of its sender. */
  readonly port: number;
  /** The queue pair that sent the frame; null for a received frame. */
  readonly sender: QueuePair | null;
}

/** A frame hit a rule. */
export interface HitEvent extends OfFrame {
  readonly rule: HitRule;
}

/** A frame ended without a destination: its verdict is `drop` or `miss`. */
export interface DropEvent extends OfFrame {
  readonly reason: ReasonName | null;
  /** The last rule that the frame hit; null for none. */
  readonly rule: HitRule | null;
  /** The tables that it missed; else the table of the last rule. */
  readonly tables: readonly MissedTable[];
}

/** A queue took a frame or a copy. */
export interface DeliveryEvent extends OfFrame {
  readonly destination: Exclude<Destination, PortDestination>;
  /** Whether it is a copy, which does not count for the verdict. */
  readonly copy: boolean;
}

/** A frame or a copy leaves by a port. */
export interface TransmitEvent extends OfFrame {
  readonly destination: PortDestination;
  readonly copy: boolean;
}

/** A frame has changed the state of an object. */
export type StateEvent = DeviceEvent & StateChange;

/** A rule was added or removed. A rule of an asynchronous domain waits for the next sync. */
export interface RuleEvent extends DeviceEvent {
  readonly rule: HitRule;
}

/** A completion was put into its queue. */
export interface CompletionEvent extends DeviceEvent {
  readonly queue: CompletionQueue;
  readonly completion: WorkCompletion;
}

/** The events by name, in the order in which one frame makes them. */
export interface DeviceEvents {
  frame: FrameEvent;
  hit: HitEvent;
  state: StateEvent;
  drop: DropEvent;
  delivery: DeliveryEvent;
  transmit: TransmitEvent;
  completion: CompletionEvent;
  ruleAdded: RuleEvent;
  ruleRemoved: RuleEvent;
}

export type EventName = keyof DeviceEvents;
/** What `device.on` calls at each event. */
export type EventListener<E extends EventName> = (event: DeviceEvents[E]) => unknown;

export const EVENT_NAMES: readonly EventName[] = [
  ...(["frame", "hit", "state", "drop", "delivery", "transmit", "completion"] as const),
  ...(["ruleAdded", "ruleRemoved"] as const),
];
const FRAME_EVENTS: readonly EventName[] = ["frame", "hit", "state", "drop", "delivery", "transmit"];

const NO_TABLES: readonly MissedTable[] = Object.freeze([]);

/** A list is replaced when a listener comes or goes, so that an event under way has the listeners that it began with. */
type Listeners = { [E in EventName]: readonly EventListener<E>[] };

/** The listeners of a device. It exists while there are some. */
export class Monitor implements Observer {
  readonly #device: DeviceBase;
  readonly #listeners = Object.fromEntries(EVENT_NAMES.map((name) => [name, []])) as unknown as Listeners;
  #states: StateWatch | null = null;
  /** Completions of frames whose own events come first; null while no frame is steered. */
  #waiting: CompletionEvent[] | null = null;

  constructor(device: DeviceBase) {
    this.#device = device;
  }

  get isIdle(): boolean {
    return EVENT_NAMES.every((name) => this.#listeners[name].length === 0);
  }

  get watchesFrames(): boolean {
    return FRAME_EVENTS.some((name) => this.#has(name));
  }

  get oneByOne(): boolean {
    return this.#states !== null;
  }

  add<E extends EventName>(name: E, listener: EventListener<E>): void {
    const all: Record<E, readonly EventListener<E>[]> = this.#listeners;
    all[name] = [...all[name], listener];
    if (name === "state") this.#states ??= new StateWatch(this.#device);
  }

  delete<E extends EventName>(name: E, listener: EventListener<E>): void {
    const all: Record<E, readonly EventListener<E>[]> = this.#listeners;
    all[name] = all[name].filter((one) => one !== listener);
    if (!this.#has("state")) this.#states = null;
  }

  before(): void {
    this.#waiting ??= [];
    this.#states?.before();
  }

  received(
    ports: number | readonly number[],
    frames: readonly Uint8Array[],
    outcomes: readonly Outcome[],
    first: number,
    end: number,
  ): void {
    for (let i = first; i < end; i++) {
      const port = typeof ports === "number" ? ports : (ports[i] as number);
      this.#frame(port, null, frames[i] as Uint8Array, outcomes[i] as Outcome);
    }
    this.#completions();
  }

  sent(sender: QueuePair, port: number, frame: Uint8Array, outcome: Outcome): void {
    this.#frame(port, sender, frame, outcome);
    this.#completions();
  }

  ruleAdded(rule: HitRule): void {
    this.#states?.ruleAdded();
    this.#ofRule("ruleAdded", rule);
  }

  ruleRemoved(rule: HitRule): void {
    this.#ofRule("ruleRemoved", rule);
  }

  completed(queue: CompletionQueue, completion: WorkCompletion): void {
    if (!this.#has("completion")) return;
    const event = { ...this.#common, queue, completion };
    if (this.#waiting === null) this.#tell("completion", event);
    else this.#waiting.push(event);
  }

  get #common(): DeviceEvent {
    return { device: this.#device, time: this.#device.now() };
  }

  #frame(port: number, sender: QueuePair | null, frame: Uint8Array, outcome: Outcome): void {
    const device = this.#device;
    const time = device.now();
    const { verdict, reason, rules, to, copies } = outcome;
    if (this.#has("frame")) this.#tell("frame", { device, time, frame, outcome, port, sender });
    // Listeners may listen to more.
    if (this.#has("hit")) for (const rule of rules) this.#tell("hit", { device, time, frame, outcome, rule });
    for (const change of this.#states?.changes(rules) ?? []) this.#tell("state", { ...this.#common, ...change });
    if (this.#has("drop") && (verdict === "drop" || verdict === "miss")) {
      const rule = rules.at(-1) ?? null;
      const tables = tablesOf(device, outcome, rule);
      this.#tell("drop", { device, time, frame, outcome, reason, rule, tables });
    }
    if (!this.#has("transmit") && !this.#has("delivery")) return;
    for (const destination of to) this.#destination({ device, time, frame, outcome }, destination, false);
    for (const destination of copies) this.#destination({ device, time, frame, outcome }, destination, true);
  }

  #destination(common: OfFrame, destination: Destination, copy: boolean): void {
    if (destination.kind === "port") this.#tell("transmit", { ...common, destination, copy });
    else this.#tell("delivery", { ...common, destination, copy });
  }

  #has(name: EventName): boolean {
    return this.#listeners[name].length > 0;
  }

  #completions(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const event of waiting) this.#tell("completion", event);
  }

  #ofRule(name: "ruleAdded" | "ruleRemoved", rule: HitRule): void {
    if (this.#has(name)) this.#tell(name, { ...this.#common, rule });
  }

  /** The error of a listener does not reach the call that made the event. */
  #tell<E extends EventName>(name: E, event: DeviceEvents[E]): void {
    for (const listener of this.#listeners[name]) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** Implements `device.on`. @returns removes the listener */
export function listen<E extends EventName>(device: DeviceBase, name: E, listener: EventListener<E>): () => void {
  return inCall("device.on", () => {
    device.checkOpen();
    if (!EVENT_NAMES.includes(name)) {
      const hint = namesHint(String(name), "events", [...EVENT_NAMES]);
      refuse({ code: "EINVAL", reason: "unknown_name", path: "event", value: name, hint });
    }
    if (typeof listener !== "function") wrongType("listener", "a function", listener);
    // A listener of its own, so that the same function can listen twice and leave once.
    const own: EventListener<E> = (event) => listener(event);
    const monitor = device.observer instanceof Monitor ? device.observer : new Monitor(device);
    device.observer = monitor;
    monitor.add(name, own);
    return () => {
      monitor.delete(name, own);
      if (monitor.isIdle && device.observer === monitor) device.observer = null;
    };
  });
}

/** The tables that a frame missed, or that of the last rule that it hit. */
function tablesOf(device: DeviceBase, { missed }: Outcome, rule: HitRule | null): readonly MissedTable[] {
  if (missed.length > 0 || rule === null) return missed;
  if ("loopsBack" in rule) return [{ domain: "nic_rx", vport: rule.context.function.vport, table: "root" }];
  const classifier = "classifier" in rule ? rule.classifier : "group" in rule ? rule.table.classifier : null;
  const place = device.tables.get(classifier?.table ?? 0);
  return place === undefined ? NO_TABLES : [{ ...place, table: place.object?.name ?? "root" }];
}
