/** What all slices of a target come to. */
import type { Line } from "./log.js";
import type { Stage } from "./stages.js";

export interface Sums {
  inputs: number;
  units: Record<Stage, number>;
  seconds: Record<Stage, number>;
  corpus: number;
  /** The most that one process reached. */
  reached: number;
  all: number | null;
  /** Seconds of guided slices since the last one that kept an input. */
  sinceKept: number;
  finds: number;
}

export function newSums(): Sums {
  return {
    inputs: 0,
    units: { guided: 0, checked: 0, release: 0 },
    seconds: { guided: 0, checked: 0, release: 0 },
    corpus: 0,
    reached: 0,
    all: null,
    sinceKept: 0,
    finds: 0,
  };
}

export function add(sums: Sums, line: Line): void {
  if (line.kind === "find") {
    sums.finds++;
    return;
  }
  sums.inputs += line.inputs;
  sums.units[line.stage] += line.units;
  sums.seconds[line.stage] += line.seconds;
  sums.corpus = Math.max(sums.corpus, line.corpus);
  if (line.stage !== "guided") return;
  sums.reached = Math.max(sums.reached, line.reached);
  sums.all = line.all;
  sums.sinceKept = line.kept > 0 ? 0 : sums.sinceKept + line.seconds;
}

/** What was counted on the core with assertions. */
export function checkedUnits({ units }: Sums = newSums()): number {
  return units.guided + units.checked;
}

export function sumsOf(lines: readonly Line[]): Map<string, Sums> {
  const all = new Map<string, Sums>();
  for (const line of lines) {
    const sums = all.get(line.target) ?? newSums();
    all.set(line.target, sums);
    add(sums, line);
  }
  return all;
}
