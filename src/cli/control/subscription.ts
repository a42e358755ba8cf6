/** Events of the device as notifications for one connection. */
import { EVENT_NAMES, type Device, type DeviceEvents, type EventName } from "../../index.js";
import { outcomeNames } from "../../scenario/index.js";
import { bad, only } from "./params.js";
import type { Params } from "./rpc.js";

export class Subscription {
  readonly #device: Device;
  readonly #tell: (params: object) => void;
  readonly #stops = new Map<EventName, () => void>();

  constructor(device: Device, tell: (params: object) => void) {
    this.#device = device;
    this.#tell = tell;
  }

  subscribe(params: Params): object {
    for (const name of namesOf(params)) {
      if (this.#stops.has(name)) continue;
      const listener = (event: DeviceEvents[typeof name]): void => this.#tell({ event: name, ...payloadOf(event) });
      this.#stops.set(name, this.#device.on(name, listener));
    }
    return { events: [...this.#stops.keys()] };
  }

  unsubscribe(params: Params): object {
    for (const name of namesOf(params)) {
      this.#stops.get(name)?.();
      this.#stops.delete(name);
    }
    return { events: [...this.#stops.keys()] };
  }

  end(): void {
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }
}

function namesOf(params: Params): EventName[] {
  only(params, ["events"]);
  const { events } = params;
  const hint = `a list of ${EVENT_NAMES.join(", ")}`;
  if (!Array.isArray(events)) throw bad("events", hint);
  return events.map((one: unknown) => {
    const name = EVENT_NAMES.find((known) => known === one);
    if (name === undefined) throw bad("events", hint);
    return name;
  });
}

/** Names in place of objects, hexadecimal digits in place of bytes. */
function payloadOf(event: object): object {
  const pairs = Object.entries(event).filter(([key]) => key !== "device");
  return Object.fromEntries(pairs.map(([key, value]) => [key, plain(key, value)]));
}

function plain(key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex");
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (key === "outcome") return outcomeNames(value as Parameters<typeof outcomeNames>[0]);
  return "name" in value && typeof value.name === "string" ? value.name : null;
}
