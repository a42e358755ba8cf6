/** Found by the campaign: a device refuses what was imported: parseScenario: rules[1].actions[0].push_vlan.pcp = NaN: the document does  */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=20996883,0,66666667,0*2,508a1143,0*2,24924925,75eebdd8,590b217,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
