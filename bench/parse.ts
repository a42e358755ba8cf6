/** Bytes to key: frames back to back in memory, parsed in batches or one by one. */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_SIZE, FRAME_WIRE_LENGTH, MAX_BATCH } from "../src/abi/engine.js";
import { Link } from "../src/abi/headers.js";
import { NEEDS_ALL } from "../src/abi/key.js";
import { Batch } from "../src/engine/batch.js";
import { loadCore } from "./core.js";
import { GENEVE_OPTION_0, geneveFrame, ipv6Frame, tcpFrame, vxlanFrame } from "./makeFrames.js";
import { expectEqual, type Suite, type Workload } from "./workload.js";
import { asKey, listOf, mapAsList, ofGroups } from "./peers/asKey.js";
import { PlainParser } from "./peers/parser.js";
import { TUNNEL_WANTS, TUPLE_WANTS, tupleAt, type Tuple } from "./tuples.js";

const PORT = 1;

const FRAMES: readonly [name: string, make: (tuple: Tuple) => Uint8Array, typical: number][] = [
  ["64-byte TCP", tcpFrame, TUPLE_WANTS],
  ["VXLAN, inner TCP", vxlanFrame, TUNNEL_WANTS],
  ["Geneve with 3 options, inner TCP", geneveFrame, TUNNEL_WANTS],
  ["IPv6 with 6 extension headers, TCP", ipv6Frame, TUPLE_WANTS],
];

export const parse: Suite = {
  name: "parse",
  title: "Parse: bytes to match parameters and header list",
  async *workloads() {
    for (const [name, make, typical] of FRAMES) {
      yield await workload(`${name}, all groups and checksums`, make, NEEDS_ALL);
      yield await workload(`${name}, what tuple rules read`, make, typical);
    }
  },
};

async function workload(name: string, make: (tuple: Tuple) => Uint8Array, wanted: number): Promise<Workload> {
  const core = await loadCore();
  core.exports.declareGeneveOption(GENEVE_OPTION_0.class, GENEVE_OPTION_0.type);
  const batch = new Batch(core);
  const frames = Array.from({ length: MAX_BATCH }, (_, i) => make(tupleAt(i)));
  const size = frames[0]!.length;
  const fill = (): void => {
    batch.clear();
    for (let i = 0; i < frames.length; i++) batch.put(frames[i]!, size, PORT, Link.ethernet);
  };

  const arena = new Uint8Array(MAX_BATCH * size);
  for (const [i, frame] of frames.entries()) arena.set(frame, i * size);
  const parser = new PlainParser(MAX_BATCH, GENEVE_OPTION_0);
  const plain = (): void => {
    for (let i = 0; i < MAX_BATCH; i++) parser.parse(arena, i * size, size, PORT, i, wanted);
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
        expectEqual(
          `${name}, key of frame ${i}`,
          Array.from(ofGroups(batch.key(i), wanted)),
          Array.from(asKey(parser, i, wanted)),
        );
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
