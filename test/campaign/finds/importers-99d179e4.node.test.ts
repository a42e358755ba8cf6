/** Found by the campaign: a device refuses what was imported: loadScenario: rules[1].actions[0].reformat.headers[1].destination = "::":  */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=7d9a5df7,0,33333334,0*2,3d4f98be,590b2165,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
