/** Actions that a writer does not know are left out with their name, never in silence. */
import { expect, test } from "vitest";
import { type Missing, ProgramActions } from "../../src/formats/program/actions.js";
import { actionsText, type ActionsPlace } from "../../src/formats/testpmd/write/actions.js";
import type { ScenarioRuleAction } from "../../src/scenario/index.js";

const WORD = "mirror" as ScenarioRuleAction;
const OBJECT = { mirror: 1 } as unknown as ScenarioRuleAction;

test.each([WORD, OBJECT])("testpmd: %j", (action) => {
  const place = { scenario: { flowsteer: 1 }, domain: "nic_rx" } as unknown as ActionsPlace;
  expect(() => actionsText([action, "drop"], place)).toThrow("testpmd has no equal of mirror here");
});

test.each([WORD, OBJECT])("programs: %j", (action) => {
  const objects = { queue: () => undefined, table: () => undefined, counter: () => undefined };
  const made = new ProgramActions({ flowsteer: 1 }, objects).of(action, 0, false);
  expect((made as Missing).reason).toBe("the program has no equal of mirror");
  const meter = new ProgramActions({ flowsteer: 1 }, objects).of({ aso: {} } as never, 0, false);
  expect((meter as Missing).reason).toMatch(/^meters, samplers/);
});
