/** Found by the campaign: a device refuses what was imported: parseScenario: device.vports = 3003: the document does not follow the scen */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=f6603d99,0,9999999a,0*8,e6359f5f,b6db6db7,5999999a 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
