/**
 * The engine's parser and the reference agree on every field, on where parsing stops, on the list of headers and on
 * what is left as payload: on random frames of every kind, cut at every byte, with every byte flipped, and with
 * declarations of the parser.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Header } from "../../../src/abi/headers.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { FIELD_WIDTHS } from "../../oracle/wire/fields.js";
import {
  DECLARED,
  framesOfEachKind,
  type GeneratedFrame,
  jumbogram,
  Random,
  randomFrame,
  randomParser,
} from "../../oracle/generate/frame.js";
import type { ParserOptions } from "../../oracle/wire/packet.js";
import type { ReferenceResult } from "../../oracle/wire/parse.js";
import { parseAll, seedFor, type TestFrame } from "../support/core.js";
import { compareParse } from "./support/compare.js";
import { declare } from "./support/declare.js";
import { checkReached, rounds } from "../../support/tier.js";

const OF_EACH_KIND = rounds(40_000);
const ANY = rounds(10_000);
const DECLARATIONS = rounds(10) + 1;
const EACH_DECLARATION = rounds(2_000);
const CUT = rounds(300);
const CUT_BYTES = 120;
const FRAMES = rounds(100_000);

let core: Core;
beforeAll(async () => {
  core = await loadOpenCore();
});

/** How many frames were compared, and in how many of them each header kind and each field was. */
const seen = { frames: 0, milliseconds: 0, stops: new Map<string, number>(), headers: new Map<string, number>() };
const fieldsSeen = new Map<string, number>([...FIELD_WIDTHS.keys()].map((field) => [field, 0]));

const count = (map: Map<string, number>, name: string): void => void map.set(name, (map.get(name) ?? 0) + 1);

function note({ fields, headers, stopped }: ReferenceResult): void {
  seen.frames++;
  for (const name of new Set(headers.map(({ kind, level }) => `${level} ${kind}`))) count(seen.headers, name);
  for (const [field, value] of fields) if (value !== 0n) count(fieldsSeen, field);
  if (stopped) count(seen.stops, `${stopped.header} ${stopped.reason}`);
}

/** A batch at a time, so that no more frames exist than are needed. */
function agree(on: Core, frames: Iterable<TestFrame>, parser: ParserOptions = {}): void {
  const start = performance.now();
  let batch: TestFrame[] = [];
  const run = (): void => {
    parseAll(on, batch, (i, key, map) => note(compareParse(batch[i] as TestFrame, key, map, parser)));
    batch = [];
  };
  for (const frame of frames) if (batch.push(frame) === 250) run();
  run();
  seen.milliseconds += performance.now() - start;
}

function* any(random: Random, length: number): Generator<GeneratedFrame> {
  for (let i = 0; i < length; i++) yield randomFrame(random);
}

test("random frames of each kind, and any", () => {
  const random = new Random(seedFor("parse"));
  for (let i = 0; i < OF_EACH_KIND; i += 500) agree(core, framesOfEachKind(random, 500));
  agree(core, any(random, ANY));
});

test("frames that end at every byte, on the wire or by the capture; with every byte flipped", () => {
  const random = new Random(seedFor("parse, cut"));
  for (const frame of framesOfEachKind(random, CUT)) {
    const bytes = frame.bytes.subarray(0, CUT_BYTES);
    agree(
      core,
      Array.from(bytes, (_, at) => {
        const cut = bytes.subarray(0, at);
        const flipped = bytes.slice();
        flipped[at] = (flipped[at] ?? 0) ^ random.pick([0xff, 1 << random.below(8)]);
        return [
          { ...frame, bytes: cut },
          { ...frame, bytes: cut, wireLength: at },
          { ...frame, bytes: flipped },
          // The end on the wire lies beyond the last address.
          { ...frame, bytes: cut, wireLength: random.between(0xfff00000, 0xffffffff) },
        ];
      }).flat(),
    );
  }
});

test("declared samples and Geneve option 0", async () => {
  const random = new Random(seedFor("parse, declared"));
  for (let n = 0; n < DECLARATIONS; n++) {
    const parser = n === 0 ? DECLARED : randomParser(random);
    agree(declare(await loadOpenCore(), parser), framesOfEachKind(random, EACH_DECLARATION), parser);
  }
});

test("jumbograms", () => {
  const random = new Random(seedFor("parse, jumbo"));
  agree(
    core,
    Array.from({ length: 30 }, () => jumbogram(random)),
  );
});

test("what was compared is enough, and has every header and every field", () => {
  const extensions = ["hop_by_hop", "routing", "destination", "fragment"].map((name) => `ipv6_${name}`);
  const both = ["ethernet", "vlan", "arp", "ipv4", "ipv6", ...extensions, "ah", "tcp", "udp", "icmp", "icmpv6"];
  both.push("sctp", "esp", "bth", "macsec", "nsh", "mpls");
  const kinds = Object.values(Header).filter((kind) => typeof kind === "string" && kind !== "none" && kind !== "ip");
  const wanted = kinds.flatMap((kind) =>
    both.includes(String(kind)) ? [`outer ${kind}`, `inner ${kind}`] : [`outer ${kind}`],
  );
  checkReached(() => {
    expect(wanted.filter((kind) => !seen.headers.has(kind))).toEqual([]);
    expect([...fieldsSeen].filter(([, times]) => times === 0).map(([field]) => field)).toEqual([]);
    expect(seen.frames).toBeGreaterThanOrEqual(FRAMES);
  });
});

afterAll(() => {
  const lines = (map: Map<string, number>): string =>
    [...map]
      .sort()
      .map(([name, times]) => `${name} ${times}`)
      .join(", ");
  console.log(`${seen.frames} frames in ${Math.round(seen.milliseconds)} ms`);
  console.log(`headers: ${lines(seen.headers)}`);
  console.log(`fields other than 0: ${lines(fieldsSeen)}`);
  console.log(`stops: ${lines(seen.stops)}`);
});
