/** `npm run campaign`: the campaign, with `--report` its page, with `--task` the process of one of its slices. */
import { fileURLToPath } from "node:url";
import { writePage } from "./page.js";
import { Campaign } from "./runner/campaign.js";
import { runTask, type Task } from "./runner/child.js";
import { readOptions } from "./runner/options.js";

if (process.argv.includes("--task")) {
  process.once("message", (task: Task) => {
    void runTask(task, (told) => void process.send?.(told)).then(() => process.disconnect());
  });
} else if (process.argv.includes("--report")) {
  await writePage();
} else {
  const found = await new Campaign(readOptions(process.argv.slice(2)), fileURLToPath(import.meta.url)).run();
  process.exitCode = found > 0 ? 1 : 0;
}
