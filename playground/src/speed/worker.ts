/** Measures in a worker, so that the page goes on answering. */
import { expose } from "comlink";
import { clockStep, measure, type Figure } from "./measure.js";
import { workloadCount, workloads } from "./workloads.js";

export interface SpeedWorker {
  /**
   * Runs all workloads.
   * @param quick one short round of four workloads, for tests
   * @param starts called before each, with its name
   * @param ended called after each
   */
  run(
    quick: boolean,
    starts: (name: string, number: number, of: number) => void,
    ended: (figures: readonly Figure[]) => void,
  ): Promise<void>;
  clockStep(): number;
}

const worker: SpeedWorker = {
  async run(quick, starts, ended) {
    let number = 0;
    for await (const { suite, workload } of workloads(quick)) {
      starts(`${suite}: ${workload.name}`, ++number, workloadCount(quick));
      ended(await measure(suite, workload, quick));
    }
  },
  clockStep,
};

expose(worker);
