/** A run of broken frames through one build of the core. */
import debug from "../../../../build/debug/core.wasm";
import release from "../../../../build/release/core.wasm";
import { NEEDS_ALL } from "../../../../src/abi/key.js";
import { loadOpenCore } from "../../../support/openCore.js";
import { DECLARED, KINDS, type Random, randomFrame, randomFrameOf } from "../../../oracle/generate/frame.js";
import type { ParserOptions } from "../../../oracle/wire/packet.js";
import { declare } from "./declare.js";
import { broken, cuts, type FoundHeader } from "./mutate.js";
import { ParseProbe } from "./probe.js";
import { type TestFrame } from "../../support/core.js";
import { rounds } from "../../../support/tier.js";

/** The published build, and the one with checked casts and assertions. */
export const BUILDS = { release, debug };
export type Build = keyof typeof BUILDS;

/** Frames of a run: FLOWSTEER_FUZZ in all, over two files and two builds each. */
export const FRAMES = Math.ceil(rounds(50_000, "FLOWSTEER_FUZZ") / 2);

/** Broken frames made from one whole one. */
const BROKEN_EACH = 12;

const PAYLOAD = { header: "payload", level: "outer" } as const;
const UDP = { header: "udp", level: "outer", offset: 0 } as const;

/** What devices declare of their parser: nothing, something of everything, samples where frames end and beyond. */
export const DECLARATIONS = {
  nothing: {},
  everything: DECLARED,
  bounds: {
    vxlanPorts: [65535, 1],
    geneveOption0: { class: 0xffff, type: 0xff },
    samples: [
      ...[0, 1, 1500, 0xffff].map((offset, id) => ({ ...PAYLOAD, id, offset })),
      { id: 4, header: "payload", level: "inner", offset: 0 },
      { id: 5, header: "tcp", level: "inner", offset: 16 },
      { ...UDP, id: 6, port: 4789 },
      { ...UDP, id: 7, level: "inner", port: 0 },
    ],
  },
} satisfies Record<string, ParserOptions>;
export type Declaration = keyof typeof DECLARATIONS;

export async function openProbe(build: Build, declaration: Declaration, reproduce: string): Promise<ParseProbe> {
  const core = declare(await loadOpenCore(BUILDS[build]), DECLARATIONS[declaration]);
  return new ParseProbe(core, `${build} core that declares ${declaration}`, reproduce);
}

export function reproduceBy(seed: number, file: string): string {
  const size = `FLOWSTEER_FUZZ=${FRAMES * 2}`;
  return `FLOWSTEER_SEED=${seed} ${size} vitest run --project node test/assembly/wire/${file}`;
}

/** Frames of every kind in turn, and any. */
export function* generated(random: Random): Generator<TestFrame, never> {
  for (;;) {
    for (const kind of KINDS) yield randomFrameOf(random, kind);
    yield randomFrame(random);
  }
}

/** Checks `count` frames: those of `whole`, and broken ones made from each. Gives how many it checked. */
export function fuzz(probe: ParseProbe, whole: Iterable<TestFrame>, count: number, random: Random): number {
  let done = 0;
  let other: TestFrame | undefined;
  const check = (frame: TestFrame): FoundHeader[] => {
    done++;
    return probe.check(frame, random.below(NEEDS_ALL + 1));
  };
  for (const frame of whole) {
    if (done >= count) break;
    const headers = check(frame);
    for (let i = 0; i < BROKEN_EACH; i++) check(broken(frame, headers, other ?? frame, random));
    if (frame.bytes.length <= 400 && random.chance(0.005)) for (const one of cuts(frame)) check(one);
    other = frame;
  }
  return done;
}
