/** Bytes to key: frames that lie in memory one behind the other, parsed a batch or a frame a call. */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_SIZE, FRAME_WIRE_LENGTH, MAX_BATCH } from "../src/abi/engine.js";
import { Link } from "../src/abi/headers.js";
import { GROUP_EXT, GROUP_OUTER, GROUP_SIZE, KEY_SIZE, WANT_ALL } from "../src/abi/key.js";
import { Batch } from "../src/engine/batch.js";
import { loadCore } from "../src/engine/load.js";
import { ipv6Frame, tcpFrame, vxlanFrame } from "./frames.js";
import { expectEqual, type Suite, type Workload } from "./harness.js";
import { asKey, listOf, mapAsList } from "./peers/asKey.js";
import { PlainParser } from "./peers/parser.js";
import { tupleAt, type Tuple } from "./tuples.js";

const PORT = 1;
const OUTER_ONLY = (1 << GROUP_OUTER) | (1 << GROUP_EXT);

const FRAMES: readonly [name: string, make: (tuple: Tuple) => Uint8Array][] = [
  ["64-byte TCP", tcpFrame],
  ["VXLAN, inner TCP", vxlanFrame],
  ["IPv6, 3 extension headers", ipv6Frame],
];

export const parse: Suite = {
  name: "parse",
  title: "Parse: bytes to match parameters and header list",
  async *workloads() {
    for (const [name, make] of FRAMES) {
      yield await workload(`${name}, all groups`, make, WANT_ALL);
      yield await workload(`${name}, only outer`, make, OUTER_ONLY);
    }
  },
};

async function workload(name: string, make: (tuple: Tuple) => Uint8Array, wanted: number): Promise<Workload> {
  const whole = wanted === WANT_ALL;
  const core = await loadCore();
  const batch = new Batch(core);
  const frames = Array.from({ length: MAX_BATCH }, (_, i) => make(tupleAt(i)));
  const size = frames[0]!.length;
  const fill = (): void => {
    batch.clear();
    for (let i = 0; i < frames.length; i++) batch.put(frames[i]!, size, PORT, Link.ethernet);
  };

  const arena = new Uint8Array(MAX_BATCH * size);
  for (const [i, frame] of frames.entries()) arena.set(frame, i * size);
  const parser = new PlainParser(MAX_BATCH);
  const plain = (): void => {
    for (let i = 0; i < MAX_BATCH; i++) parser.parse(arena, i * size, size, PORT, i, whole);
  };

  fill();
  const { u32 } = core;
  const first = core.frames >> 2;
  const addresses = frames.map((_, i) => u32[(core.frames + i * FRAME_SIZE + FRAME_ADDRESS) >> 2]!);
  /** The first descriptor names each frame in turn. */
  const oneByOne = (): void => {
    for (let i = 0; i < MAX_BATCH; i++) {
      u32[first + (FRAME_ADDRESS >> 2)] = addresses[i]!;
      u32[first + (FRAME_LENGTH >> 2)] = size;
      u32[first + (FRAME_WIRE_LENGTH >> 2)] = size;
      core.exports.parse(1, wanted);
    }
    u32[first + (FRAME_ADDRESS >> 2)] = addresses[0]!;
  };

  return {
    name,
    unit: "frame",
    units: MAX_BATCH,
    check() {
      batch.parse(wanted);
      plain();
      for (let i = 0; i < MAX_BATCH; i++) {
        expectEqual(`${name}, key of frame ${i}`, keyOf(batch, i, whole), Array.from(asKey(parser, i, whole)));
        expectEqual(`${name}, headers of frame ${i}`, mapAsList(batch.map(i)), listOf(parser, i));
      }
    },
    cases: [
      { name: "engine, batch of 256", run: () => batch.parse(wanted) },
      {
        name: "engine, 256 copied in first",
        run: () => {
          fill();
          batch.parse(wanted);
        },
      },
      { name: "engine, one a call", run: oneByOne },
      { name: "plain JavaScript", peer: true, run: plain },
    ],
  };
}

/** The groups that were asked for; the others keep what an earlier parse left. */
function keyOf(batch: Batch, i: number, whole: boolean): number[] {
  const key = batch.key(i);
  if (whole) return Array.from(key);
  const outer = new Uint8Array(KEY_SIZE);
  for (const group of [GROUP_OUTER, GROUP_EXT]) {
    outer.set(key.subarray(group * GROUP_SIZE, (group + 1) * GROUP_SIZE), group * GROUP_SIZE);
  }
  return Array.from(outer);
}
