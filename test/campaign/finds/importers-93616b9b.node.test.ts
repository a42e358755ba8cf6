/** Found by the campaign: a device refuses what was imported: loadScenario: rules[4].actions[0] = dest_ibv_qp (qp 0x0): the object belon */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=f66977da,0,66666667,0*5,4924924a,3f54428d 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
