/** `npm run campaign`: the campaign, with `--help` its options, with `--report` its page, with `--task` the process of one of its slices. */
import { fileURLToPath } from "node:url";
import { writePage } from "./page.js";
import { Campaign } from "./runner/campaign.js";
import { runTask, type Task } from "./runner/child.js";
import { BadUsage, readOptions, usage, type Options } from "./runner/options.js";

if (process.argv.includes("--task")) {
  process.once("message", (task: Task) => {
    void runTask(task, (told) => void process.send?.(told)).then(() => process.disconnect());
  });
} else if (process.argv.includes("--report")) {
  await writePage();
} else if (process.argv.includes("--help")) {
  process.stdout.write(usage());
} else {
  process.exitCode = await run(process.argv.slice(2));
}

/** @returns the exit code: 1 if something was found, 2 for a wrong command line */
async function run(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    if (!(error instanceof BadUsage)) throw error;
    process.stderr.write(`${error.message} (--help)\n`);
    return 2;
  }
  return (await new Campaign(options, fileURLToPath(import.meta.url)).run()) > 0 ? 1 : 0;
}
