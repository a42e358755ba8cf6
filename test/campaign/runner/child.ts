/** The process of a slice. It tells the campaign by messages what it did. */
import { ftruncateSync, openSync, writeSync } from "node:fs";
import { CoreCoverage } from "../coverage/coreCoverage.js";
import { type Coverage, NO_COVERAGE } from "../coverage/coverage.js";
import { HostCoverage } from "../coverage/hostCoverage.js";
import { type Input, textOf } from "../input/input.js";
import type { Target } from "../target.js";
import { targetNamed } from "../targets/index.js";
import { Corpus } from "./corpus.js";
import { useCore } from "./flavour.js";
import { writeFind } from "./finds.js";
import type { SliceFigures } from "./log.js";
import { runSlice } from "./slice.js";
import { flavourOf, type Stage } from "./stages.js";

/** What a slice is to do. */
export interface Task {
  readonly target: string;
  readonly stage: Stage;
  readonly seed: number;
  readonly seconds: number;
  /** The file that always has the input under way. */
  readonly current: string;
}

export type Told =
  | { readonly kind: "find"; readonly file: string; readonly alone: boolean; readonly text: string }
  | ({ readonly kind: "done" } & SliceFigures);

export async function runTask(task: Task, tell: (told: Told) => void): Promise<void> {
  const target = targetNamed(task.target);
  const flavour = flavourOf(target, task.stage);
  useCore(flavour);
  const guided = task.stage === "guided";
  const coverage = guided ? coverageFor(target) : NO_COVERAGE;
  const corpus = new Corpus(target.name);
  const done = await runSlice({
    target,
    corpus,
    coverage,
    guided,
    seed: task.seed,
    seconds: task.seconds,
    note: noteIn(task.current),
    failed: ({ failure, input, alone }) => {
      const { text, signature } = failure;
      const file = alone ? writeFind({ target: target.name, flavour, input, text, signature }) : textOf(input);
      tell({ kind: "find", file, alone, text });
    },
  });
  tell({ kind: "done", ...done, corpus: corpus.size, reached: coverage.reached, all: coverage.all });
}

/** Keeps the input under way in a file, which stays open: to open it for each takes longer than many an input. */
function noteIn(path: string): (input: Input) => void {
  const file = openSync(path, "w");
  return (input) => {
    ftruncateSync(file, 0);
    writeSync(file, textOf(input), 0);
  };
}

function coverageFor({ guide }: Target): Coverage {
  return guide === "core" ? new CoreCoverage() : new HostCoverage(import.meta.url);
}
