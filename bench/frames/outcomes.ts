/**
 * Bytes to outcome: 64-byte frames against a rule set, through a burst of a device without flow
 * cache.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { VERDICTS, type Burst } from "../../src/index.js";
import { readRules, readTrace, type SetSize, type Trace, type TraceKind } from "../classify/ruleSets.js";
import { hold } from "../classify/lookups.js";
import { expectEqual, timed, type Target, type Workload } from "../harness.js";
import { MapFinder, TupleNic } from "../peers/tupleNic.js";
import { AclDevice, countedSince, queueName, queueOf, WITHOUT_CACHE } from "./acl.js";
import { JAVASCRIPT_GOAL, READY_GOAL } from "./goals.js";
import { ReadyKeys } from "./readyKeys.js";
import { FRAME_BYTES, framesOf, separate } from "./stream.js";

const PLAIN = "plain JavaScript, typed arrays";
const MAPS = "plain JavaScript, a Map a mask";
const READY = "engine, classification alone, keys ready";

export async function outcomes(size: SetSize, kind: TraceKind): Promise<Workload> {
  const rules = readRules("acl1", size);
  const trace = readTrace("acl1", size, kind);
  const acl = await AclDevice.open(rules, WITHOUT_CACHE);
  const engine = new Bursts(acl, framesOf(trace.headers));
  const plain = new PlainSide(new TupleNic(rules, queueOf, MAX_BATCH), engine.bytes);
  const maps = new PlainSide(new TupleNic(rules, queueOf, MAX_BATCH, new MapFinder(rules)), engine.bytes);
  const ready = new ReadyKeys(acl, engine.bytes);
  const name = `acl1 ${size}, ${kind} trace`;
  const goal = JAVASCRIPT_GOAL;
  const targets: Record<string, Target> = { [PLAIN]: { goal }, [MAPS]: { goal }, [READY]: { goal: READY_GOAL } };
  return {
    name,
    unit: "frame",
    units: trace.expected.length,
    check: () => check(name, engine, { [PLAIN]: plain, [MAPS]: maps }, ready, trace),
    cases: [
      { name: "engine, burst of 256, add", seconds: timed(() => engine.add()), targets },
      { name: "engine, burst of 256, put", seconds: timed(() => engine.put(MAX_BATCH)), targets },
      { name: "engine, one frame a burst", seconds: timed(() => engine.put(1)) },
      { name: "engine, device.receiveBatch, objects", seconds: timed(() => engine.objects()) },
      { name: PLAIN, peer: true, seconds: timed(() => plain.steer()) },
      { name: MAPS, peer: true, seconds: timed(() => maps.steer()) },
      { name: READY, peer: true, seconds: ready.seconds },
    ],
  };
}

/** All timed cases give the results of the trace; counters are checked in total. */
function check(
  name: string,
  engine: Bursts,
  peers: Readonly<Record<string, PlainSide>>,
  ready: ReadyKeys,
  trace: Trace,
): void {
  const lines = new Int32Array(trace.expected.length);
  const row = (burst: Burst, i: number, frame: number): void => {
    const { tagged, tags, queues, kinds, verdicts } = burst;
    lines[frame] = tagged[i] === 1 ? tags[i]! : -1;
    if (lines[frame] < 0) return;
    expectEqual(`${name}, verdict of frame ${frame}`, VERDICTS[verdicts[i]!], "deliver");
    const to = engine.acl.device.destinationName(queues[i]!, kinds[i]!);
    expectEqual(`${name}, queue of frame ${frame}`, to, `qp:${queueName(queueOf(trace.expected[frame]!))}`);
  };
  const before = engine.acl.counts();
  const ways: Record<string, () => void> = {
    add: () => engine.add(row),
    put: () => engine.put(MAX_BATCH, row),
    "one frame a burst": () => engine.put(1, row),
    objects: () => engine.objects((tag, frame) => (lines[frame] = tag ?? -1)),
  };
  for (const [way, run] of Object.entries(ways)) {
    lines.fill(-2);
    run();
    hold(`${name}, ${way}`, lines, trace);
  }
  hold(`${name}, ${READY}`, ready.answers(), trace);
  const counted = countedSince(before, engine.acl.counts());
  for (const [peer, plain] of Object.entries(peers)) {
    lines.fill(-2);
    plain.nic.frames.fill(0);
    plain.nic.bytes.fill(0);
    plain.steer((i, frame) => {
      lines[frame] = plain.nic.lines[i]!;
      const queue = plain.nic.queues[i]!;
      expectEqual(`${name}, ${peer}, queue of frame ${frame}`, queue, lines[frame] < 0 ? -1 : queueOf(lines[frame]));
    });
    hold(`${name}, ${peer}`, lines, trace);
    const times = Object.keys(ways).length;
    const expected = Array.from(plain.nic.frames, (frames, line) => [times * frames, times * plain.nic.bytes[line]!]);
    expectEqual(`${name}, ${peer}, counters`, counted, expected);
  }
}

type ReadRow = (burst: Burst, row: number, frame: number) => void;

/**
 * Repeatedly steers frames of one length through the burst of a device, and reads verdict, tag and
 * queue of each.
 */
class Bursts {
  readonly acl: AclDevice;
  readonly bytes: Uint8Array;
  readonly #frames: readonly Uint8Array[];
  readonly #burst: Burst;

  constructor(acl: AclDevice, bytes: Uint8Array) {
    this.acl = acl;
    this.bytes = bytes;
    this.#frames = separate(bytes);
    this.#burst = acl.device.openBurst();
  }

  /** All frames are in the area of the burst, where a reader of a file would put them. */
  add(read?: ReadRow): number {
    const burst = this.#burst;
    burst.clear();
    burst.bytes.set(this.bytes);
    let sum = 0;
    for (let first = 0; first < this.#frames.length; first += MAX_BATCH) {
      burst.clear();
      const end = Math.min(first + MAX_BATCH, this.#frames.length);
      for (let i = first; i < end; i++) burst.add(i * FRAME_BYTES, FRAME_BYTES);
      sum += this.#run(burst, first, read);
    }
    return sum;
  }

  put(size: number, read?: ReadRow): number {
    const burst = this.#burst;
    let sum = 0;
    for (let first = 0; first < this.#frames.length; first += size) {
      burst.clear();
      const end = Math.min(first + size, this.#frames.length);
      for (let i = first; i < end; i++) burst.put(this.#frames[i]!);
      sum += this.#run(burst, first, read);
    }
    return sum;
  }

  #run(burst: Burst, first: number, read: ReadRow | undefined): number {
    const count = burst.steer();
    const { verdicts, tags, queues } = burst;
    let sum = 0;
    for (let i = 0; i < count; i++) sum += verdicts[i]! + tags[i]! + queues[i]!;
    if (read !== undefined) for (let i = 0; i < count; i++) read(burst, i, first + i);
    return sum;
  }

  objects(read?: (tag: number | null, frame: number) => void): number {
    let sum = 0;
    for (let first = 0; first < this.#frames.length; first += MAX_BATCH) {
      const outcomes = this.acl.device.receiveBatch(1, this.#frames.slice(first, first + MAX_BATCH));
      for (const { tag } of outcomes) sum += tag ?? 0;
      if (read !== undefined) for (const [i, { tag }] of outcomes.entries()) read(tag, first + i);
    }
    return sum;
  }
}

class PlainSide {
  readonly nic: TupleNic;
  readonly #view: DataView;

  constructor(nic: TupleNic, bytes: Uint8Array) {
    this.nic = nic;
    this.#view = new DataView(bytes.buffer);
  }

  steer(read?: (row: number, frame: number) => void): number {
    const { nic } = this;
    const frames = this.#view.byteLength / FRAME_BYTES;
    let sum = 0;
    for (let first = 0; first < frames; first += MAX_BATCH) {
      const count = Math.min(MAX_BATCH, frames - first);
      for (let i = 0; i < count; i++) nic.steer(this.#view, (first + i) * FRAME_BYTES, FRAME_BYTES, i);
      for (let i = 0; i < count; i++) sum += nic.lines[i]! + nic.tags[i]! + nic.queues[i]!;
      if (read !== undefined) for (let i = 0; i < count; i++) read(i, first + i);
    }
    return sum;
  }
}
