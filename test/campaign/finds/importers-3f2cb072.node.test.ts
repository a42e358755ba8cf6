/** Found by the campaign: a device refuses what was imported: loadScenario: rules[2].actions[2] = "drop": these actions cannot be in one */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=fd1fa3f5,0,9999999a,2a0140,b6db6db7,0*3,84655e,0*2,4924924a,d2492493,55555556 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
