/** flowsteer farm worker: a machine's share of runs. */
import { availableParallelism } from "node:os";
import { numberOption, type CommandLine } from "../../commandLine.js";
import { Interruption } from "../../interruption.js";
import { badUsage } from "../../refusal.js";
import { notesText } from "../../report/report.js";
import { counted, painter } from "../../text.js";
import { version } from "../../version.js";
import { redisUrl } from "../options.js";
import { connect, shown } from "../redis.js";
import { takeJobs } from "./worker.js";

const MAX_PROCESSES = 1024;
/** Seconds. */
const LOCK = 30;
const MAX_LOCK = 3600;

/** @returns the exit code, when a signal has ended it */
export async function farmWorker(line: CommandLine): Promise<number> {
  const url = redisUrl(line);
  if (line.operands.length > 0) throw badUsage(line.operands[0] ?? "", "farm worker takes only options");
  const processes = numberOption(line, "workers", 1, MAX_PROCESSES) ?? availableParallelism();
  const lock = numberOption(line, "lock", 1, MAX_LOCK, "seconds") ?? LOCK;
  const quiet = line.flags.has("quiet");
  const paint = painter(process.stderr);
  const redis = await connect(url);
  const interruption = new Interruption();
  if (!quiet) {
    process.stderr.write(`flowsteer ${version()} serves ${shown(url)} with ${counted(processes, "core")}\n`);
  }
  let isClosed: boolean;
  try {
    isClosed = await takeJobs(redis, { url, processes, lock }, interruption, (text) => {
      if (!quiet) process.stderr.write(notesText(paint, [text]));
    });
  } finally {
    redis.disconnect();
    interruption.end();
  }
  if (!isClosed) process.exit(0);
  return 0;
}
