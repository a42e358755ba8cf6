/** Sending: the way of a frame from a queue pair to whoever gets it (docs/flows.md, "Sending"). */
import { IBV_QPS_RTS, IBV_QPT_RAW_PACKET } from "../abi/verbs.js";
import { refuse } from "../errors.js";
import { leave } from "./cable.js";
import type { Device } from "./device.js";
import { describe, living } from "./handle.js";
import { checkFrameLength } from "./input.js";
import type { Outcome, PortDestination, ReasonName } from "./outcome.js";
import { portOf } from "./ports.js";
import { QueuePair } from "./queues.js";
import { STATE_NAMES } from "./queueStates.js";

/** A queue that a rule chose did not take the frame. */
const NOT_TAKEN: readonly (ReasonName | null)[] = [
  "queue_not_ready",
  "no_receive_buffer",
  "receive_buffer_too_short",
  "completion_queue_full",
];

/** `device.send`. */
export function sendFrame(call: string, device: Device, qp: QueuePair, frame: Uint8Array): Outcome {
  living(call, "qp", qp, QueuePair);
  if (qp.device !== device) refuse({ code: "EINVAL", call, reason: "other_device", path: "qp", value: qp });
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
  return sendFrom(call, qp, frame);
}

/** The same, of a frame and a queue pair that were checked. */
export function sendFrom(call: string, qp: QueuePair, frame: Uint8Array): Outcome {
  const { device } = qp;
  const port = portOf(call, "qp.port_num", device, qp.attributes.port_num);
  const [sent] = device.steerSent(call, port.number, [frame]) as [Outcome];
  if (sent.verdict !== "transmit") return sent;
  const [looped] = device.steerLoopback(call, port.number, [frame], qp) as [Outcome];
  const { verdict, reason, tag } = looped;
  // SPEC: a frame that a rule gave to a queue of the port was for the port, whether the queue took it or not. One that a rule
  // dropped was not: rules for what comes in do not keep in what goes out.
  const stays = (verdict === "deliver" || NOT_TAKEN.includes(reason)) && !isMulticast(frame);
  const both = {
    ...sent,
    rules: [...sent.rules, ...looped.rules],
    copies: [...sent.copies, ...looped.copies],
  };
  if (stays) return { ...both, verdict, reason, tag, to: looped.to };
  const left: PortDestination = {
    kind: "port",
    name: `port:${port.number}`,
    object: null,
    frame,
    tag: 0,
    outcome: leave(device, port, frame),
  };
  return { ...both, to: [...looped.to, left] };
}

/** The group bit. */
function isMulticast(frame: Uint8Array): boolean {
  return ((frame[0] ?? 0) & 1) !== 0;
}
