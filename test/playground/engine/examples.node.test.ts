/** Every example through the engine of the playground: loads, lists, ways. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { outcomeNames, loadScenario } from "flowsteer/scenario";
import { CORES, exampleText, good, newSession } from "./support/session.js";
import { sampleOf } from "../../support/tier.js";

const NAMES = readdirSync(new URL("../../../examples/", import.meta.url)).filter((name) => name.endsWith(".json"));

test.each(sampleOf(NAMES))("%s: rows and totals are those of loadScenario, and every frame has a way", async (name) => {
  const session = newSession();
  const text = exampleText(name);
  const answer = good(await session.load(text));
  const loaded = await loadScenario(text, { core: CORES.release });
  const outcomes = loaded.run().map(outcomeNames);
  expect(answer.frames).toBe(outcomes.length);
  const lost = outcomes.findIndex(({ verdict }) => verdict === "miss" || verdict === "drop");
  expect(answer.firstLost).toBe(lost === -1 ? null : lost + 1);
  expect(answer.totals.frames).toBe(loaded.tally.all.frames);
  expect(answer.totals.failures).toEqual([]);
  const rows = await session.rows(0, 1000);
  expect(rows.map(({ verdict, reason, to, copies, rules }) => ({ verdict, reason, to, copies, rules }))).toEqual(
    outcomes.map(({ verdict, reason, to, copies, rules }) => ({ verdict, reason, to, copies, rules })),
  );
  console.log(rows.map(({ number, summary }) => `${number} ${summary}`).join("\n"));
  for (const { number } of rows) {
    const way = await session.way(number);
    const { verdict, reason, to, rules } = way?.trace.outcome ?? {};
    const expected = outcomes[number - 1];
    expect({ verdict, reason, to: to?.map((one) => one.name), rules }).toEqual({
      verdict: expected?.verdict,
      reason: expected?.reason,
      to: expected?.to,
      rules: expected?.rules,
    });
  }
});
