/** Found by the campaign: a device refuses what was imported: loadScenario: rules[1].match.outer.ipv4_dst = "10.78.132.234": two fields  */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=ad8b06b7,0,9999999a,0*2,4a7904b,590b2165,0*2,7b425ed1,0*3,7b425ed1,0,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
