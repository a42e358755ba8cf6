/** How long a process takes to its first outcome, beside one that does nothing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expectEqual, type Workload } from "../harness.js";
import { START_GOAL } from "./goals.js";
import { root, runWell } from "./processes.js";

const ROUNDS = 21;
const EMPTY = "a process that does nothing";

/** Why it is not measured here; undefined where it is. */
export function withoutStart(): string | undefined {
  return existsSync(join(root, "dist/index.js")) ? undefined : "the package is not built: npm run build:quick";
}

export function start(): Workload {
  const run = async (program: string, expected: string): Promise<number> => {
    const { out, seconds } = await runWell(process.execPath, [join(root, "bench/frames", program)]);
    expectEqual(program, out.trim(), expected);
    return seconds;
  };
  return {
    name: "start: import, a device, ten rules, one frame, wall time",
    unit: "process",
    units: 1,
    // Each run is held to what it has to say.
    check: () => undefined,
    cases: [
      {
        name: "engine",
        seconds: () => run("start.mjs", "deliver 3 qp:web"),
        targets: { [EMPTY]: { goal: START_GOAL } },
      },
      { name: EMPTY, peer: true, seconds: () => run("empty.mjs", "") },
    ],
    rounds: ROUNDS,
  };
}
