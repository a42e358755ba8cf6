/** Explanations beside what they explain: a frame traced, one explained, and the same frame received. */
import { createSink } from "../src/index.js";
import { openExplainer, openTracer } from "../src/explain/index.js";
import { mlx5dv_dr_action_create_dest_ibv_qp, mlx5dv_dr_action_create_tag } from "../src/mlx5dv/index.js";
import { tcpFrame } from "./makeFrames.js";
import { expectEqual, type Suite } from "./harness.js";
import { TupleTable } from "./nic.js";
import { missOf, tupleAt } from "./tuples.js";

const FRAMES = 256;
/** `trace` takes at most 50 microseconds a frame, with the core warm. */
const SIZES = [10, 1000] as const;

export const explain: Suite = {
  name: "explain",
  title: "Explain: 64-byte frames traced and explained, rules that tag and name a queue",
  async *workloads() {
    for (const rules of SIZES) {
      const nic = await TupleTable.open(0);
      const toQueue = mlx5dv_dr_action_create_dest_ibv_qp(createSink(nic.context, "web"));
      for (let i = 0; i < rules; i++) nic.create(tupleAt(i), [mlx5dv_dr_action_create_tag(i), toQueue]);
      const { device } = nic;
      const tuples = Array.from({ length: FRAMES }, (_, i) => tupleAt(i % rules));
      const hits = tuples.map(tcpFrame);
      const misses = tuples.map(missOf).map(tcpFrame);
      const tracer = await openTracer(device);
      const explainer = await openExplainer(device);
      const receivedAll = (frames: readonly Uint8Array[]) => () => {
        let rulesHit = 0;
        for (const frame of frames) rulesHit += device.receive(1, frame).rules.length;
        return rulesHit;
      };
      const traced = (frames: readonly Uint8Array[]) => () => {
        let steps = 0;
        for (const frame of frames) steps += tracer.trace(1, frame).steps.length;
        return steps;
      };
      yield {
        name: `a frame that hits, ${rules} rules`,
        unit: "frame",
        units: FRAMES,
        check() {
          for (const [i, frame] of hits.entries()) {
            const { verdict, rules: names } = tracer.trace(1, frame).outcome;
            const outcome = device.receive(1, frame);
            const received = outcome.rules.map(({ name }) => name);
            expectEqual(`frame ${i}`, { verdict, names }, { verdict: outcome.verdict, names: received });
          }
        },
        cases: [
          { name: "trace", run: traced(hits) },
          { name: "device.receive", peer: true, run: receivedAll(hits) },
        ],
      };
      yield {
        name: `a frame that misses, ${rules} rules`,
        unit: "frame",
        units: FRAMES,
        check() {
          for (const [i, frame] of misses.entries()) {
            expectEqual(`frame ${i}`, explainer.nearest(1, frame, 1)[0]?.differences.length, 1);
          }
        },
        cases: [
          { name: "trace", run: traced(misses) },
          { name: "nearest 3", run: () => misses.map((frame) => explainer.nearest(1, frame, 3).length) },
          { name: "why it missed, with repairs", run: () => misses.map((frame) => explainer.why(1, frame, "dropped")) },
          { name: "device.receive", peer: true, run: receivedAll(misses) },
        ],
      };
    }
  },
};
