/** The explanation of the last frame of a scenario. */
import { why, whySend, type Explanation, type Target } from "../../../../src/explain/index.js";
import { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import type { LoadedScenario } from "../../../../src/scenario/index.js";

/** Explains the last frame, after the others have had their effect. */
export function explained(loaded: LoadedScenario, target: Target): Promise<Explanation> {
  const frames = [...loaded.frames];
  const frame = frames.pop();
  if (frame === undefined) throw new Error("a scenario without frames");
  loaded.run(frames);
  const { bytes, send, metadata, port = 1, time, linkType, wireLength } = frame;
  loaded.advance(time);
  const given = Object.fromEntries(
    Object.entries({ time, linkType, wireLength }).filter(([, value]) => value !== undefined),
  );
  if (send === undefined) return why(loaded.device, port, bytes, target, given);
  const queue = loaded.queues.get(send)?.queue;
  if (!(queue instanceof QueuePair)) throw new Error(`${send} sends no frames`);
  return whySend(loaded.device, queue, bytes, target, metadata === undefined ? {} : { metadata });
}
