/** Frames through four tables that rewrite and encapsulate them, to the bytes at a queue. */
import { MAX_BATCH } from "../src/abi/engine.js";
import { DEST_LENGTH, Reason, Verdict } from "../src/abi/outcome.js";
import { Link } from "../src/abi/headers.js";
import { Batch } from "../src/engine/batch.js";
import { longerFrame } from "./makeFrames.js";
import { expectEqual, type Suite, type Workload } from "./harness.js";
import type { PlainOutcome } from "./peers/pipeline.js";
import { engineGateway, type EngineGateway } from "./pipeline/engine.js";
import { plainGateway, type PlainGateway } from "./pipeline/plain.js";
import { trace } from "./tuples.js";

const FRAMES = 4096;
/** Payload sizes, by frame size. */
const PAYLOADS = { "64": 10, "1,400": 1346 } as const;
/** Bytes of a frame in a batch, head room and all. */
const ROOM = 2048;

export const pipeline: Suite = {
  name: "pipeline",
  title: "Pipeline: four tables, three of 1,000 rules; address, port, TTL and MACs rewritten, then into VXLAN",
  async *workloads(quick) {
    const rules = quick ? 200 : 1000;
    for (const [size, payload] of Object.entries(PAYLOADS)) {
      const frames = trace(rules, quick ? 2 * MAX_BATCH : FRAMES).map((tuple) => longerFrame(tuple, payload));
      const plain = plainGateway(rules, MAX_BATCH, MAX_BATCH * ROOM);
      yield steering(`${size}-byte frames`, await engineGateway(rules), plain, frames);
    }
  },
};

function steering(name: string, engine: EngineGateway, plain: PlainGateway, frames: readonly Uint8Array[]): Workload {
  const { device } = engine;
  const { pipeline } = plain;
  const batch = new Batch(device.core);
  const steer = (first: number): void => {
    batch.clear();
    for (let i = first; i < first + MAX_BATCH; i++) batch.put(frames[i]!, frames[i]!.length, 1, Link.ethernet);
    batch.steer(device.function(0).pipeline.received);
  };
  return {
    name,
    unit: "frame",
    units: frames.length,
    check() {
      for (let first = 0; first < frames.length; first += MAX_BATCH) {
        steer(first);
        pipeline.steer(frames, first, MAX_BATCH);
        for (let i = 0; i < MAX_BATCH; i++) expectEqual(`frame ${first + i}`, seen(batch, i), pipeline.outcome(i));
      }
      expectEqual("counters", engine.counts(), plain.counts());
    },
    cases: [
      {
        name: "engine, copied in, verdict and length read",
        run: () => {
          let sum = 0;
          for (let first = 0; first < frames.length; first += MAX_BATCH) {
            steer(first);
            for (let i = 0; i < MAX_BATCH; i++) sum += batch.verdict(i) + lengthOf(batch, i);
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
            pipeline.steer(frames, first, MAX_BATCH);
            for (let i = 0; i < MAX_BATCH; i++) sum += pipeline.verdicts[i]! + pipeline.ends[i]! - pipeline.starts[i]!;
          }
          return sum;
        },
      },
    ],
  };
}

function lengthOf(batch: Batch, i: number): number {
  return batch.destinations(i) === 0 ? 0 : batch.core.u32[batch.firstDestination(i) + (DEST_LENGTH >> 2)]!;
}

function seen(batch: Batch, i: number): PlainOutcome {
  const arrived = batch.destinations(i) > 0;
  return {
    verdict: Verdict[batch.verdict(i)]!,
    reason: Reason[batch.reason(i)]!,
    rules: batch.hits(i),
    frame: arrived ? Buffer.from(batch.frameAt(batch.firstDestination(i))).toString("hex") : null,
  };
}
