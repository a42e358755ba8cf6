/** Found by the campaign: a device refuses what was imported: loadScenario: rules[2].actions[0].table = "nic_rx level 0": a root table i */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=f8545fe2,b160d6c6,66666667,0,6db6db6e,243f6f1,0*3,c1e573ad 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
