/** Replay windows of the core and a set of numbers (test/oracle/esp/replayWindow.ts), on millions of sequence numbers without ciphers. */
import { expect, test } from "vitest";
import { Random } from "../../oracle/generate/random.js";
import { KINDS, live, STREAM, type Tally } from "./support/numbersLife.js";
import { NumbersCore } from "./support/replayWindowCore.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

const core = await NumbersCore.make();
const TOTAL = rounds(2_000_000, "FLOWSTEER_ESP_NUMBERS");

test("what comes twice, is old or too far ahead is told from what is welcome", () => {
  const random = new Random(seedFor("esp numbers"));
  const tally: Tally = new Map();
  for (let n = 0; n < TOTAL; n += STREAM) live(random, core, tally);
  console.log(`esp numbers: ${[...tally].map(([kind, times]) => `${kind} ${times}`).join(", ")}`);
  checkReached(() => expect([...tally.keys()].sort()).toEqual([...KINDS].sort()));
});
