/** Found by the campaign: a device refuses what was imported: loadScenario: rules[4].match.outer.ip_version = 0: two fields require diff */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=fc2a2ff1,0,33333334,0,4924924a,711dc478 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
