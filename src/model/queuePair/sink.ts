/**
 * Sinks: queue pairs for tests and tools that take every frame, without buffers and completions.
 */
import { inCall } from "../../errors.js";
import type { Context } from "../base/context.js";
import { QueuePair } from "./queuePair.js";

/**
 * Creates a raw packet queue pair that takes every frame.
 * @param name its name; outcomes list it as `qp:NAME`
 * @param port the port that `device.send` sends its frames from, from 1 on
 * @throws SteeringError EINVAL for an unknown port; ENOMEM
 */
export function createSink(context: Context, name: string, port = 1): QueuePair {
  return inCall("createSink", () => QueuePair.createSink(context, name, port));
}
