/** Sending: the way of a frame from a queue pair to whoever gets it (docs/flows.md, "Sending"). */
import { IBV_QPS_RTS, IBV_QPT_RAW_PACKET } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { leave } from "../device/cable.js";
import { describe, unsigned } from "../../checks.js";
import { living } from "../base/handle.js";
import { checkFrameLength } from "./input.js";
import { bareOutcome, type Destination, type HitRule, type Outcome, type ReasonName } from "./outcome.js";
import { Afterwards } from "./outcomeReader.js";
import { portOf, type Port } from "../base/ports.js";
import { QueuePair } from "../queue/queuePair.js";
import { STATE_NAMES } from "../queue/states.js";
import type { Traffic } from "./receive.js";

/** How a frame is sent. */
export interface SendOptions {
  /** 32 bits that rules of the send path find in metadata register A. @default 0 */
  metadata?: number;
}

/** A queue that a rule chose did not take the frame. */
const NOT_TAKEN: readonly (ReasonName | null)[] = [
  "queue_not_ready",
  "no_receive_buffer",
  "receive_buffer_too_short",
  "completion_queue_full",
];

/** `device.send`. */
export function sendFrame(
  call: string,
  traffic: Traffic,
  qp: QueuePair,
  frame: Uint8Array,
  { metadata = 0 }: SendOptions,
): Outcome {
  living(call, "qp", qp, QueuePair);
  if (qp.device !== traffic.device) refuse({ code: "EINVAL", call, reason: "other_device", path: "qp", value: qp });
  if (qp.qp_type !== IBV_QPT_RAW_PACKET) {
    const hint = "a queue pair of type IBV_QPT_RAW_PACKET";
    refuse({ code: "EINVAL", call, reason: "bad_object", path: "qp", value: qp, hint });
  }
  if (!qp.isSink && qp.state !== IBV_QPS_RTS) {
    const hint = "move it to RTS first";
    refuse({ code: "EINVAL", call, reason: "bad_state", path: "qp", value: STATE_NAMES[qp.state], hint });
  }
  if (!(frame instanceof Uint8Array)) {
    throw new TypeError(`${call}: frame must be a Uint8Array, not ${describe(frame)}`);
  }
  checkFrameLength(call, "frame", frame.length);
  return sendFrom(call, traffic, qp, frame, unsigned(call, "metadata", metadata, 32));
}

/** The same, of a frame and a queue pair that were checked. */
export function sendFrom(call: string, traffic: Traffic, qp: QueuePair, frame: Uint8Array, metadata = 0): Outcome {
  const { context } = qp;
  const { device } = traffic;
  const { number } = portOf(call, "qp.port_num", device, qp.attributes.port_num);
  const afterwards = new Afterwards();
  const transport = qp.qp_type !== IBV_QPT_RAW_PACKET;
  const { function: from } = context;
  const [sent] = traffic.send(call, from, number, [frame], afterwards, qp.qp_num, metadata, transport) as [Outcome];
  const { outcome, departures } = afterwards.departures.every(({ switched }) => switched)
    ? { outcome: sent, departures: afterwards.departures }
    : loopedBack(call, traffic, qp, sent, afterwards);
  for (const { destination, port } of departures) destination.outcome = leave(device, port, destination.frame);
  for (const arrival of afterwards.arrivals) arrival.transport.arrive(arrival.frame);
  return outcome;
}

/**
 * Frames that no rule of the eSwitch has sent to a port are the PF's: the rules of the port are asked about each of them, and
 * what stays for one does not leave. SPEC: those of RDMA and connections have frames for the port's own MAC and for groups; and
 * what a connected queue pair sends elsewhere asks nobody.
 */
function loopedBack(
  call: string,
  traffic: Traffic,
  qp: QueuePair,
  sent: Outcome,
  afterwards: Afterwards,
): { outcome: Outcome; departures: Afterwards["departures"] } {
  const rules: HitRule[] = [...sent.rules];
  const copies: Destination[] = [];
  const instead = new Map<Destination, readonly Destination[]>();
  const departures: Afterwards["departures"] = [];
  const stayed: Outcome[] = [];
  for (const departure of afterwards.departures) {
    const { destination, port, switched } = departure;
    const { frame } = destination;
    const own = isFor(port, frame);
    if (switched || !(own || qp.transport === null)) {
      departures.push(departure);
      continue;
    }
    const { unicast, multicast } = qp.selfLoopback;
    const options = { rdma: own, ownFlows: isMulticast(frame) ? multicast : unicast };
    const [looped] = traffic.loopBack(call, port.number, [frame], qp, afterwards, options) as [Outcome];
    rules.push(...looped.rules);
    copies.push(...looped.copies);
    const stay = stays(looped, frame);
    instead.set(destination, stay ? looped.to : [...looped.to, destination]);
    if (!stay) departures.push(departure);
    else if (sent.to.includes(destination)) stayed.push(looped);
  }
  const whoHas = (list: readonly Destination[]): Destination[] =>
    list.flatMap((destination) => instead.get(destination) ?? [destination]);
  const to = whoHas(sent.to);
  const left = to.some(({ kind }) => kind === "port");
  const { verdict, reason, tag, registers } = bestOf(sent, stayed, left);
  const outcome = bareOutcome(verdict, reason, tag);
  Object.assign(outcome, { to, registers, rules, copies: [...whoHas(sent.copies), ...copies] });
  return { outcome, departures };
}

/**
 * SPEC: a frame that a rule gave to a queue of the port was for the port, whether the queue took it or not. One that a rule
 * dropped was not: rules for what comes in do not keep in what goes out.
 */
function stays({ verdict, reason }: Outcome, frame: Uint8Array): boolean {
  return (verdict === "deliver" || NOT_TAKEN.includes(reason)) && !isMulticast(frame);
}

/** Who says what became of the frame: what was delivered comes before what left, and that before what was not taken. */
function bestOf(sent: Outcome, stayed: readonly Outcome[], leaves: boolean): Outcome {
  if (sent.verdict !== "transmit") return sent;
  return stayed.find(({ verdict }) => verdict === "deliver") ?? (leaves ? sent : (stayed[0] ?? sent));
}

/** The group bit. */
function isMulticast(frame: Uint8Array): boolean {
  return ((frame[0] ?? 0) & 1) !== 0;
}

/** Whether a frame is for whoever has the MAC of the port, or for a group. */
function isFor({ mac }: Port, frame: Uint8Array): boolean {
  return isMulticast(frame) || mac.every((byte, i) => byte === frame[i]);
}
