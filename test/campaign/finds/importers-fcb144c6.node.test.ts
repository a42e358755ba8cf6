/** Found by the campaign: a device refuses what was imported: parseScenario: hostRules[0].priority = NaN: the document does not follow t */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=133f84d0,0,66666667,0,db6db6dc,4f2cddb1,0*5,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
