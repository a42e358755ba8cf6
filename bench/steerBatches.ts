/**
 * Frames to outcomes in memory, the engine beside plain JavaScript. Of an outcome it reads verdict
 * and tag.
 */
import { MAX_BATCH } from "../src/abi/engine.js";
import { Link } from "../src/abi/headers.js";
import { Batch } from "../src/engine/batch.js";
import type { Device } from "../src/index.js";
import { expectEqual, type Workload } from "./workload.js";
import type { PlainNic } from "./peers/nic.js";

/**
 * Steers frames from the table `root`; `plain` has the same rules. The number of frames is that of
 * complete batches.
 */
export function steerBatches(
  name: string,
  device: Device,
  root: number,
  plain: PlainNic,
  frames: readonly Uint8Array[],
  checkMore: () => void = () => undefined,
): Workload {
  const batch = new Batch(device.core);
  const steer = (first: number): void => {
    batch.clear();
    for (let i = first; i < first + MAX_BATCH; i++) batch.put(frames[i]!, frames[i]!.length, 1, Link.ethernet);
    batch.steer(root);
  };
  return {
    name,
    unit: "frame",
    units: frames.length,
    check() {
      for (let first = 0; first < frames.length; first += MAX_BATCH) {
        steer(first);
        plain.steer(frames, first, MAX_BATCH);
        const seen = Array.from({ length: MAX_BATCH }, (_, i) => [batch.tag(i), batch.destinations(i)]);
        const expected = plain.rules.map((rule, i) => [plain.tags[i], rule === null ? 0 : 1]);
        expectEqual(`outcomes from frame ${first}`, seen, expected);
      }
      checkMore();
    },
    cases: [
      {
        name: "engine, copied in, verdict and tag read",
        run: () => {
          let sum = 0;
          for (let first = 0; first < frames.length; first += MAX_BATCH) {
            steer(first);
            for (let i = 0; i < MAX_BATCH; i++) sum += batch.tag(i) + batch.verdict(i);
          }
          return sum;
        },
      },
      {
        name: "plain JavaScript",
        peer: true,
        run: () => {
          let sum = 0;
          for (let first = 0; first < frames.length; first += MAX_BATCH) {
            plain.steer(frames, first, MAX_BATCH);
            for (let i = 0; i < MAX_BATCH; i++) sum += plain.tags[i]! + (plain.rules[i] === null ? 5 : 1);
          }
          return sum;
        },
      },
    ],
  };
}
