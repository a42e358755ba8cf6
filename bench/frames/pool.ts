/**
 * Several cores: 64-byte frames against a rule set through bursts of a pool and of a device, in
 * wall-clock time.
 */
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

/**
 * Frames through two bursts of a device in turn: one is filled and the other read while the next is
 * steered. Verdict, tag and queue of each frame are read.
 */
class Side {
  readonly acl: AclDevice;
  readonly #bytes: Uint8Array;
  readonly #frames: readonly Uint8Array[];
  readonly #bursts: readonly [Burst, Burst];

  constructor(acl: AclDevice, bytes: Uint8Array) {
    this.acl = acl;
    this.#bytes = bytes;
    this.#frames = separate(bytes);
    this.#bursts = [acl.device.openBurst(), acl.device.openBurst()];
  }

  /** Frames are in the area of the burst, where a reader of a file puts them. */
  readonly add = (read?: ReadRow): number => this.#run(read, (burst, first) => this.#addAll(burst, first));

  readonly put = (read?: ReadRow): number => this.#run(read, (burst, first) => this.#putAll(burst, first));

  #run(read: ReadRow | undefined, fill: (burst: Burst, first: number) => number): number {
    let [burst, next] = this.#bursts;
    let sum = 0;
    let end = fill(burst, 0);
    burst.start();
    for (let first = 0; burst.count > 0; [burst, next] = [next, burst]) {
      const behind = fill(next, end);
      const count = burst.steer();
      next.start();
      const { verdicts, tags, queues } = burst;
      for (let i = 0; i < count; i++) sum += verdicts[i]! + tags[i]! + queues[i]!;
      if (read !== undefined) for (let i = 0; i < count; i++) read(burst, i, first + i);
      first = end;
      end = behind;
    }
    return sum;
  }

  #addAll(burst: Burst, first: number): number {
    burst.clear();
    const end = Math.min(first + burst.rows, this.#frames.length);
    burst.bytes.set(this.#bytes.subarray(first * FRAME_BYTES, end * FRAME_BYTES));
    for (let i = first; i < end; i++) burst.add((i - first) * FRAME_BYTES, FRAME_BYTES);
    return end;
  }

  #putAll(burst: Burst, first: number): number {
    burst.clear();
    let next = first;
    while (next < this.#frames.length && burst.put(this.#frames[next]!) >= 0) next++;
    return next;
  }
}
