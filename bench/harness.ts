/**
 * Runs workloads and turns times into ratios.
 *
 * Each round measures every case of a workload, one after the other, so that other load on the
 * machine affects all of them. A ratio is taken within a round; the report has the median of the
 * rounds.
 */
import { add, configure, suite } from "benny";
import { median, type Case, type Target, type TimedCase, type Workload } from "./workload.js";

export * from "./workload.js";

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
  /** The ratio to each peer, if there are several or a goal. */
  against?: Against[];
}

export interface Against extends Partial<Target> {
  peer: string;
  ratio: number;
  rounds: number[];
}

/** Result of one run of the benchmarks. */
export interface Report {
  date: string;
  command: string;
  quick: boolean;
  machine: Record<string, string | number>;
  results: Result[];
  facts: Record<string, Record<string, number>>;
}

/** Many short rounds, because other load on a shared machine comes and goes within a second. */
const ROUNDS = 7;
/** Rounds of workloads that are timed run by run. */
const SINGLE_ROUNDS = 9;
/** Rounds of cases that measure their own time. */
const TIMED_ROUNDS = 11;

/** More than three decimals would be noise. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

export async function measure(suiteName: string, workload: Workload, quick: boolean): Promise<Result[]> {
  workload.check();
  const { cases } = workload;
  const rounds = await timeRounds(workload, quick);
  const ratios = (n: number, peer: number): number[] => rounds.map((times) => times[peer]! / times[n]!);
  const peers = cases.flatMap((one, n) => (one.peer === true ? [n] : []));
  return cases.map((one, n) => {
    const first = peers[0] === undefined || peers[0] === n ? [] : ratios(n, peers[0]);
    const result: Result = {
      suite: suiteName,
      workload: workload.name,
      case: one.name,
      unit: workload.unit,
      nanoseconds: rounded((median(rounds.map((times) => times[n]!)) * 1e9) / workload.units),
      ratio: first.length > 0 ? rounded(median(first)) : null,
      rounds: first.map(rounded),
    };
    const targets = "targets" in one ? one.targets : undefined;
    if (one.peer === true || (peers.length < 2 && targets === undefined)) return result;
    result.against = peers.map((peer) => {
      const { name } = cases[peer]!;
      return {
        peer: name,
        ratio: rounded(median(ratios(n, peer))),
        rounds: ratios(n, peer).map(rounded),
        ...targets?.[name],
      };
    });
    return result;
  });
}

/** For each round, seconds per run of each case. */
async function timeRounds(workload: Workload, quick: boolean): Promise<number[][]> {
  const { cases } = workload;
  const rounds: number[][] = [];
  if (isTimed(cases)) {
    // Code is in the slow tier of the compiler at first.
    if (!quick) await timeThemselves(cases);
    for (let i = 0; i < (quick ? 1 : (workload.rounds ?? TIMED_ROUNDS)); i++) rounds.push(await timeThemselves(cases));
    return rounds;
  }
  const single = cases.some((one) => one.before !== undefined || one.after !== undefined);
  const count = quick ? 1 : single ? SINGLE_ROUNDS : ROUNDS;
  // The first runs of what is timed run by run are in the compiler's slow tier.
  if (single && !quick) for (let i = 0; i < 2; i++) timeOnce(cases);
  for (let i = 0; i < count; i++)
    rounds.push(single ? timeOnce(cases) : await timeByBenny(workload.name, cases, quick));
  return rounds;
}

function isTimed(cases: Case[] | TimedCase[]): cases is TimedCase[] {
  return cases[0] !== undefined && "seconds" in cases[0];
}

async function timeThemselves(cases: readonly TimedCase[]): Promise<number[]> {
  const times: number[] = [];
  for (const one of cases) times.push(await one.seconds());
  return times;
}

/** Seconds a run of each case, medians of one benny suite. */
async function timeByBenny(name: string, all: readonly Case[], quick: boolean): Promise<number[]> {
  const cases = quick
    ? { minSamples: 2, minTime: 0.002, maxTime: 0.01 }
    : { minSamples: 30, minTime: 0.005, maxTime: 0.2 };
  const summary = await quietly(() =>
    suite(name, configure({ cases }), ...all.map((one) => add(one.name, () => void one.run()))),
  );
  return all.map(({ name }) => summary.results.find((result) => result.name === name)!.details.median);
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

/** Seconds of one run of each case; benny cannot exclude the work before and after. */
function timeOnce(cases: readonly Case[]): number[] {
  return cases.map(({ run, before, after }) => {
    before?.();
    const start = performance.now();
    run();
    const seconds = (performance.now() - start) / 1000;
    after?.();
    return seconds;
  });
}
