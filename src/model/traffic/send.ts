/**
 * Sends frames: from a queue pair through the rules to their destinations (docs/flows.md,
 * "Sending").
 */
import { IBV_QPS_RTS, IBV_QPT_RAW_PACKET } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { egress } from "./cable.js";
import { checkBytes, checkTime, unsigned } from "../../base/checks.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { living } from "../base/handle.js";
import { bareOutcome, type Destination, type HitRule, type Outcome, type ReasonName } from "./outcome.js";
import { PendingWork, type EgressFrame } from "./outcomeReader.js";
import { checkFrameLength, portOf, type Port } from "../base/port/ports.js";
import { QueuePair } from "../queuePair/queuePair.js";
import { STATE_NAMES } from "../queue/states.js";
import type { Traffic } from "./receive.js";

/** Options of `device.send`. */
export interface SendOptions {
  /**
   * The initial value of metadata register A, 32 bits, for the rules of the send path. @default 0
   */
  metadata?: number;
  /**
   * Its time in nanoseconds, for meters and connections; null as if left out.
   * @default the clock of the device
   */
  time?: bigint | null;
}

/** Reasons for which a queue that a rule chose does not take the frame. */
const NOT_TAKEN: readonly (ReasonName | null)[] = [
  "queue_not_ready",
  "no_receive_buffer",
  "receive_buffer_too_short",
  "completion_queue_full",
  "wrong_qkey",
  "bad_datagram",
];

/** Implements `device.send`. */
export function sendFrame(traffic: Traffic, qp: QueuePair, frame: Uint8Array, options: SendOptions): Outcome {
  return sendFrom(traffic, qp, frame, checkSend(traffic.device, qp, frame, options));
}

/** Checked options of `device.send`. */
export type SendSettings = Readonly<Required<SendOptions>>;

const DEFAULTS: SendSettings = { metadata: 0, time: null };

/** Checks the arguments of `device.send`. */
export function checkSend(
  device: DeviceBase,
  qp: QueuePair,
  frame: Uint8Array,
  { metadata = 0, time = null }: SendOptions,
): SendSettings {
  living("qp", qp, QueuePair);
  if (qp.device !== device) refuse({ code: "EINVAL", reason: "other_device", path: "qp", value: qp });
  if (qp.qp_type !== IBV_QPT_RAW_PACKET) {
    const hint = "use a queue pair of type IBV_QPT_RAW_PACKET";
    refuse({ code: "EINVAL", reason: "bad_object", path: "qp", value: qp, hint });
  }
  if (!qp.isSink && qp.state !== IBV_QPS_RTS) {
    const hint = "move it to RTS first";
    refuse({ code: "EINVAL", reason: "bad_state", path: "qp", value: STATE_NAMES[qp.state], hint });
  }
  checkBytes("frame", frame);
  checkFrameLength("frame", frame.length);
  unsigned("metadata", metadata, 32);
  if (time !== null) checkTime("time", time);
  return { metadata, time };
}

/** Sends a frame that was checked, from a queue pair that was checked. */
export function sendFrom(
  traffic: Traffic,
  qp: QueuePair,
  frame: Uint8Array,
  settings: SendSettings = DEFAULTS,
): Outcome {
  const pendingWork = new PendingWork();
  const { device } = traffic;
  const { observer } = device;
  observer?.before();
  const { outcome, egressFrames, kept } = steerSent(traffic, qp, frame, settings, pendingWork);
  for (const { destination, port } of kept) device.hitCounts?.stayed(port.number, destination.frame.length);
  observer?.sent(qp, qp.attributes.port_num, frame, outcome);
  for (const { destination, port } of egressFrames) destination.outcome = egress(device, port, destination.frame);
  pendingWork.arrive();
  return outcome;
}

/** Steers sent frames, and those of them that a port loops back. */
export type SendTraffic = Pick<Traffic, "send" | "loopBack">;

/** The outcome of a sent frame, and what leaves by ports. */
interface Sent {
  readonly outcome: Outcome;
  readonly egressFrames: readonly EgressFrame[];
  /** What would leave by ports, but was looped back. */
  readonly kept: readonly EgressFrame[];
}

/** Steers a sent frame through the rules of its function, the eSwitch, and those that loop it back. */
export function steerSent(
  traffic: SendTraffic,
  qp: QueuePair,
  frame: Uint8Array,
  settings: SendSettings,
  pendingWork: PendingWork,
): Sent {
  const { qp_num, qp_type, device, attributes, context } = qp;
  const { number } = portOf("qp.port_num", device, attributes.port_num);
  const origin = { qp_num, transport: qp_type !== IBV_QPT_RAW_PACKET, ...settings };
  const [sent] = traffic.send(context.function, number, [frame], pendingWork, origin) as [Outcome];
  return pendingWork.egressFrames.some((one) => loops(qp, one))
    ? loopedBack(traffic, qp, sent, settings.time, pendingWork)
    : { outcome: sent, egressFrames: pendingWork.egressFrames, kept: [] };
}

/**
 * Whether a frame that leaves is looped back: if it leaves by default, without a rule of the
 * eSwitch, and if it is a multicast frame of the PF that leaves by the port of its queue pair.
 * SPEC: frames that a connected queue pair sends to other addresses than the port's own are not.
 */
function loops(qp: QueuePair, { destination, port, switched }: EgressFrame): boolean {
  const { frame } = destination;
  if (!switched) return qp.transport === null || isFor(port, frame);
  return qp.context.function.managesSwitch && port.number === qp.attributes.port_num && isMulticast(frame);
}

/**
 * Matches the frames that loop back against the receive rules of the port. A frame that those rules
 * keep does not leave. SPEC: RDMA tables and connections match only frames for the port's own MAC
 * and for groups.
 */
function loopedBack(
  traffic: SendTraffic,
  qp: QueuePair,
  sent: Outcome,
  time: bigint | null,
  pendingWork: PendingWork,
): Sent {
  const rules: HitRule[] = [...sent.rules];
  const copies: Destination[] = [];
  const instead = new Map<Destination, readonly Destination[]>();
  const egressFrames: EgressFrame[] = [];
  const stayed: Outcome[] = [];
  const kept: EgressFrame[] = [];
  for (const egressFrame of pendingWork.egressFrames) {
    const { destination, port } = egressFrame;
    if (!loops(qp, egressFrame)) {
      egressFrames.push(egressFrame);
      continue;
    }
    const { frame } = destination;
    const { unicast, multicast } = qp.selfLoopback;
    const options = { rdma: isFor(port, frame), ownFlows: isMulticast(frame) ? multicast : unicast, time };
    const [looped] = traffic.loopBack(port.number, [frame], qp, pendingWork, options) as [Outcome];
    rules.push(...looped.rules);
    copies.push(...looped.copies);
    const stay = stays(looped, frame);
    instead.set(destination, stay ? looped.to : [...looped.to, destination]);
    if (!stay) egressFrames.push(egressFrame);
    else kept.push(egressFrame);
    if (stay && sent.to.includes(destination)) stayed.push(looped);
  }
  const whoHas = (list: readonly Destination[]): readonly Destination[] => {
    const [only] = list;
    if (only === undefined) return list;
    if (list.length === 1) return instead.get(only) ?? list;
    return list.flatMap((destination) => instead.get(destination) ?? [destination]);
  };
  const to = whoHas(sent.to);
  const left = to.some(({ kind }) => kind === "port");
  const { verdict, reason, tag, registers, missed } = bestOf(sent, stayed, left);
  const outcome = bareOutcome(verdict, reason, tag);
  outcome.to = to;
  outcome.registers = registers;
  outcome.rules = rules;
  outcome.missed = missed;
  outcome.copies = copies.length === 0 ? whoHas(sent.copies) : [...whoHas(sent.copies), ...copies];
  return { outcome, egressFrames, kept };
}

/**
 * Whether a looped-back frame stays in the device. SPEC: it stays when a rule chose a queue of the
 * port, even if the queue did not take the frame. It leaves when a rule dropped it: receive rules
 * do not stop sent frames.
 */
function stays({ verdict, reason }: Outcome, frame: Uint8Array): boolean {
  return (verdict === "deliver" || NOT_TAKEN.includes(reason)) && !isMulticast(frame);
}

/** The outcome that represents the whole frame: delivered before left, left before not taken. */
function bestOf(sent: Outcome, stayed: readonly Outcome[], leaves: boolean): Outcome {
  if (sent.verdict !== "transmit") return sent;
  return stayed.find(({ verdict }) => verdict === "deliver") ?? (leaves ? sent : (stayed[0] ?? sent));
}

/** Whether the group bit of the destination MAC is set. */
function isMulticast(frame: Uint8Array): boolean {
  return ((frame[0] ?? 0) & 1) !== 0;
}

/** Whether a frame is addressed to the MAC of the port or to a group. */
function isFor({ mac }: Port, frame: Uint8Array): boolean {
  if (isMulticast(frame)) return true;
  for (let i = 0; i < mac.length; i++) if (mac[i] !== frame[i]) return false;
  return true;
}
