/** Inline crypto: engine and reference, on random actions and frames (test/oracle/esp/inline.ts). */
import { describe, expect, test } from "vitest";
import { type Association, associate, espPlace, sealedData } from "../../oracle/esp/esp.js";
import { inlineNumber, openInline, sealInline } from "../../oracle/esp/inline.js";
import { ESP, insertion, outerOf, read, setLength, setProtocol } from "../../oracle/esp/packet.js";
import { disturbed, randomClear, randomInline } from "../../oracle/generate/esp.js";
import { joined } from "../../oracle/act/modifyHeader.js";
import { Random } from "../../oracle/generate/random.js";
import { type Frame } from "../../oracle/act/rewrite.js";
import { EspBench, type Result } from "./support/bench.js";
import { frameText, seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";
import { hexOf } from "../../../src/base/hex.js";

const bench = await EspBench.open();
const ROUNDS = rounds(60, "FLOWSTEER_ESP");

/** Each quarter of the 32-bit space, and its ends (the state machine of the page). */
const QUARTER = 2 ** 30;
const sequenceOf = (random: Random): number =>
  random.below(4) * QUARTER + random.pick([0, 1, QUARTER - 1, random.below(QUARTER)]);

/** Source and destination. */
const PORTS = [
  [4500, 4500],
  [40000, 4500],
  [4500, 40000],
  [4500, 40000],
  [4500, 4789],
  [40000, 40001],
] as const;

const plain = (bytes: Uint8Array): Frame => ({ bytes, linkType: 1, wireLength: bytes.length, port: 1, parser: {} });

/** An ESP packet without trailer and ICV, behind the headers of another one; null where that is none. */
function unsealed(random: Random, spi: number): Uint8Array | null {
  const clear = plain(randomClear(random).bytes);
  const outer = outerOf(clear, true);
  if (!outer?.whole || outer.fragment) return null;
  const { at, said } = insertion(clear.bytes, outer);
  const number = sequenceOf(random);
  const header = [spi, number].flatMap((word) => [24, 16, 8, 0].map((by) => (word >>> by) & 0xff));
  // From or to port 4500 where it is in UDP, now and then to the port of another header.
  const ports = random.pick(PORTS).flatMap((port) => [port >> 8, port & 0xff]);
  const udp = random.chance(0.3) ? [...ports, 0, 0, 0x12, 0x34] : [];
  const payload = clear.bytes.subarray(random.chance(0.5) ? at : outer.at, outer.end);
  const made = joined(clear.bytes.subarray(0, at), udp, header, random.bytes(8), payload);
  if (!setLength(made, outer, made.length - outer.at)) return null;
  setProtocol(made, outer, said, udp.length > 0 ? 17 : ESP);
  return made;
}

/** The same packet with a right ICV over padding that is wrong. */
function badTrailer(sa: Association, frame: Uint8Array): Frame | null {
  const place = espPlace(plain(frame), false);
  if (!place) return null;
  const { at, outer } = place;
  const next = inlineNumber(sa, read(frame, at + 4, 4));
  const esp = sealedData({ ...sa, spi: read(frame, at, 4), next }, Uint8Array.from([1, 2, 9, 4, 3, 4]));
  const made = joined(frame.subarray(0, at), esp);
  setLength(made, outer, made.length - outer.at);
  return plain(made);
}

function withElement(random: Random, frame: Uint8Array): Uint8Array {
  const first = random.chance(0.9) ? 8 : random.below(256);
  return joined(frame.subarray(0, 12), [0x8c, 0xe4, first, 0, 0, 0, 0, random.pick([4, 6, 17])], frame.subarray(12));
}

/** What only frames with one of the two flows' IP version meet: others do not reach the action. */
const reaches = (frame: Frame): boolean => outerOf(frame, false) !== null;

function check(sa: Association, frame: Frame, result: Result, expected: string, tally: Map<string, number>): void {
  const got = "lost" in result ? result.lost : hexOf(result.frame);
  if (got !== expected) expect.fail(`engine ${got}\nreference ${expected}\nframe ${frameText(frame)} esn ${sa.esn}`);
  const what = "lost" in result ? result.lost : "good";
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

describe("engine and reference, inline", () => {
  test("encrypt the same way", () => {
    const random = new Random(seedFor("esp inline encrypt"));
    const tally = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const sa = associate(randomInline(random, true));
      const work = bench.work(sa);
      for (let i = 0; i < 10; i++) {
        const made = random.chance(0.9) ? unsealed(random, sa.spi || 1) : randomClear(random).bytes;
        if (!made) continue;
        const marked = sa.metadata && random.chance(0.9) ? withElement(random, made) : made;
        const { bytes } = disturbed(random, plain(marked));
        const frame = plain(bytes);
        if (bytes.length < 14 || !reaches(frame)) continue;
        const expected = sealInline(sa, frame);
        const [result] = work.take([frame]) as [Result];
        check(sa, frame, result, typeof expected === "string" ? expected : hexOf(expected.bytes), tally);
      }
      work.end();
    }
    console.log([...tally]);
    const kinds = ["good", "esp_not_esp", "esp_metadata", "esp_truncated"];
    checkReached(() => expect([...tally.keys()]).toEqual(expect.arrayContaining(kinds)));
  });

  test("decrypt the same way, and say how it went", () => {
    const random = new Random(seedFor("esp inline decrypt"));
    const [tally, syndromes] = [new Map<string, number>(), new Map<number, number>()];
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const sa = associate(randomInline(random, false));
      const work = bench.work(sa);
      for (let i = 0; i < 10; i++) {
        const made = unsealed(random, sa.spi || 1);
        const good = made && sealInline({ ...sa, metadata: false }, plain(made));
        const sealed = made && random.chance(0.15) ? badTrailer(sa, made) : good;
        if (!sealed || typeof sealed === "string") continue;
        const frame = disturbed(random, sealed);
        if (!reaches(frame)) continue;
        const expected = openInline(sa, frame);
        const [result] = work.take([frame]) as [Result];
        check(sa, frame, result, hexOf(expected.frame.bytes), tally);
        syndromes.set(expected.syndrome, (syndromes.get(expected.syndrome) ?? 0) + 1);
      }
      work.end();
    }
    console.log([...syndromes]);
    checkReached(() => expect([...syndromes.keys()]).toEqual(expect.arrayContaining([0, 1, 2])));
  });

  test("the reference's state machine is the page's, in every quarter", () => {
    const upper = (newWindow: boolean, sequence: number): bigint =>
      inlineNumber({ esn: 7, newWindow }, sequence) >> 32n;
    const edges = [0, 1, 2 ** 30, 2 ** 31 - 1, 2 ** 31, 3 * 2 ** 30, 2 ** 32 - 1];
    expect(edges.map((one) => upper(false, one))).toEqual([7n, 7n, 7n, 7n, 7n, 7n, 7n]);
    expect(edges.map((one) => upper(true, one))).toEqual([8n, 8n, 8n, 8n, 7n, 7n, 7n]);
  });
});
