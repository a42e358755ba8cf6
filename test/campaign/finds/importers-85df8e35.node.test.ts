/** Found by the campaign: a device refuses what was imported: parseScenario: matchers[0].priority = 160521: the document does not follow */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=fd1fa3f5,2efb34bc,9999999a,2a0140,92492493,0*3,db6db6dc,0*2,e7b8136d,92492493,b21642d 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
