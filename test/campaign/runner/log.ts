/**
 * The log of a campaign: a line of JSON for each slice and each find since the last report. A campaign resumes from it
 * and from the record (sums.ts).
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../support/root.js";
import type { Stage } from "./stages.js";

export const LOG = "build/campaign/log.jsonl";

/** What a slice did. */
export interface SliceFigures {
  readonly inputs: number;
  readonly units: number;
  readonly seconds: number;
  readonly kept: number;
  readonly corpus: number;
  /** Statements of the core or functions of the host that the process reached; of a guided slice. */
  readonly reached: number;
  readonly all: number | null;
}

export interface SliceLine extends SliceFigures {
  readonly kind: "slice";
  /** When it ended, ISO 8601. */
  readonly at: string;
  readonly target: string;
  readonly stage: Stage;
  readonly seed: number;
}

export interface FindLine {
  readonly kind: "find";
  readonly at: string;
  readonly target: string;
  readonly stage: Stage;
  /** The test that was written. */
  readonly file: string;
  readonly alone: boolean;
  readonly text: string;
}

export type Line = SliceLine | FindLine;

export function append(line: Line): void {
  const file = join(ROOT, LOG);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

export function readLog(): Line[] {
  const file = join(ROOT, LOG);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

export function clearLog(): void {
  rmSync(join(ROOT, LOG), { force: true });
}
