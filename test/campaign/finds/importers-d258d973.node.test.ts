/** Found by the campaign: a finding without reason or place: {"file":"text","line":4,"column":191,"severity":"refused","text":"eth()","r */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=508a1143,2b2564ad,66666667,0*2,2492493,0*2,db6db6dc,2492493,0,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
