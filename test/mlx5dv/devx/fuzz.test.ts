/** Device commands of random bytes and lengths: answered or refused, without leaking memory. */
import { expect, test } from "vitest";
import { openCommandWorld, tryCommand } from "../support/randomCommands.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const ROUNDS = rounds(6000);

test("random bytes and cut lengths are refused in order, and nothing is lost", async () => {
  const random = new Random(seedFor("device commands"));
  const world = await openCommandWorld();
  const counts = { answered: 0, refused: 0 };
  for (let round = 0; round < ROUNDS; round++) counts[tryCommand(world, random) ? "answered" : "refused"]++;
  console.log(`device commands: ${counts.answered} answered, ${counts.refused} refused`);
  expect(Math.min(counts.answered, counts.refused)).toBeGreaterThan(ROUNDS / 20);
});
