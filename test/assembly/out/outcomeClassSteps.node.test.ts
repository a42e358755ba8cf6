/** What it costs to find the outcome class of a frame among many classes, in statements of the core. */
import { describe, expect, test } from "vitest";
import { buildFrame } from "../../../src/packet/builder/build.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { withRules } from "../../scenario/support/documents.js";
import { setting } from "../../support/tier.js";
import { countSteps, Steps } from "../support/countSteps.js";

/** Registers of a frame have its addresses, so each frame has a class of its own. */
const REGISTERS = [
  { copy: "outer.ipv4_src", into: "misc2.metadata_reg_c_0" },
  { copy: "outer.ipv4_dst", into: "misc2.metadata_reg_c_1" },
];
const ADDRESSES: Record<string, (n: number) => [source: string, destination: string]> = {
  "the last byte of the source": (n) => [`10.0.0.${n}`, "10.0.0.1"],
  "the last byte of the destination": (n) => ["10.0.0.1", `10.0.0.${n}`],
  "a middle byte of the destination": (n) => ["10.0.0.1", `10.0.${n}.1`],
};

describe.skipIf(setting("FLOWSTEER_CORE") === "coverage")("outcome classes", () => {
  test.each(Object.keys(ADDRESSES))("that differ in %s are found in few steps", async (name) => {
    const rule = { match: {}, actions: [{ modify: REGISTERS }, "drop"] };
    const { device } = await countSteps((core) => loadScenario(withRules(rule), { core }));
    const burst = device.openBurst();
    const steps = Array.from({ length: 256 }, (_, n) => {
      const [source, destination] = ADDRESSES[name]!(n);
      burst.clear();
      burst.put(buildFrame([{ header: "ethernet" }, { header: "ipv4", source, destination }]));
      Steps.count = 0;
      burst.steer({ summed: (classes) => expect(classes.count).toBe(n + 1) });
      return Steps.count;
    });
    expect(Math.max(...steps.slice(1))).toBeLessThan(steps[1]! + 100);
  });
});
