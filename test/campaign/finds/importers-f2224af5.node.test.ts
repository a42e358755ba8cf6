/** Found by the campaign: a device refuses what was imported: loadScenario: rules[1].actions[1] = dest_ibv_qp (qp 0x2): these actions ca */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=ff0a8bfd,0,33333334,0,4924924a,eb851eb9,55555556 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
