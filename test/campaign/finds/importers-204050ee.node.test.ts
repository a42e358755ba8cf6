/** Found by the campaign: a finding without reason or place: {"file":"text","line":4,"column":34,"severity":"refused","text":"129","reas */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=aaaaaaab,0,9999999a,0*2,2f14991,0*2,24924925,11a7b962,4de9bd38,0*2,2f14991,0,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
