/**
 * Bytes to outcome: 64-byte TCP frames against 1,000 rules of one matcher that count, tag and name
 * a queue.
 */
import { MAX_BATCH } from "../src/abi/engine.js";
import { createSink } from "../src/index.js";
import {
  allocFlowCounterCommand,
  mlx5dv_devx_obj_create,
  mlx5dv_dr_action_create_dest_ibv_qp,
  mlx5dv_dr_action_create_flow_counter,
  mlx5dv_dr_action_create_tag,
} from "../src/mlx5dv/index.js";
import type { FlowCounter } from "../src/model/action/counter.js";
import { tcpFrame } from "./makeFrames.js";
import { expectEqual, timed, type Suite } from "./workload.js";
import { plainValue, TUPLE_MASK, TupleTable } from "./nic.js";
import { PlainNic } from "./peers/nic.js";
import { steerBatches } from "./steerBatches.js";
import { trace, tupleAt } from "./tuples.js";

const RULES = 1000;
const COUNTERS = 1024;
const FRAMES = 4096;

export const steer: Suite = {
  name: "steer",
  title: "Steer: bytes to outcome, 64-byte frames, 1,000 rules that count, tag and name a queue",
  async *workloads() {
    const frames = trace(RULES, FRAMES).map(tcpFrame);
    const { nic, counters } = await engineNic();
    const { nic: plain, counters: plainCounters } = plainNic();
    const { device } = nic;
    const root = nic.table.classifier.table;
    yield steerBatches("a batch of 256, outcomes in memory", device, root, plain, frames, () => {
      for (const [i, packets] of counters.entries()) expectEqual(`counter ${i}`, packets(), plainCounters[i]!());
    });

    yield {
      name: "outcomes as objects",
      unit: "frame",
      units: FRAMES,
      check() {
        const batched = device.receiveBatch(1, frames);
        for (const [i, frame] of frames.entries()) {
          const { verdict, reason, tag, to } = plain.receive(frame);
          const expected = { verdict, reason, tag, to: to.map(({ name }) => name) };
          for (const outcome of [device.receive(1, frame), batched[i]!]) {
            const seen = { verdict: outcome.verdict, reason: outcome.reason, tag: outcome.tag };
            expectEqual(`outcome of frame ${i}`, { ...seen, to: outcome.to.map(({ name }) => name) }, expected);
          }
        }
      },
      cases: [
        {
          name: "device.receive, one a call",
          seconds: timed(() => {
            let sum = 0;
            for (let i = 0; i < FRAMES; i++) sum += device.receive(1, frames[i]!).tag ?? 0;
            return sum;
          }),
        },
        {
          name: "device.receiveBatch, 256 a call",
          seconds: timed(() => {
            let sum = 0;
            for (let first = 0; first < FRAMES; first += MAX_BATCH) {
              for (const { tag } of device.receiveBatch(1, frames.slice(first, first + MAX_BATCH))) sum += tag ?? 0;
            }
            return sum;
          }),
        },
        {
          name: "plain JavaScript, an object a frame",
          peer: true,
          seconds: timed(() => {
            let sum = 0;
            for (let i = 0; i < FRAMES; i++) sum += plain.receive(frames[i]!).tag ?? 0;
            return sum;
          }),
        },
      ],
    };
  },
};

async function engineNic(): Promise<{ nic: TupleTable; counters: (() => number)[] }> {
  const nic = await TupleTable.open(0);
  const toQueue = mlx5dv_dr_action_create_dest_ibv_qp(createSink(nic.context, "web"));
  const command = allocFlowCounterCommand(Math.log2(COUNTERS));
  const bulk: FlowCounter = mlx5dv_devx_obj_create(nic.context, command, undefined, new Uint8Array(16), undefined);
  for (let i = 0; i < RULES; i++) {
    const count = mlx5dv_dr_action_create_flow_counter(bulk, i);
    nic.create(tupleAt(i), [mlx5dv_dr_action_create_tag(i), count, toQueue]);
  }
  return { nic, counters: Array.from({ length: RULES }, (_, i) => () => Number(bulk.read(i).packets)) };
}

function plainNic(): { nic: PlainNic; counters: (() => number)[] } {
  const nic = new PlainNic(MAX_BATCH);
  const counters = Array.from({ length: RULES }, () => ({ packets: 0, bytes: 0 }));
  const group = nic.classifier.group(TUPLE_MASK);
  for (const [i, counter] of counters.entries()) {
    group.insert(plainValue(tupleAt(i)), i, { id: i, counter, tag: i, queue: "qp:web" });
  }
  return { nic, counters: counters.map((counter) => () => counter.packets) };
}
