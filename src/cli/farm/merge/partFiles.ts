/**
 * What a job writes: rows, and captures by destination. They come into being under a name of their own, and get the name of the
 * job when they are complete: whoever runs the job again, late or at the same time, changes nothing.
 */
import { access, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { RunOutputs } from "../../commands/session.js";
import { CaptureFiles } from "../../output/captureFiles.js";
import { FileOutput, type Output } from "../../output/output.js";
import { withFile } from "../../refusal.js";
import { openRows } from "../../output/rowFiles.js";
import { NumberedCaptures } from "./numberedCaptures.js";
import { identityOf, type Steered, type SteerJob } from "../jobs.js";

/** The file of rows in the folder of a job. */
export const ROWS = "rows";

/** The folder of a job as it comes into being, and its name when it is complete. */
interface Places {
  readonly growing: string;
  readonly complete: string;
}

export class PartFiles {
  readonly outputs: Pick<RunOutputs, "rows" | "files"> & { readonly json: Output | null };
  readonly #places: Places | null;

  /**
   * Opens what a job writes. Its folder is there, since machines share it.
   * @throws CommandRefusal its folder cannot be written to
   */
  static async open(job: SteerJob): Promise<PartFiles> {
    const { rows, captures, parts } = job;
    if (parts === null) return new PartFiles(null, { json: null, rows: null, files: null });
    const growing = await withFile(parts, () => mkdtemp(join(parts, "growing-")));
    const path = join(growing, ROWS);
    return new PartFiles(
      { growing, complete: join(parts, identityOf(job)) },
      {
        json: rows === "json" ? await FileOutput.open(path, []) : null,
        rows: rows === null || rows === "json" ? null : await openRows(rows, path, [], false),
        files: captures ? capturesOf(job, growing) : null,
      },
    );
  }

  private constructor(places: Places | null, outputs: PartFiles["outputs"]) {
    this.#places = places;
    this.outputs = outputs;
  }

  /** Completes everything. Gives the captures in the order of their first frame. */
  async end(): Promise<Steered["files"]> {
    const { json, rows, files } = this.outputs;
    await json?.end();
    await rows?.end(null);
    const written = files?.close() ?? [];
    if (this.#places !== null) await settle(this.#places.growing, this.#places.complete);
    return written.map(({ target, path }) => ({ target, file: basename(path) }));
  }
}

function capturesOf({ share }: SteerJob, folder: string): CaptureFiles {
  return share === null ? new CaptureFiles(folder, []) : new NumberedCaptures(folder);
}

/** The first one that is complete stays. */
async function settle(growing: string, complete: string): Promise<void> {
  try {
    await rename(growing, complete);
  } catch (error) {
    if (!(await exists(complete))) throw error;
    await rm(growing, { recursive: true, force: true });
  }
}

/** The folder of what a job writes, and whether it is complete; a job that writes nothing needs none. */
export async function folderOf(job: SteerJob): Promise<{ readonly path: string; readonly complete: boolean }> {
  if (job.parts === null) return { path: "", complete: true };
  const path = join(job.parts, identityOf(job));
  return { path, complete: await exists(path) };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
