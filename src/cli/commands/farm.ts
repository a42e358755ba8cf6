/** flowsteer farm: captures over many machines. docs/farm.md */
import { FARM_OPTIONS, WORKER_OPTIONS } from "../farm/options.js";
import { readCommandLine } from "../commandLine.js";
import { loadOptional } from "../optional.js";
import { badUsage } from "../refusal.js";

/** BullMQ and its client of Redis are optional peer dependencies: a library user does not install them. */
const PACKAGES = ["bullmq@6.7", "ioredis@6"];

/** @returns the exit code */
export async function farm([action, ...args]: readonly string[]): Promise<number> {
  if (action === "run") {
    const line = readCommandLine(args, "farm run", FARM_OPTIONS);
    const { farmRun } = await loadOptional("farm run", PACKAGES, () => import("../farm/run/runCommand.js"));
    return farmRun(line);
  }
  if (action === "worker") {
    const line = readCommandLine(args, "farm worker", WORKER_OPTIONS);
    const { farmWorker } = await loadOptional("farm worker", PACKAGES, () => import("../farm/worker/workerCommand.js"));
    return farmWorker(line);
  }
  throw badUsage(
    action ?? "farm",
    "expected run or worker: flowsteer farm run SCENARIO CAPTURE..., flowsteer farm worker",
  );
}
