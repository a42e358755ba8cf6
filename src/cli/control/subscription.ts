/** Events of a served device as notifications for one connection. */
import { hexOf } from "../../base/hex.js";
import { EVENT_NAMES, type DeviceEvents, type EventName } from "../../index.js";
import { outcomeNames } from "../../scenario/index.js";
import { commentText } from "../report/comment.js";
import type { SeeSteered, Switchboard } from "../serve/switchboard.js";
import { bad, only } from "./params.js";
import type { Params } from "./rpc.js";

/** Events of the device, and `steered`: a frame that a wire or the control gave, in the words of `run --annotate`. */
type Name = EventName | "steered";
const NAMES: readonly Name[] = [...EVENT_NAMES, "steered"];
const MILLISECOND = 1_000_000n;

export class Subscription {
  readonly #board: Switchboard;
  readonly #tell: (params: object) => void;
  readonly #stops = new Map<Name, () => void>();

  constructor(board: Switchboard, tell: (params: object) => void) {
    this.#board = board;
    this.#tell = tell;
  }

  subscribe(params: Params): object {
    for (const name of namesOf(params)) {
      if (!this.#stops.has(name)) this.#stops.set(name, name === "steered" ? this.#watch() : this.#listen(name));
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

  #listen(name: EventName): () => void {
    const listener = (event: DeviceEvents[typeof name]): void => this.#tell({ event: name, ...payloadOf(event) });
    return this.#board.loaded.device.on(name, listener);
  }

  #watch(): () => void {
    const { loaded, watchers } = this.#board;
    /** The clock of the device began at this time. */
    const began = BigInt(Date.now()) * MILLISECOND - this.#board.time;
    const see: SeeSteered = ({ place, bytes, linkType }, outcome) => {
      const time = loaded.device.now();
      this.#tell({
        event: "steered",
        time,
        since1970: String(began + time),
        place,
        linkType,
        frame: hexOf(bytes),
        verdict: outcome.verdict,
        comment: commentText(loaded, bytes, outcome),
      });
    };
    watchers.add(see);
    return () => watchers.delete(see);
  }
}

function namesOf(params: Params): Name[] {
  only(params, ["events"]);
  const { events } = params;
  const hint = `a list of ${NAMES.join(", ")}`;
  if (!Array.isArray(events)) throw bad("events", hint);
  return events.map((one: unknown) => {
    const name = NAMES.find((known) => known === one);
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
  if (value instanceof Uint8Array) return hexOf(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (key === "outcome") return outcomeNames(value as Parameters<typeof outcomeNames>[0]);
  return "name" in value && typeof value.name === "string" ? value.name : null;
}
