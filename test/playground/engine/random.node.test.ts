/**
 * Random pairs of example rules and captures made of frames of examples and of broken ones: rows, filters, totals and ways are
 * those of each frame by itself. The seed is printed where it fails.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PcapngWriter, type CapturedFrame, type VerdictName } from "flowsteer";
import { loadScenario } from "flowsteer/scenario";
import { framesIn, plainly } from "./support/captures.js";
import { CORES, exampleText, good, newSession } from "./support/session.js";

const EXAMPLES = new URL("../../../examples/", import.meta.url);
const ROUNDS = process.env["FLOWSTEER_DEEP"] === "1" ? 50 : 12;
const SEED = Number(process.env["FLOWSTEER_SEED"] ?? Date.now() % 2 ** 31);
const silent = (): void => undefined;

/** mulberry32 */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

async function pool(): Promise<CapturedFrame[]> {
  const all: CapturedFrame[] = [];
  for (const name of readdirSync(EXAMPLES)) {
    if (/\.pcap$/.test(name)) all.push(...framesIn(readFileSync(new URL(name, EXAMPLES))));
    if (!/\.json$/.test(name)) continue;
    const { frames } = await loadScenario(exampleText(name), { core: CORES.release });
    for (const { bytes, linkType = 1 } of frames) {
      all.push({ number: 0, time: 0n, linkType, wireLength: bytes.length, bytes, interfaceId: 0 });
    }
  }
  return all;
}

/** A capture of `count` frames, some of them cut, of link types without a parser, or without a time. */
function capture(frames: readonly CapturedFrame[], count: number, random: (below: number) => number): Uint8Array {
  const linkTypes = [...new Set(frames.map(({ linkType }) => linkType)), 147];
  const writer = new PcapngWriter({ interfaces: linkTypes.map((linkType) => ({ linkType, nanoseconds: true })) });
  let time = 1_600_000_000_000_000_000n;
  const parts = Array.from({ length: count }, () => {
    const { bytes, linkType } = frames[random(frames.length)] as CapturedFrame;
    const kept = random(8) === 0 ? bytes.subarray(0, random(bytes.length + 1)) : bytes;
    const interfaceId = random(40) === 0 ? linkTypes.length - 1 : linkTypes.indexOf(linkType);
    time += BigInt(random(100_000));
    return writer.frame({ time, bytes: kept, wireLength: bytes.length, interfaceId });
  });
  return Uint8Array.from(Buffer.concat([writer.header(), ...parts]));
}

test(`random rules over random captures (seed ${SEED})`, async () => {
  const random = randomFrom(SEED);
  const names = readdirSync(EXAMPLES).filter((name) => name.endsWith(".json"));
  const frames = await pool();
  for (let round = 0; round < ROUNDS; round++) {
    const name = names[random(names.length)] as string;
    const text = exampleText(name);
    const file = capture(frames, 1 + random(400), random);
    const of = `seed ${SEED}, round ${round}, ${name}`;
    const { loaded, outcomes } = await plainly(text, framesIn(file));
    const session = newSession();
    good(await session.load(text));
    const { totals } = good(await session.openCapture(new Blob([Uint8Array.from(file)]), "random", silent));
    const rows = await session.rows(0, 1000);
    expect(
      rows.map(({ verdict, reason, to, copies, rules }) =>
        verdict === null ? null : { verdict, reason, to, copies, rules },
      ),
      of,
    ).toEqual(
      outcomes.map((one) =>
        one === null
          ? null
          : { verdict: one.verdict, reason: one.reason, to: one.to, copies: one.copies, rules: one.rules },
      ),
    );
    expect(totals.frames, of).toBe(loaded.tally.all.frames);
    for (const [verdict, sum] of Object.entries(totals.verdicts)) {
      expect(sum, of).toEqual(loaded.tally.verdicts.get(verdict as VerdictName) ?? { frames: 0, bytes: 0 });
    }
    const said = totals.states.flatMap(({ answers }) => answers.map((one) => one.frames));
    expect(said.sort(), of).toEqual(loaded.state.answers.map((one) => one.frames).sort());
    const { verdict, rules } = rows[random(rows.length)] as (typeof rows)[number];
    if (verdict !== null) {
      const [rule] = rules;
      const wanted = rows.filter((row) => row.verdict === verdict && (rule === undefined || row.rules.includes(rule)));
      const filter = { verdicts: [verdict], ...(rule === undefined ? {} : { rule }) };
      // Rules that copies hit beyond a port count as well.
      expect(await session.filter(filter), of).toBeGreaterThanOrEqual(wanted.length);
    }
    await session.filter({});
    for (let i = 0; i < 6; i++) {
      const row = rows[random(rows.length)] as (typeof rows)[number];
      const way = await session.way(row.number);
      expect(way?.trace.outcome.verdict ?? null, `${of}, frame ${row.number}`).toBe(row.verdict);
      if (way === null) continue;
      expect(way.trace.outcome.rules, `${of}, frame ${row.number}`).toEqual(row.rules);
      // The last bytes of each branch are those that destinations get.
      const last = new Map(way.snapshots.map(({ branch, tree }) => [branch, Buffer.from(tree.frame).toString("hex")]));
      const arrived = way.trace.outcome.to.map((one) => one.frame);
      for (const bytes of arrived) expect([...last.values()], `${of}, frame ${row.number}`).toContain(bytes);
    }
  }
});
