/** Exported TypeScript programs make devices that treat frames as the scenario does. */
import { expect, test } from "vitest";
import { exportRules } from "../../src/export/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { checkReached, rounds } from "../support/tier.js";
import { behaviourOf } from "./support/behaviour.js";
import { nearFrame, randomRules } from "./support/randomRules.js";
import { runProgram } from "./support/runProgram.js";

const FRAMES = 60;

test("a program does what its scenario does", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("exported TypeScript"));
  let delivered = 0;
  for (let round = 0; round < rounds(60); round++) {
    const scenario = randomRules(random);
    const { text, findings } = exportRules(scenario, { format: "typescript" });
    expect(findings).toEqual([]);
    const { device } = await runProgram(text ?? "");
    const { device: original } = await loadScenario(scenario);
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      const expected = behaviourOf(original, frame);
      expect(behaviourOf(device, frame), JSON.stringify(scenario)).toBe(expected);
      if (expected.startsWith('["deliver"')) delivered++;
    }
  }
  checkReached(() => expect(delivered).toBeGreaterThan(rounds(60) * FRAMES * 0.1));
});

test("what a program cannot have is refused with its place", () => {
  const { text, findings } = exportRules(
    {
      flowsteer: 1,
      queues: [{ name: "q" }],
      tables: [{ name: "root", level: 0 }],
      rules: [
        { name: "sctp", table: "root", match: { "ext.outer_sctp_dport": "any" }, actions: [{ queue: "q" }] },
        { name: "rss", table: "root", priority: 1, actions: [{ tir: "t" }] },
      ],
      tirs: [{ name: "t", queue: "q" }],
    },
    { format: "typescript" },
  );
  expect(text).toBeNull();
  expect(findings.map(({ path }) => path)).toEqual(["tirs", "rules[0].match", "rules[1].actions[0]"]);
});
