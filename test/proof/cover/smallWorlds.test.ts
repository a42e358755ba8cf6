/** Dead and live rules of worlds so small that brute force tries every frame. */
import { expect, test } from "vitest";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";
import { hitsOf, openWorlds } from "./support/smallDevice.js";
import { drawWorld, enumerate } from "./support/smallWorld.js";

test("brute force and the engine agree on frames", async () => {
  const random = new Random(seedFor("small frames"));
  const counts = { live: 0, dead: 0 };
  for (let round = 0; round < rounds(100); round++) {
    const root = random.chance(0.3);
    const worlds = Array.from({ length: root ? 1 : 20 }, () => drawWorld(random, root));
    const bench = await openWorlds(worlds);
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
