/** A run on many machines: queues jobs, waits for them in order, and puts their results together. */
import { rm } from "node:fs/promises";
import type { LoadedScenario } from "../../../scenario/index.js";
import type { SteeredRun } from "../../commands/session.js";
import { CaptureLog, skippedNotes, type BreakFound } from "../../input/captures.js";
import type { StopSignal } from "../../interruption.js";
import { Output } from "../../output/output.js";
import { CommandRefusal } from "../../refusal.js";
import { ATTEMPTS, type Farm } from "./farm.js";
import type { CaptureRef, Steered } from "../jobs.js";
import type { ShareFolder } from "../merge/interleaving.js";
import type { Merging } from "../merge/merging.js";
import { folderOf } from "../merge/partFiles.js";
import { BEGINNING, type KnownPlace, type PlannedCapture, type PlannedJob } from "./plan.js";

/** Attempts to remove what workers still write to, and milliseconds between them, which grow: 8 s in all. */
const TRIES = 12;
const PAUSE = 100;

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
  readonly #ended = new Set<PlannedJob>();

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
    // A later capture may be refused while an earlier one is still steered.
    for (const capture of captures) capture.catch(() => undefined);
    for (const capture of captures) await this.#mergeIndexed(await capture, 0);
    this.log.notes.push(...skippedNotes(this.skipped));
  }

  /**
   * Merges captures in order, whose pieces no index has cut. Where a piece does not end where the next one begins, the rest of
   * the capture is cut by an index, from the last place that is known.
   * @param rest cuts the rest of a capture
   */
  async mergeSpans(
    captures: readonly (readonly PlannedJob[])[],
    rest: (capture: CaptureRef, known: KnownPlace) => Promise<PlannedCapture>,
  ): Promise<void> {
    this.#queued.push(...captures.flat());
    for (const jobs of captures) {
      const unknown = await this.#mergeWhileKnown(jobs);
      if (unknown !== null) await this.#mergeIndexed(await rest(unknown.capture, unknown.known), unknown.known.frames);
    }
    this.log.notes.push(...skippedNotes(this.skipped));
  }

  /** Merges pieces as long as each begins where the one before has ended. Gives the first other one; null for none. */
  async #mergeWhileKnown(jobs: readonly PlannedJob[]): Promise<{ capture: CaptureRef; known: KnownPlace } | null> {
    let known = BEGINNING;
    /** After a piece that failed the next one is taken as it is. */
    let isProven = true;
    let isAsAtHead = true;
    for (const [n, job] of jobs.entries()) {
      const result = await this.#resultOf(job);
      if (result === null) {
        isProven = false;
        continue;
      }
      const { span } = result;
      const [piece] = job.job.pieces;
      if (job.job.estimated && piece !== undefined) {
        if (span === null || !isAsAtHead || (isProven && span.begin !== known.offset))
          return { capture: piece.capture, known };
        known = { offset: span.end, frames: known.frames + framesOf(result), context: span.context };
        ({ isAsAtHead } = span);
        isProven = true;
      }
      await this.#add([[job, result]]);
      if (n === jobs.length - 1)
        this.#addBreaks(result.breaks, known.frames - (job.job.estimated ? framesOf(result) : 0));
    }
    return null;
  }

  /** @param before frames of the capture before its index begins */
  async #mergeIndexed({ jobs, breaks, failed }: PlannedCapture, before: number): Promise<void> {
    this.#queued.push(...jobs);
    this.#addBreaks(breaks, before);
    if (failed !== null) this.log.failed.push(`${failed} (tried ${ATTEMPTS} times)`);
    for (const job of jobs) {
      const result = await this.#resultOf(job);
      if (result !== null) await this.#add([[job, result]]);
    }
  }

  /** Merges shares of the same frames. */
  async mergeShares(jobs: readonly PlannedJob[]): Promise<void> {
    this.#queued.push(...jobs);
    const done: [PlannedJob, Steered][] = [];
    for (const job of jobs) {
      const result = await this.#resultOf(job);
      if (result !== null) done.push([job, result]);
    }
    await this.#add(done);
    // Each share has read all captures.
    this.#addBreaks(done[0]?.[1].breaks ?? [], 0);
    this.log.notes.push(...skippedNotes(this.skipped));
  }

  /** Takes back what is still to be done, and what the next run cannot use: results whose files are merged. */
  async tidy(parts: string | null): Promise<void> {
    const useless = parts === null ? this.#queued.filter((job) => !this.#ended.has(job)) : this.#queued;
    await this.#farm.forget(useless.map(({ identity }) => identity));
    if (parts === null) return;
    try {
      await rm(parts, { recursive: true, force: true, maxRetries: TRIES, retryDelay: PAUSE });
    } catch (error) {
      this.log.notes.push(`${parts} could not be removed: ${(error as Error).message}; workers may still write to it`);
    }
  }

  /** Waits for a job. Null if it failed, which is noted, or if the run was stopped. */
  async #resultOf(job: PlannedJob): Promise<Steered | null> {
    const ended = await this.#farm.ended(job.identity);
    if (ended === null) return null;
    this.#ended.add(job);
    this.#progress(job.bytes);
    if ("failed" in ended) {
      this.log.failed.push(`${job.text}: ${ended.failed} (tried ${ATTEMPTS} times)`);
      return null;
    }
    const result = ended.value as Steered;
    if (result.refused !== null) throw new CommandRefusal(result.refused.file, result.refused.refusal);
    return result;
  }

  /** Adds results whose frames may alternate. */
  async #add(done: readonly (readonly [PlannedJob, Steered])[]): Promise<void> {
    this.#merging.addSums(done.map(([, result]) => result));
    const folders: ShareFolder[] = [];
    for (const [{ job }, { files }] of done) {
      const { path } = await folderOf(job);
      if (path !== "") folders.push({ path, files });
    }
    const [first] = done;
    if (first?.[0].job.share) await this.#merging.addShares(folders);
    else for (const folder of folders) await this.#merging.addFiles(folder);
  }

  /** @param before frames of the capture before the part that breaks off */
  #addBreaks(breaks: readonly BreakFound[], before: number): void {
    for (const found of breaks) this.log.add({ ...found, frames: before + found.frames });
  }
}

function framesOf({ sums, skipped }: Steered): number {
  const all = [...sums.alike, ...skipped.map(([, sum]) => sum)];
  return all.reduce((frames, one) => frames + one.frames, 0);
}
