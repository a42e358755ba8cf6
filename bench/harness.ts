/**
 * Runs workloads and turns times into ratios.
 *
 * Each round measures every case of a workload, one after the other, so that other load on the
 * machine affects all of them. A ratio is taken within a round; the report has the median of the
 * rounds.
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

/** A case that takes its time itself: a peer in another process, or work between what is timed. */
export interface TimedCase {
  name: string;
  peer?: boolean;
  /** Seconds of one run: of CPU time, but where the workload says otherwise. */
  seconds: () => number | Promise<number>;
  /** What its ratios to peers, by their names, are meant to reach. */
  targets?: Record<string, Target>;
}

export interface Target {
  goal: number;
  floor?: number;
}

export interface Workload {
  name: string;
  /** What is counted: "frame", "key", "rule". */
  unit: string;
  /** Units that one run handles. */
  units: number;
  /** Throws unless all cases give the same answers. */
  check: () => void;
  cases: Case[] | TimedCase[];
  /** Of cases that take their time themselves. @default 11 */
  rounds?: number;
  /** Figures that are no times; asked for when all is measured. */
  facts?: Record<string, number>;
}

/** Parts of a suite that has such; none named is all. */
export interface Parts {
  sets: readonly string[];
  sizes: readonly string[];
}

export interface Suite {
  name: string;
  title: string;
  /** One after the other, so that only one workload's data is alive. */
  workloads: (quick: boolean, parts: Parts) => AsyncIterable<Workload>;
  /** Figures that are no times. */
  facts?: (quick: boolean, parts: Parts) => Promise<Record<string, number>>;
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
  /** The same to every peer, where there are several or something is to be reached. */
  against?: Against[];
}

export interface Against extends Partial<Target> {
  peer: string;
  ratio: number;
  rounds: number[];
}

/** What one run of the benchmarks found. */
export interface Report {
  date: string;
  command: string;
  quick: boolean;
  machine: Record<string, string | number>;
  results: Result[];
  facts: Record<string, Record<string, number>>;
}

/** Many short rounds: what else runs on a shared machine comes and goes within a second. */
const ROUNDS = 7;
/** Rounds of what is timed run by run. */
const SINGLE_ROUNDS = 9;
/** Rounds of cases that take their time themselves. */
const TIMED_ROUNDS = 11;
/** Seconds of a round for such a case, at least: far above what its clock can tell apart. */
const SLICE = 0.02;

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

/** Of each round, seconds a run of each case. */
async function timeRounds(workload: Workload, quick: boolean): Promise<number[][]> {
  const { cases } = workload;
  const rounds: number[][] = [];
  if (isTimed(cases)) {
    // What is compiled while it runs is in its slow tier at first.
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

/** CPU seconds of this process: what else the machine does is not in them. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Seconds of one run from those of many: `time` runs `times` of them. */
export function repeated(time: (times: number) => number | Promise<number>): () => Promise<number> {
  let times = 0;
  return async () => {
    if (times === 0) {
      await time(1);
      times = Math.max(1, Math.ceil(SLICE / (await time(1))));
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

/** Seconds of one run of each case; benny cannot leave out what is done before and after. */
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

/** Fails the check of a workload: nothing is timed that gives wrong answers. */
export function expectEqual(what: string, engine: unknown, peer: unknown): void {
  const [left, right] = [JSON.stringify(engine), JSON.stringify(peer)];
  if (left !== right) throw new Error(`bench: ${what}: the engine says ${left}, plain JavaScript ${right}`);
}
