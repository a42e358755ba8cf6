/** What all slices of a target come to: those of the log, and those of logs that a report has taken in. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../support/root.js";
import { clearLog, type Line, readLog } from "./log.js";
import type { Stage } from "./stages.js";

/** The sums of each target, by name. It is committed, so a campaign goes on on another machine. */
const RECORD = "test/campaign/sums.json";

export interface Sums {
  slices: number;
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
    slices: 0,
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
  sums.slices++;
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

/** Those of the record and of the log. */
export function sumsSoFar(): Map<string, Sums> {
  const file = join(ROOT, RECORD);
  const record = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Sums>) : {};
  const all = new Map(Object.entries(record));
  for (const line of readLog()) {
    const sums = all.get(line.target) ?? newSums();
    all.set(line.target, sums);
    add(sums, line);
  }
  return all;
}

/** Adds the log to the record and empties it. */
export function takeInLog(): Map<string, Sums> {
  const all = sumsSoFar();
  writeFileSync(join(ROOT, RECORD), `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  clearLog();
  return all;
}
