/** Where wires are plugged in: ports of the device, and queues that send and receive. */
import { rangeText } from "../../base/checks.js";
import type { LoadedQueue, LoadedScenario } from "../../scenario/index.js";
import { nearest, SteeringError } from "../../index.js";
import { badUsage } from "../refusal.js";
import type { PlacedWire } from "../wire/wires.js";
import type { Wire } from "../wire/wire.js";

/** A queue pair. */
export type SendingQueue = Extract<LoadedQueue["queue"], { readonly qp_num: number }>;

/** A wire in its place: one of `port` and `queue` is not null. */
export interface Place {
  /** As in outcomes: `port:1`, `qp:web`. */
  readonly name: string;
  readonly port: number | null;
  readonly queue: SendingQueue | null;
  readonly wire: Wire;
}

/** Finds the places of wires. @throws CommandRefusal no such place, one that has a wire, a queue that sends nothing */
export function placesOf(loaded: LoadedScenario, wires: readonly PlacedWire[]): Place[] {
  const places: Place[] = [];
  for (const { option, place, wire } of wires) {
    const port = portNamed(place);
    const queue = port === null ? queueNamed(loaded, option, place) : null;
    if (port !== null && (port < 1 || port > loaded.device.ports))
      throw badUsage(option, `ports of the scenario's device: ${rangeText(1, loaded.device.ports)}`);
    const name = port === null ? `qp:${place}` : `port:${port}`;
    if (places.some((one) => one.name === name)) throw badUsage(option, `${place} already has a wire`);
    places.push({ name, port, queue, wire });
  }
  return places;
}

function portNamed(place: string): number | null {
  if (place === "uplink") return 1;
  const [, digits] = /^port(\d{1,4})$/.exec(place) ?? [];
  return digits === undefined ? null : Number(digits);
}

function queueNamed({ queues }: LoadedScenario, option: string, name: string): SendingQueue {
  const found = queues.get(name)?.queue;
  if (found !== undefined && "qp_num" in found) return found;
  const names = ["uplink", ...[...queues].flatMap(([one, { queue }]) => ("qp_num" in queue ? [one] : []))];
  if (found !== undefined) throw badUsage(option, `a work queue cannot send; places: ${names.join(", ")}, portN`);
  const near = nearest(name, names);
  throw badUsage(option, `${near === undefined ? "" : `did you mean ${near}? `}places: ${names.join(", ")}, portN`);
}

/** Connects the ports that have wires. @throws CommandRefusal the scenario has a cable there */
export function connectPorts({ device }: LoadedScenario, places: readonly Place[]): void {
  for (const { port, wire } of places) {
    if (port === null) continue;
    try {
      // Answers come in time: retransmissions wait for their time-outs.
      device.connect(port, (frame) => wire.send(frame), { delays: true });
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      throw badUsage(`--wire port${port}`, "the scenario already connects a cable to this port");
    }
  }
}
