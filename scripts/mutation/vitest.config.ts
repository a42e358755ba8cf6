/** The tests in Node. A job of core.mjs sets their order; Stryker runs them without a job. */
import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { nodeProject, settingsOf } from "../../vitest.config.js";

const job = process.env["FLOWSTEER_MUTATION"];

class Sequencer extends BaseSequencer {
  override sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const { order } = JSON.parse(readFileSync(job!, "utf8")) as { order: string[] };
    const place = new Map(order.map((file, i) => [file, i]));
    const placeOf = ({ moduleId }: TestSpecification): number =>
      place.get(moduleId.slice(process.cwd().length + 1)) ?? 0;
    return Promise.resolve(specifications.sort((a, b) => placeOf(a) - placeOf(b)));
  }
}

const { plugins, test } = nodeProject(settingsOf("test"));

export default defineConfig({
  plugins,
  test: {
    ...test,
    testTimeout: 20_000,
    // A process of its own for each file compiles the core again.
    isolate: true,
    globalSetup: ["scripts/tests-setup.mjs"],
    silent: true,
    ...(job && {
      runner: "./scripts/mutation/runner.mjs",
      pool: "forks" as const,
      // Turns of loops are counted; time is not, on a busy machine.
      testTimeout: 300_000,
      maxWorkers: 1,
      // All files in one process, which loads each module of src/ once.
      isolate: false,
      fileParallelism: false,
      sequence: { sequencer: Sequencer },
    }),
  },
});
