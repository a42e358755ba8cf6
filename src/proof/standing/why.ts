/** Explanations whose repairs have a standing: the entry of `flowsteer/explain`. */
import type { Explanation, Near } from "../../explain/why/explanation.js";
import type { WhyTarget } from "../../explain/why/targets.js";
import { openTracer, type Tracer, type TracerOptions } from "../../explain/trace/tracer.js";
import { Explainer, type WhyOptions, type WhySendOptions } from "../../explain/why/why.js";
import type { Device } from "../../model/device/device.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { FrameOptions } from "../../model/traffic/input.js";

/**
 * Explains why a frame that arrives on a port did not come to a target, or what became of it there. The device stays as it is.
 * @param port 1 to `ports`
 * @param frame the bytes from the link header on
 * @param target an object of the device, the number of a vport, "dropped" for why it ended as it did, "not delivered twice", or
 *   a name or a tag as data
 * @throws SteeringError as `device.receive`; EINVAL: a target of another device, or a name that nothing has
 * @example
 *     console.log(printExplanation(await why(device, 1, frame, rule)));
 */
export async function why(
  device: Device,
  port: number,
  frame: Uint8Array,
  target: WhyTarget,
  { core, ...options }: WhyOptions & TracerOptions = {},
): Promise<Explanation> {
  return explained(device, core, (explainer) => explainer.why(port, frame, target, options));
}

/**
 * Explains a frame that a raw packet queue pair sends, as `why` does for one that arrives.
 * @throws SteeringError as `device.send`; EINVAL as `why`
 */
export async function whySend(
  device: Device,
  qp: QueuePair,
  frame: Uint8Array,
  target: WhyTarget,
  { core, ...options }: WhySendOptions & TracerOptions = {},
): Promise<Explanation> {
  return explained(device, core, (explainer) => explainer.whySend(qp, frame, target, options));
}

/**
 * The rules that a frame did not hit in the tables that it visited, nearest first: by fields that differ, then by bits.
 * @param n how many
 * @throws SteeringError as `device.receive`
 */
export async function nearest(
  device: Device,
  port: number,
  frame: Uint8Array,
  n: number,
  { core, ...options }: FrameOptions & TracerOptions = {},
): Promise<Near[]> {
  return new Explainer(await openTracer(device, { core })).nearest(port, frame, n, options);
}

/** Loads the traced core for explanations of many frames of a device. @throws TypeError no device, or an unknown option */
export async function openExplainer(device: Device, options: TracerOptions = {}): Promise<Explainer> {
  return judging(await openTracer(device, options));
}

/** The search and its solver are large: they are loaded where a repair of a rule needs them. */
async function judging(tracer: Tracer): Promise<Explainer> {
  const { judgeOn } = await import("./standing.js");
  return new Explainer(tracer, judgeOn(tracer));
}

async function explained(
  device: Device,
  core: TracerOptions["core"],
  ask: (explainer: Explainer) => Explanation,
): Promise<Explanation> {
  const tracer = await openTracer(device, { core });
  const explanation = ask(new Explainer(tracer));
  return explanation.repairs.some(({ of }) => of === "rule") ? ask(await judging(tracer)) : explanation;
}
