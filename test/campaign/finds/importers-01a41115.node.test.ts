/** Found by the campaign: Bad control character in string literal in JSON at position 1 */
import { test } from "vitest";
import { replay } from "../replay.js";

const INPUT = "=79c48de8,0,cccccccd,0*2,51eb852,0*3,51eb852,0*3,a3d70a4,d90b2165,0*2,539782a,0,26666667 0";

test("importers on the debug core", () => replay("importers", "debug", INPUT));
