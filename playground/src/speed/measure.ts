/** Times of workloads. Each round measures every case, so that other load affects all of them. */
import { median, type Case, type TimedCase, type Workload } from "../../../bench/workload.js";

/** One case of a workload. */
export interface Figure {
  readonly suite: string;
  readonly workload: string;
  readonly unit: string;
  readonly name: string;
  readonly peer: boolean;
  /** A unit, median of the rounds. */
  readonly nanoseconds: number;
  /** Time of plain JavaScript by time of the case; null for plain JavaScript itself. */
  readonly ratio: number | null;
  /** The least and the greatest ratio of a round. */
  readonly spread: readonly [least: number, greatest: number] | null;
}

const ROUNDS = 7;
/** Seconds of a case in a round: far above the resolution of a browser's clock. */
const SLICE = 0.04;

/** @throws Error the answers differ */
export async function measure(suite: string, workload: Workload, quick: boolean): Promise<Figure[]> {
  workload.check();
  const clocks = workload.cases.map(clockOf);
  // The first runs are in the compiler's slow tier.
  for (const clock of clocks) await clock();
  const rounds: number[][] = [];
  for (let i = 0; i < (quick ? 1 : ROUNDS); i++) {
    const times: number[] = [];
    for (const clock of clocks) times.push(await clock());
    rounds.push(times);
  }
  const peer = workload.cases.findIndex((one) => one.peer === true);
  return workload.cases.map((one, n) => {
    const ratios = rounds.map((times) => (times[peer] ?? 0) / (times[n] ?? 1));
    const compared = peer >= 0 && one.peer !== true;
    return {
      suite,
      workload: workload.name,
      unit: workload.unit,
      name: one.name,
      peer: one.peer === true,
      nanoseconds: (median(rounds.map((times) => times[n] ?? 0)) * 1e9) / workload.units,
      ratio: compared ? median(ratios) : null,
      spread: compared ? [Math.min(...ratios), Math.max(...ratios)] : null,
    };
  });
}

/** Gives the seconds of one run. */
function clockOf(one: Case | TimedCase): () => Promise<number> | number {
  if ("seconds" in one) return () => one.seconds();
  let runs = 1;
  return () => {
    for (;;) {
      const began = performance.now();
      for (let i = 0; i < runs; i++) one.run();
      const seconds = (performance.now() - began) / 1000;
      if (seconds >= SLICE) return seconds / runs;
      runs = Math.max(runs + 1, Math.ceil((1.2 * runs * SLICE) / Math.max(seconds, 1e-5)));
    }
  };
}

/** The smallest step of the clock, in microseconds. */
export function clockStep(): number {
  let least = Infinity;
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    let now = began;
    while (now === began) now = performance.now();
    least = Math.min(least, now - began);
  }
  return least * 1000;
}
