/**
 * Runs workloads and turns times into ratios.
 *
 * Every case of a workload is measured in every round, one after the other, so that what else the machine does meets
 * all of them; a ratio is taken inside a round, and the median of the rounds is reported.
 */
import { add, configure, suite } from "benny";

export interface Case {
  name: string;
  /** Plain JavaScript doing the same job; the first peer is what ratios refer to. */
  peer?: boolean;
  run: () => unknown;
  /** Work around a run that is not timed. A workload whose cases have it is timed run by run. */
  before?: () => void;
  after?: () => void;
}

export interface Workload {
  name: string;
  /** What is counted: "frame", "key", "rule". */
  unit: string;
  /** Units that one run handles. */
  units: number;
  /** Throws unless all cases give the same answers. */
  check: () => void;
  cases: Case[];
}

export interface Suite {
  name: string;
  title: string;
  /** One after the other, so that only one workload's data is alive. */
  workloads: (quick: boolean) => AsyncIterable<Workload>;
  /** Figures that are no times. */
  facts?: (quick: boolean) => Promise<Record<string, number>>;
}

export interface Result {
  suite: string;
  workload: string;
  case: string;
  unit: string;
  /** Nanoseconds a unit: median of the rounds' medians. */
  nanoseconds: number;
  /** Time of the peer by time of the case: above 1 the case is faster. Null for the peer itself. */
  ratio: number | null;
  /** The ratio of each round. */
  rounds: number[];
}

/** Many short rounds: what else runs on a shared machine comes and goes within a second. */
const ROUNDS = 7;
/** Rounds of what is timed run by run. */
const SINGLE_ROUNDS = 9;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Three decimals are more than a noisy machine knows. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

export async function measure(suiteName: string, workload: Workload, quick: boolean): Promise<Result[]> {
  workload.check();
  const single = workload.cases.some((one) => one.before !== undefined || one.after !== undefined);
  const count = quick ? 1 : single ? SINGLE_ROUNDS : ROUNDS;
  // The first runs of what is timed run by run are in the compiler's slow tier.
  if (single && !quick) for (let i = 0; i < 2; i++) timeOnce(workload);
  const rounds: number[][] = [];
  for (let i = 0; i < count; i++) rounds.push(single ? timeOnce(workload) : await timeByBenny(workload, quick));
  const peer = workload.cases.findIndex((one) => one.peer);
  return workload.cases.map((one, n) => {
    const ratios = n === peer || peer < 0 ? [] : rounds.map((times) => times[peer]! / times[n]!);
    return {
      suite: suiteName,
      workload: workload.name,
      case: one.name,
      unit: workload.unit,
      nanoseconds: rounded((median(rounds.map((times) => times[n]!)) * 1e9) / workload.units),
      ratio: ratios.length > 0 ? rounded(median(ratios)) : null,
      rounds: ratios.map(rounded),
    };
  });
}

/** Seconds a run of each case, medians of one benny suite. */
async function timeByBenny(workload: Workload, quick: boolean): Promise<number[]> {
  const cases = quick
    ? { minSamples: 2, minTime: 0.002, maxTime: 0.01 }
    : { minSamples: 30, minTime: 0.005, maxTime: 0.2 };
  const summary = await quietly(() =>
    suite(workload.name, configure({ cases }), ...workload.cases.map(({ name, run }) => add(name, () => void run()))),
  );
  return workload.cases.map(({ name }) => summary.results.find((result) => result.name === name)!.details.median);
}

/** benny announces each suite on standard output, which is ours. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { log } = console;
  console.log = () => undefined;
  try {
    return await work();
  } finally {
    console.log = log;
  }
}

/** Seconds of one run of each case; benny cannot leave out what is done before and after. */
function timeOnce(workload: Workload): number[] {
  return workload.cases.map(({ run, before, after }) => {
    before?.();
    const start = performance.now();
    run();
    const seconds = (performance.now() - start) / 1000;
    after?.();
    return seconds;
  });
}

/** Fails the check of a workload: nothing is timed that gives wrong answers. */
export function expectEqual(what: string, engine: unknown, peer: unknown): void {
  const [left, right] = [JSON.stringify(engine), JSON.stringify(peer)];
  if (left !== right) throw new Error(`bench: ${what}: the engine says ${left}, plain JavaScript ${right}`);
}
