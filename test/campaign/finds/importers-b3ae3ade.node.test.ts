/** Found by the campaign: a device refuses what was imported: parseScenario: rules[7].actions[0].tag = 4294967295: the document does not */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=f8545fe2,0,33333334,0*2,e601f632,1642c85a 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
