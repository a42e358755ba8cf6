/** Found by the campaign: a device refuses what was imported: parseScenario: tables[1].level = 42949672951: the document does not follow */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=f57403d6,0,cccccccd,0*2,2b6ba59,0*3,e79373,0*3,39e4dcc,0,5bbf3cc7,92492493,1642c85a 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
