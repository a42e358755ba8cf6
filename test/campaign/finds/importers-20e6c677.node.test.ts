/** Found by the campaign: a device refuses what was imported: parseScenario: matchers[1].name = "0x55ca028a28b0": two objects have the s */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=fb34bbed,0,33333334,0,4924924a,36fe1a8d,55555556 0";

test("importers on the release core", () => replay("importers", "release", INPUT));
