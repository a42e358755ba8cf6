/** Puts the results of jobs together, as if one machine had steered all frames. */
import { createReadStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { CaptureDecoder } from "../../../index.js";
import { addParts } from "../../../run/index.js";
import type { LoadedScenario } from "../../../scenario/index.js";
import type { SkippedSum } from "../../input/captures.js";
import type { CaptureFiles } from "../../output/captureFiles.js";
import { makeFolder } from "../../output/folder.js";
import type { Output } from "../../output/output.js";
import { addCapturesOfShares, addRowsOfShares, type ShareFolder } from "./interleaving.js";
import type { Steered } from "../jobs.js";
import { ROWS } from "./partFiles.js";

/** Where rows go: one after the other into an output, or each part as a file of a folder. */
export type RowsTo = { readonly output: Output } | { readonly folder: string };

export interface MergeOutputs {
  readonly rows: RowsTo | null;
  readonly files: CaptureFiles | null;
}

export class Merging {
  readonly skipped = new Map<string, SkippedSum>();
  readonly #loaded: LoadedScenario;
  readonly #outputs: MergeOutputs;
  #parts = 0;

  constructor(loaded: LoadedScenario, outputs: MergeOutputs) {
    this.#loaded = loaded;
    this.#outputs = outputs;
  }

  /** Adds results whose frames may alternate; those of later calls come after them. */
  addSums(results: readonly Steered[]): void {
    const sums = results.map(({ sums }) => sums);
    addParts(this.#loaded, sums);
    const skipped = results.flatMap((one) => one.skipped).sort(([, a], [, b]) => a.first - b.first);
    for (const [why, sum] of skipped) {
      const before = this.skipped.get(why) ?? { frames: 0, bytes: 0, first: sum.first };
      const { frames, bytes, first } = before;
      this.skipped.set(why, { frames: frames + sum.frames, bytes: bytes + sum.bytes, first });
    }
  }

  /** Adds what a job has written, after that of the jobs before, and removes it. */
  async addFiles({ path: folder, files }: ShareFolder): Promise<void> {
    const { rows, files: captures } = this.#outputs;
    if (rows !== null) await this.#addRows(rows, join(folder, ROWS));
    for (const { target, file } of files) if (captures !== null) await addFrames(captures, target, join(folder, file));
    await rm(folder, { recursive: true, force: true });
  }

  /** Adds what shares of the same frames have written, in the order of the frames, and removes it. */
  async addShares(shares: readonly ShareFolder[]): Promise<void> {
    const { rows, files } = this.#outputs;
    if (rows !== null && "output" in rows) await addRowsOfShares(rows.output, shares);
    if (files !== null) await addCapturesOfShares(files, shares);
    for (const { path } of shares) await rm(path, { recursive: true, force: true });
  }

  async #addRows(to: RowsTo, path: string): Promise<void> {
    if ("output" in to) {
      for await (const chunk of createReadStream(path)) await to.output.writeBytes(chunk as Uint8Array);
      return;
    }
    makeFolder(to.folder);
    await rename(path, join(to.folder, `part-${String(++this.#parts).padStart(6, "0")}.parquet`));
  }
}

/** Adds the frames of a capture to the file of a destination. */
async function addFrames(captures: CaptureFiles, target: string, path: string): Promise<void> {
  const decoder = new CaptureDecoder();
  for await (const chunk of createReadStream(path)) {
    for (const frame of decoder.push(chunk as Uint8Array)) captures.addTo(target, frame);
    captures.flush();
  }
}
