/** What proofs say of worlds so small that brute force tries every frame. */
import { expect, test } from "vitest";
import type { Coverage, Proof } from "../../../src/proof/answer.js";
import { cover } from "../../../src/proof/cover/cover.js";
import { region } from "../../../src/proof/cover/region.js";
import { openTracer } from "../../../src/explain/trace/tracer.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds } from "../../support/tier.js";
import { hitsOf, keyOf, openWorlds, type SmallDevice } from "./support/smallDevice.js";
import { drawWorld, enumerate, type SmallRule, type SmallWorld, type Truth } from "./support/smallWorld.js";

const WORLDS = rounds(600, "FLOWSTEER_WORLDS");
const REGIONS = rounds(200);
/** Cubes of a region. */
const MAX = 200;

/** Devices with worlds: many, or one that begins in the root table. */
async function drawDevice(random: Random): Promise<{ bench: SmallDevice; worlds: SmallWorld[] }> {
  const root = random.chance(0.5);
  const worlds = Array.from({ length: root ? 1 : 20 }, () => drawWorld(random, root));
  return { bench: await openWorlds(worlds), worlds };
}

function failure(text: string, world: SmallWorld, rule: SmallRule, coverage: unknown): never {
  return expect.fail(`${rule.name}: ${text}: ${JSON.stringify(coverage)} of ${JSON.stringify(world)}`);
}

test("brute force and the engine agree on frames", async () => {
  const random = new Random(seedFor("small frames"));
  const counts = { live: 0, dead: 0 };
  for (let round = 0; round < rounds(40); round++) {
    const { bench, worlds } = await drawDevice(random);
    for (const [index, world] of worlds.entries()) {
      const { frames, truth } = enumerate(world);
      for (const { frames } of truth.values()) counts[frames.length > 0 ? "live" : "dead"]++;
      const hits = frames.map((): string[] => []);
      for (const [rule, { frames: own }] of truth) for (const place of own) hits[place]!.push(rule.name);
      for (const place of random.shuffle([...frames.keys()]).slice(0, 100)) {
        const found = hitsOf(bench, world, frames[place]!, index).map((rule) => rule.name);
        if (found.join() !== hits[place]!.join()) {
          expect({ frame: frames[place], world: JSON.stringify(world), found }).toBe(hits[place]);
        }
      }
    }
  }
  // Both kinds are frequent enough to be a test of proofs.
  expect(Math.min(counts.live, counts.dead)).toBeGreaterThan((counts.live + counts.dead) / 10);
});

test(`rules of ${WORLDS} worlds: a frame or a proof, as brute force says`, { timeout: 3_600_000 }, async () => {
  const random = new Random(seedFor("small worlds"));
  const kinds = new Map<string, number>();
  for (let done = 0; done < WORLDS;) {
    const { bench, worlds } = await drawDevice(random);
    const answers = new Map((await cover(bench.device)).rules.map(({ rule, coverage }) => [rule.id, coverage]));
    const made = new Map([...bench.drawn].map(([rule, drawn]) => [drawn, rule.id]));
    const named = new Map([...bench.drawn].map(([rule, drawn]) => [rule.id, drawn]));
    for (const world of worlds) {
      const { truth } = enumerate(world);
      for (const [rule, own] of truth) {
        const coverage = answers.get(made.get(rule)!)!;
        if (coverage.status !== (own.frames.length > 0 ? "witness" : "none")) {
          failure(own.frames.length > 0 ? "it is live" : "it is dead", world, rule, coverage);
        }
        const kind = kindOf(coverage);
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        const dead = (one: SmallRule): boolean => truth.get(one)?.frames.length === 0;
        if (coverage.status === "none" && !isRight(coverage.proof, world, own, named, dead)) {
          failure("the proof is wrong", world, rule, coverage);
        }
      }
    }
    done += worlds.length;
  }
  checkReached(() => expect([...kinds.keys()].sort()).toEqual(["cannot match", "covered", "unreached", "witness"]));
});

function kindOf(coverage: Coverage): string {
  return coverage.status === "none" ? coverage.proof.kind : coverage.status;
}

/** Whether brute force sees what a proof says. */
function isRight(
  proof: Proof,
  world: SmallWorld,
  { rivals }: Truth,
  named: ReadonlyMap<number, SmallRule>,
  dead: (rule: SmallRule) => boolean,
): boolean {
  if (proof.kind === "covered") {
    // Each frame that would hit the rule is taken by one of them.
    const by = new Set(proof.by.map(({ id }) => named.get(id)));
    return rivals.every((before) => before.some((rule) => by.has(rule)));
  }
  if (proof.kind === "unreached") {
    const leading = world.rules.filter((rule) => rule.table === 0 && rule.then === "next");
    return proof.cause === "leading rules are never hit"
      ? leading.length > 0 && leading.every(dead)
      : proof.cause === "no rule leads there" && leading.length === 0;
  }
  // The frames that come there match it only together with rules before it: then none hits it, which was compared.
  return true;
}

test(`regions of ${REGIONS} rules have the frames that hit them, each once`, async () => {
  const random = new Random(seedFor("regions"));
  for (let done = 0; done < REGIONS;) {
    const { bench, worlds } = await drawDevice(random);
    const made = new Map([...bench.drawn].map(([rule, drawn]) => [drawn, rule]));
    const tracer = await openTracer(bench.device);
    for (const [index, world] of worlds.entries()) {
      const { frames, truth } = enumerate(world);
      if (frames.length > 200) continue;
      const rule = random.pick(world.rules);
      const { parts, complete } = await region(bench.device, made.get(rule)!, { most: MAX });
      done++;
      const cubes = parts.map(({ from, mask, value }) => ({ from, mask: bytesFrom(mask), value: bytesFrom(value) }));
      const found = frames.map((frame) => {
        const key = keyOf(bench, tracer, world, frame, index);
        return cubes.filter(
          ({ from, mask, value }) =>
            (from.kind === "queue") === world.sent && mask.every((bits, byte) => (key[byte]! & bits) === value[byte]!),
        ).length;
      });
      const own = new Set(truth.get(rule)!.frames);
      const expected = frames.map((_, place) => Number(own.has(place)));
      if (found.join() !== expected.join() && (complete || found.some((times, place) => times > expected[place]!))) {
        failure("the region is wrong", world, rule, { found, expected, parts });
      }
    }
  }
});

function bytesFrom(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, n) => parseInt(hex.slice(2 * n, 2 * n + 2), 16));
}
