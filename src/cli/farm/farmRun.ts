/** A run on many machines: queues jobs, waits for them in order, and puts their results together. */
import { rm } from "node:fs/promises";
import type { LoadedScenario } from "../../scenario/index.js";
import type { SteeredRun } from "../commands/session.js";
import { CaptureLog, skippedNotes } from "../input/captures.js";
import type { StopSignal } from "../interruption.js";
import { Output } from "../output/output.js";
import { CommandRefusal } from "../refusal.js";
import type { Farm } from "./farm.js";
import { failureText } from "./failure.js";
import type { Steered } from "./jobs.js";
import type { Merging } from "./merging.js";
import { folderOf } from "./partFiles.js";
import type { PlannedCapture, PlannedJob } from "./plan.js";

export class FarmRun implements SteeredRun {
  readonly loaded: LoadedScenario;
  readonly outputs: SteeredRun["outputs"];
  readonly output = new Output();
  readonly log = new CaptureLog();
  interrupted: StopSignal | null = null;
  readonly #farm: Farm;
  readonly #merging: Merging;
  /** Called when jobs are done. */
  readonly #progress: (bytes: number) => void;
  readonly #queued: PlannedJob[] = [];
  /** How many of them have ended. */
  #ended = 0;

  constructor(
    loaded: LoadedScenario,
    outputs: SteeredRun["outputs"],
    farm: Farm,
    merging: Merging,
    progress: (bytes: number) => void,
  ) {
    this.loaded = loaded;
    this.outputs = outputs;
    this.#farm = farm;
    this.#merging = merging;
    this.#progress = progress;
  }

  get skipped(): SteeredRun["skipped"] {
    return this.#merging.skipped;
  }

  /** Merges captures in order, piece by piece. */
  async mergePieces(captures: readonly Promise<PlannedCapture>[]): Promise<void> {
    const { notes, broken, failed } = this.log;
    // A later capture may be refused while an earlier one is still steered.
    for (const capture of captures) capture.catch(() => undefined);
    for (const capture of captures) {
      const planned = await capture;
      this.#queued.push(...planned.jobs);
      notes.push(...planned.notes);
      broken.push(...planned.broken);
      if (planned.failed !== null) failed.push(failureText(planned.failed));
      for (const job of planned.jobs) await this.#merge([job]);
    }
    notes.push(...skippedNotes(this.skipped));
  }

  /** Merges shares of the same frames. */
  async mergeShares(jobs: readonly PlannedJob[]): Promise<void> {
    this.#queued.push(...jobs);
    const [first] = await this.#merge(jobs);
    // Each share has read all captures.
    this.log.notes.push(...(first?.notes ?? []), ...skippedNotes(this.skipped));
    this.log.broken.push(...(first?.broken ?? []));
  }

  /** Takes back what is still to be done, and what the next run cannot use: results whose files are merged. */
  async tidy(parts: string | null): Promise<void> {
    const useless = this.#queued.slice(parts === null ? this.#ended : 0);
    await this.#farm.forget(useless.map(({ identity }) => identity));
    if (parts !== null) await rm(parts, { recursive: true, force: true });
  }

  async #merge(jobs: readonly PlannedJob[]): Promise<Steered[]> {
    const results: Steered[] = [];
    const done: [PlannedJob, Steered][] = [];
    for (const job of jobs) {
      const ended = await this.#farm.ended(job.identity);
      if (ended === null) return results;
      this.#ended++;
      this.#progress(job.bytes);
      if ("failed" in ended) {
        this.log.failed.push(failureText(`${job.text}: ${ended.failed}`));
        continue;
      }
      const result = ended.value as Steered;
      if (result.refused !== null) throw new CommandRefusal(result.refused.file, result.refused.refusal);
      results.push(result);
      done.push([job, result]);
    }
    this.#merging.addSums(results);
    for (const [{ job }, result] of done) {
      const { path } = await folderOf(job);
      if (path !== "") await this.#merging.addFiles(path, result);
    }
    return results;
  }
}
