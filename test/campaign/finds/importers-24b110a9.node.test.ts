/** Found by the campaign: a device refuses what was imported: loadScenario: rules[4].actions[1].array[0].reformat.data = 38 bytes: the d */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=293a7ca5,0,66666667,0*2,88b0fcd7,0*5,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
