/** Many devices in one process: CPU time and memory of making and using them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, runWell } from "./frames/processes.js";
import type { Suite } from "./workload.js";

const NUMBERS = [1000, 10_000];
const FEW = [10];

export const devices: Suite = {
  name: "devices",
  title: "Devices: each with 100 rules and 1,000 frames received one by one, all in one process",
  async *workloads() {
    // Nothing is compared: the process of each number is one run.
  },
  async facts(quick) {
    const facts: Record<string, number> = {};
    if (!existsSync(join(root, "dist/index.js"))) {
      console.log("  not measured: the package is not built: npm run build:quick");
      return facts;
    }
    for (const number of quick ? FEW : NUMBERS) {
      const { out } = await runWell(process.execPath, [join(root, "bench/devices/use.mjs"), String(number)]);
      const { seconds, megabytes } = JSON.parse(out) as { seconds: number; megabytes: number };
      const name = `${number.toLocaleString("en")} devices`;
      facts[`${name}: seconds of CPU time`] = Math.round(seconds * 10) / 10;
      facts[`${name}: MB of memory`] = Math.round(megabytes);
    }
    return facts;
  },
};
