/** Queues for tests and tools: somewhere to send frames without buffers and completions. */
import type { Context } from "../base/context.js";
import { QueuePair } from "./queuePair.js";

/**
 * A raw-packet queue pair that takes every frame. Outcomes call it `qp:` and its name.
 *
 * @param port the port that `device.send` sends its frames from
 * @throws SteeringError EINVAL no such port; ENOMEM
 */
export function createSink(context: Context, name: string, port = 1): QueuePair {
  return QueuePair.createSink("createSink", context, name, port);
}
