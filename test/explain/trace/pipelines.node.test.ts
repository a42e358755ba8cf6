/**
 * Traces of random frames on random devices, with stateful actions in half of them. The outcome of
 * a trace, its bytes and the state that it would leave are those of `receive` and `send` afterwards.
 * Before that, the trace has left every byte of the memory of the device as it was.
 */
import { expect, test } from "vitest";
import { CONNECTION_SIZE } from "../../../src/abi/connection.js";
import { METER_SIZE } from "../../../src/abi/state.js";
import { EVENT_BYTES, EVENT_HEAD, EVENT_KIND, TraceEvent } from "../../../src/abi/trace.js";
import { openTracer, printTrace, type Trace, type Tracer } from "../../../src/explain/index.js";
import { traceOutcome } from "../../../src/explain/trace/outcome.js";
import { hexOf } from "../../../src/base/hex.js";
import type { Outcome } from "../../../src/index.js";
import { type AsoObject } from "../../../src/model/action/asoObject.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Base } from "../../oracle/generate/pipeline.js";
import { Random } from "../../oracle/generate/frame.js";
import { drawNear, withOthers } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  modifyMeters,
  type PipelineWorld,
  removeMatchers,
  removeRules,
  syncSome,
} from "../../assembly/support/pipelineWorld.js";
import { seedFor } from "../../assembly/support/core.js";
import { count } from "../../verbs/support/flowWorld.js";
import { checkReached, rounds } from "../../support/tier.js";
import { replay } from "./support/replay.js";

/** The number of frames. */
const FRAMES = rounds(8_000, "FLOWSTEER_PIPELINES");
const ROUNDS = 6;
/** A world in which frames go in circles and split at each turn ends here. */
const STEPS = 20_000;
/** Of so many traces one is followed by a comparison of all memory. */
const COMPARED = 25;
/** A line that is longer than the page: its last word has no room on any. */
const LONG_WORD = / \S{60,}$/;
/** Bytes of a counter. */
const SIZE = 16;

const REACHED = [
  ...["deliver", "forward", "transmit", "drop", "miss"].map((verdict) => `verdict ${verdict}`),
  ...["modify", "reformat", "push_vlan", "pop_vlan", "array", "sampler", "meter", "track", "first_hit", "count"].map(
    (action) => `action ${action}`,
  ),
  ...["counter", "meter", "connection", "first-hit flags"].map((object) => `state of ${object}`),
  ...["jump", "miss", "egress", "vport", "fdb_default", "loopback"].map((cause) => `move ${cause}`),
];

/** A state that a frame would leave: an address of the core, and bytes. */
interface Left {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** Notes what traces would leave, until they are undone. */
function watch({ traced }: Tracer): Left[] {
  const left: Left[] = [];
  let events: Uint8Array[] = [];
  const steer = traced.steer.bind(traced);
  traced.steer = (root, sender) => {
    const some = steer(root, sender);
    events.push(some);
    return some;
  };
  const undo = traced.undo.bind(traced);
  traced.undo = () => {
    left.splice(0, left.length, ...events.flatMap((some) => leftBy(some, traced.core.u8)));
    events = [];
    undo();
  };
  return left;
}

function leftBy(events: Uint8Array, memory: Uint8Array): Left[] {
  const view = new DataView(events.buffer, events.byteOffset, events.length);
  const left: Left[] = [];
  for (let at = 0; at < events.length; at += view.getUint32(at + EVENT_BYTES, true)) {
    if (view.getUint16(at + EVENT_KIND, true) !== (TraceEvent.state as number)) continue;
    const address = view.getUint32(at + EVENT_HEAD + 4, true);
    left.push({ address, bytes: memory.slice(address, address + view.getUint32(at + EVENT_HEAD + 8, true)) });
  }
  return left;
}

/** Where the state of the objects of a world lies: addresses, and bytes. */
function roomsOf({ counterBulk, memory }: PipelineWorld): [address: number, length: number][] {
  const objects = [...(memory?.objects.values() ?? [])];
  return [
    [counterBulk.handle, SIZE * counterBulk.size],
    ...objects.map((object): [number, number] => [object.unitAt(0).address, lengthOf(object)]),
  ];
}

function lengthOf(object: AsoObject): number {
  const last = { first_hit: 1, flow_meter: METER_SIZE, connection: CONNECTION_SIZE }[object.kind];
  return object.unitAt(object.size - 1).address - object.unitAt(0).address + last;
}

/** The objects of a room after a trace would have had its effect. */
function expected(room: Uint8Array, address: number, left: readonly Left[]): Uint8Array {
  const after = room.slice();
  for (const one of left) {
    const at = one.address - address;
    if (at >= 0 && at < room.length) after.set(one.bytes, at);
  }
  return after;
}

/** What is watched of a world. */
interface Watched {
  readonly world: PipelineWorld;
  readonly tracer: Tracer;
  readonly left: readonly Left[];
  readonly rooms: readonly (readonly [address: number, length: number])[];
}

function check({ world, tracer, left, rooms }: Watched, base: Base, whole: boolean): Trace {
  const { device, queues } = world;
  const { frame, sender, metadata, time = device.now() } = base;
  const { bytes, port, linkType, wireLength } = frame;
  const options = { linkType, wireLength, time };
  const qp = sender === null ? null : (queues.get(sender) as QueuePair);
  const dry = (): Trace =>
    qp === null ? tracer.trace(port, bytes, options) : tracer.traceSend(qp, bytes, { metadata, time });
  const real = (): Outcome =>
    qp === null ? device.receive(port, bytes, options) : device.send(qp, bytes, { metadata, time });

  const memory = whole ? device.core.u8.slice() : null;
  const trace = dry();
  if (memory !== null) expect(Buffer.compare(device.core.u8, memory)).toBe(0);

  const wanted = rooms.map(([address, length]) => {
    return hexOf(expected(device.core.u8.subarray(address, address + length), address, left));
  });
  const outcome = traceOutcome(real());
  expect(JSON.stringify(trace.outcome)).toBe(JSON.stringify(outcome));
  const bytesAt = (address: number, length: number): string =>
    hexOf(device.core.u8.subarray(address, address + length));
  for (const { address, bytes: after } of left) expect(bytesAt(address, after.length)).toBe(hexOf(after));
  expect(rooms.map(([address, length]) => bytesAt(address, length))).toEqual(wanted);
  replay(trace);
  return trace;
}

function tallySteps(tally: Map<string, number>, trace: Trace): void {
  count(tally, `verdict ${trace.outcome.verdict}`);
  for (const step of trace.steps) {
    if (step.kind === "action") {
      count(tally, `action ${step.action}`);
      for (const { object } of step.state) count(tally, `state of ${object}`);
    } else if (step.kind === "move") count(tally, `move ${step.cause}`);
  }
}

/** The traced core takes over the state of a release core, whose globals have the same places. */
const RELEASE = (import.meta.env?.["FLOWSTEER_CORE"] ?? "release") === "release";

test.skipIf(!RELEASE)(`${FRAMES} frames`, async () => {
  const random = new Random(seedFor("traces"));
  const tally = new Map<string, number>();
  let frames = 0;
  while (frames < FRAMES) {
    const world = await makePipelineWorld(random, new Map(), random.chance(0.5));
    const tracer = await openTracer(world.device);
    const watched = { world, tracer, left: watch(tracer), rooms: roomsOf(world) };
    const near = drawNear(world);
    let steps = 0;
    for (let round = 0; round < ROUNDS && steps < STEPS; round++) {
      addRules(world);
      syncSome(world);
      modifyMeters(world);
      for (const base of withOthers(world, near)) {
        const trace = check(watched, base, frames++ % COMPARED === 0);
        steps += trace.steps.length;
        tallySteps(tally, trace);
        if (frames % COMPARED === 0) {
          expect(structuredClone(trace)).toEqual(trace);
          expect(JSON.parse(JSON.stringify(trace))).toEqual(trace);
          for (const line of printTrace(trace).split("\n")) if (line.length > 80) expect(line).toMatch(LONG_WORD);
        }
      }
      removeRules(world);
      syncSome(world, 0.3);
      removeMatchers(world);
    }
    emptyWorld(world);
  }
  console.log(
    [...tally]
      .sort()
      .map(([what, times]) => `${what} ${times}`)
      .join(", "),
  );
  checkReached(() => expect(REACHED.filter((what) => !tally.has(what))).toEqual([]));
});
