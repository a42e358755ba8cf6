/** What a suite is made of: workloads, their cases, and the clock of cases that measure their own time. */

/** Minimum seconds of a round for such a case: far above the resolution of its clock. */
const SLICE = 0.02;
/** Seconds of runs before the first round: the compiler's slow tiers are over then. */
const WARM = 0.1;
/** A shorter run is below the resolution of the clock. */
const MIN = 2e-5;

export interface Case {
  name: string;
  /** Plain JavaScript for the same job; ratios refer to the first peer. */
  peer?: boolean;
  run: () => unknown;
  /** Untimed work around a run. A workload with such cases is timed run by run. */
  before?: () => void;
  after?: () => void;
}

/** A case that measures its own time: a peer in another process, or untimed work in between. */
export interface TimedCase {
  name: string;
  peer?: boolean;
  /** Seconds of one run: CPU time unless the workload says otherwise. */
  seconds: () => number | Promise<number>;
  /** Goals of its ratios, by name of the peer. */
  targets?: Record<string, Target>;
}

export interface Target {
  goal: number;
  floor?: number;
}

export interface Workload {
  name: string;
  /** The unit that is counted: "frame", "key", "rule". */
  unit: string;
  /** Units of one run. */
  units: number;
  /** Throws unless all cases give the same results. */
  check: () => void;
  cases: Case[] | TimedCase[];
  /** For cases that measure their own time. @default 11 */
  rounds?: number;
  /** Figures other than times, read at the end. */
  facts?: Record<string, number>;
}

/** Parts of a suite, if it has any; none named means all. */
export interface Parts {
  sets: readonly string[];
  sizes: readonly string[];
}

export interface Suite {
  name: string;
  title: string;
  /** One after another, so that only one workload's data is in memory. */
  workloads: (quick: boolean, parts: Parts) => AsyncIterable<Workload>;
  /** Figures other than times. */
  facts?: (quick: boolean, parts: Parts) => Promise<Record<string, number>>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** CPU seconds of this process, without other load of the machine; in a browser the seconds of its clock. */
export function cpuSeconds(): number {
  if (typeof process === "undefined") return performance.now() / 1000;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Seconds of one run from those of many: `time` runs `times` of them. */
export function repeated(time: (times: number) => number | Promise<number>): () => Promise<number> {
  let times = 0;
  return async () => {
    if (times === 0) {
      let last = 0;
      for (let warm = 0; warm < WARM; warm += last) last = Math.max(MIN, await time(1));
      times = Math.max(1, Math.ceil(SLICE / last));
    }
    return (await time(times)) / times;
  };
}

/** CPU seconds of one run. */
export function timed(run: () => unknown): () => Promise<number> {
  return repeated((times) => {
    const start = cpuSeconds();
    for (let i = 0; i < times; i++) run();
    return cpuSeconds() - start;
  });
}

/** Fails the check of a workload: a case with wrong results is not timed. */
export function expectEqual(what: string, engine: unknown, peer: unknown): void {
  const [left, right] = [JSON.stringify(engine), JSON.stringify(peer)];
  if (left !== right) throw new Error(`bench: ${what}: the engine says ${left}, plain JavaScript ${right}`);
}
