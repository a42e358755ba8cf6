/** Found by the campaign: a device refuses what was imported: loadScenario: rules[5].actions[1].modify = 0: the device cannot make these */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=fb34bbed,403d5d01,cccccccd,0*2,14c1bad,0*3,6eb3e5,0,396484,b6db6db7,0*2,db6db6dc,942462c3 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
