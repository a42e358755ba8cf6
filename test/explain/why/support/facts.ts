/** The facts of a frame, from the parser of a device. */
import type { Device } from "../../../../src/index.js";
import type { FrameOptions } from "../../../../src/model/traffic/input.js";
import type { FrameFacts } from "../../../../src/explain/why/absent/facts.js";

/** The key of a frame with every group, and where its parse stopped. */
export function factsOf(device: Device, frame: Uint8Array, options: FrameOptions = {}): FrameFacts {
  const [headers] = device.parseHeaders([frame], options);
  const key = device.traffic.batch.key(0).slice();
  return { key, stopped: headers?.stopped ?? null, parser: device.parser };
}
