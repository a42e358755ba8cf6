/** Time of a process to its first outcome, beside an empty process. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Workload } from "../harness.js";
import { START_GOAL } from "./goals.js";
import { root, runWell } from "./processes.js";

const ROUNDS = 21;
const EMPTY = "a process that does nothing";

/** The reason why it is not measured here; undefined if it is. */
export function withoutStart(): string | undefined {
  return existsSync(join(root, "dist/index.js")) ? undefined : "the package is not built: npm run build:quick";
}

export function start(): Workload {
  // A program fails if its outcome is not the expected one.
  const run = async (program: string): Promise<number> =>
    (await runWell(process.execPath, [join(root, "bench/frames", program)])).seconds;
  return {
    name: "start: import, a device, ten rules, one frame, wall time",
    unit: "process",
    units: 1,
    // The outcome of each run is checked.
    check: () => undefined,
    cases: [
      {
        name: "engine",
        seconds: () => run("start.mjs"),
        targets: { [EMPTY]: { goal: START_GOAL } },
      },
      { name: EMPTY, peer: true, seconds: () => run("empty.mjs") },
    ],
    rounds: ROUNDS,
  };
}
