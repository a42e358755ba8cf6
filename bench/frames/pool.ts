/** Several cores: 64-byte frames against a rule set through the bursts of a pool and of a device, by the clock on the wall. */
import { createDevicePool, VERDICTS, type Burst } from "../../src/index.js";
import { hold } from "../classify/lookups.js";
import { readRules, readTrace, type SetSize, type TraceKind } from "../classify/ruleSets.js";
import { expectEqual, repeated, type Target, type Workload } from "../harness.js";
import { AclDevice, countedSince, queueName, queueOf, WITHOUT_CACHE } from "./acl.js";
import { WORKERS_GOAL } from "./goals.js";
import { FRAME_BYTES, framesOf, separate } from "./stream.js";

export async function workers(size: SetSize, kind: TraceKind, count = 2): Promise<Workload> {
  const rules = readRules("acl1", size);
  const trace = readTrace("acl1", size, kind);
  const bytes = framesOf(trace.headers);
  const one = new Side(await AclDevice.open(rules, WITHOUT_CACHE), bytes);
  const make = (options: object): Promise<AclDevice["device"]> => createDevicePool({ ...options, workers: count });
  const pool = new Side(await AclDevice.open(rules, WITHOUT_CACHE, make), bytes);
  const peers = ["add", "put"].map((way) => `one worker, ${way}`);
  const targets = (peer: string): Record<string, Target> => ({ [peer]: { goal: WORKERS_GOAL } });
  return {
    name: `acl1 ${size}, ${kind} trace, ${count} workers`,
    unit: "frame",
    units: trace.expected.length,
    check: () => {
      for (const side of [one, pool]) {
        const before = side.acl.counts();
        const lines = new Int32Array(trace.expected.length);
        for (const way of [side.add, side.put]) {
          lines.fill(-2);
          way((burst, row, frame) => {
            lines[frame] = burst.tagged[row] === 1 ? burst.tags[row]! : -1;
            if (lines[frame] < 0) return;
            expectEqual(`verdict of frame ${frame}`, VERDICTS[burst.verdicts[row]!], "deliver");
            const to = side.acl.device.destinationName(burst.queues[row]!, burst.kinds[row]!);
            expectEqual(`queue of frame ${frame}`, to, `qp:${queueName(queueOf(lines[frame]))}`);
          });
          hold(`${count} workers`, lines, trace);
        }
        const expected = side.acl.counts().map(() => [0, 0]);
        for (const line of trace.expected) {
          if (line < 0) continue;
          expected[line]![0]! += 2;
          expected[line]![1]! += 2 * FRAME_BYTES;
        }
        expectEqual("counters", countedSince(before, side.acl.counts()), expected);
      }
    },
    cases: [
      { name: peers[0]!, peer: true, seconds: byClock(() => one.add()) },
      { name: `${count} workers, add`, seconds: byClock(() => pool.add()), targets: targets(peers[0]!) },
      { name: peers[1]!, peer: true, seconds: byClock(() => one.put()) },
      { name: `${count} workers, put`, seconds: byClock(() => pool.put()), targets: targets(peers[1]!) },
    ],
    rounds: 15,
  };
}

/** Seconds by the clock of one run. */
function byClock(run: () => unknown): () => Promise<number> {
  return repeated((times) => {
    const start = performance.now();
    for (let i = 0; i < times; i++) run();
    return (performance.now() - start) / 1000;
  });
}

type ReadRow = (burst: Burst, row: number, frame: number) => void;

/** Frames through the burst of a device, as many at a time as it takes; of each the verdict, the tag and the queue are read. */
class Side {
  readonly acl: AclDevice;
  readonly #bytes: Uint8Array;
  readonly #frames: readonly Uint8Array[];
  readonly #burst: Burst;

  constructor(acl: AclDevice, bytes: Uint8Array) {
    this.acl = acl;
    this.#bytes = bytes;
    this.#frames = separate(bytes);
    this.#burst = acl.device.openBurst();
  }

  /** All frames lie in the area of the burst, where a reader of a file would put them. */
  readonly add = (read?: ReadRow): number => {
    const burst = this.#burst;
    burst.clear();
    burst.bytes.set(this.#bytes);
    return this.#run(read, (frame) => burst.add(frame * FRAME_BYTES, FRAME_BYTES));
  };

  readonly put = (read?: ReadRow): number => {
    const burst = this.#burst;
    return this.#run(read, (frame) => burst.put(this.#frames[frame]!));
  };

  #run(read: ReadRow | undefined, bring: (frame: number) => number): number {
    const burst = this.#burst;
    const { verdicts, tags, queues } = burst;
    let sum = 0;
    for (let first = 0; first < this.#frames.length;) {
      burst.clear();
      let end = first;
      while (end < this.#frames.length && bring(end) >= 0) end++;
      const count = burst.steer();
      for (let i = 0; i < count; i++) sum += verdicts[i]! + tags[i]! + queues[i]!;
      if (read !== undefined) for (let i = 0; i < count; i++) read(burst, i, first + i);
      first = end;
    }
    return sum;
  }
}
