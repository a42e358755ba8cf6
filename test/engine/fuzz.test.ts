/**
 * No bytes make the parser trap or read beside the frame: generated frames and broken ones made from them.
 *
 *     FLOWSTEER_FUZZ=1000000      so many frames in all (with fuzz.node.test.ts), 50,000 by default
 *     FLOWSTEER_SEED=7            the run of this seed again
 *     FLOWSTEER_FRAME=1,60,1,ff…  link type, wire length, port, bytes: one frame alone
 */
import { describe, expect, test } from "vitest";
import { Random } from "../oracle/generate.js";
import { type Build, BUILDS, FRAMES, fuzz, generated, openProbe, reproduceBy, setting, TIMEOUT } from "./fuzzRun.js";
import { seedFor, type TestFrame } from "./support.js";

/** An IPv6 packet of length 0, raw, with a hop-by-hop header that holds a jumbo payload option, and nothing behind. */
function jumbo(length: string, wireLength: number): string {
  return `229,${wireLength},1,6${"0".repeat(79)}1100c204${length}`;
}

/** Frames that made the parser read on where there was nothing, and those at a bound. */
const EDGES: Readonly<Record<string, string>> = {
  "a jumbo length that ends within its own option header (RFC 2675: above 65,535)": jumbo("00000000", 48),
  "a jumbo length whose end is no address": jumbo("ffffff00", 0xffffffff),
  "more headers than the map lists": `1,400,1,${"00".repeat(12)}${"81000000".repeat(60)}0800`,
};

const given = setting("FLOWSTEER_FRAME");

function frameOf(text: string): TestFrame {
  const [linkType, wireLength, port, hex = ""] = text.split(",");
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  return { linkType: Number(linkType), wireLength: Number(wireLength), port: Number(port), bytes };
}

describe.each(Object.keys(BUILDS) as Build[])("%s core", (build) => {
  test.runIf(given !== undefined)("the frame of FLOWSTEER_FRAME", async () => {
    const probe = await openProbe(build, "this frame");
    for (let groups = 0; groups < 0x200; groups++) probe.check(frameOf(given ?? ""), groups);
  });

  test.each(Object.entries(EDGES))("%s", async (_name, text) => {
    const probe = await openProbe(build, "the list in fuzz.test.ts");
    probe.check(frameOf(text), 0x1ff);
  });

  test("generated frames, whole and broken", { timeout: TIMEOUT }, async () => {
    const seed = seedFor(`fuzz, ${build}`);
    const random = new Random(seed);
    const probe = await openProbe(build, reproduceBy(seed, "fuzz.test.ts"));
    expect(fuzz(probe, generated(random), FRAMES, random)).toBeGreaterThanOrEqual(FRAMES);
  });
});
