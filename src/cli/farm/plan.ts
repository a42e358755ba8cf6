/** Turns captures into jobs: pieces in the order of their frames, or shares of all frames. */
import type { Division, ShareOf } from "../../run/index.js";
import { grouped } from "../text.js";
import { CommandRefusal } from "../refusal.js";
import { piecesOf } from "./cutting.js";
import type { Farm } from "./farm.js";
import {
  identityOf,
  type CaptureIndex,
  type CaptureRef,
  type Piece,
  type ReadCaptures,
  type SteerJob,
} from "./jobs.js";
import { folderOf } from "./partFiles.js";

/** What all jobs of a run have in common. */
export type CommonJob = Pick<SteerJob, "scenario" | "port" | "rows" | "captures" | "parts">;

/** A job in the queue. */
export interface PlannedJob {
  readonly identity: string;
  readonly job: SteerJob;
  /** The bytes of captures that it steers. */
  readonly bytes: number;
  /** What it steers, in words. */
  readonly text: string;
}

/** The jobs of a capture, with what its index says. */
export interface PlannedCapture extends Pick<ReadCaptures, "notes" | "broken"> {
  readonly jobs: readonly PlannedJob[];
  /** Why the capture could not be cut; null if it was. */
  readonly failed: string | null;
}

/**
 * Has workers find the pieces of captures, and queues them as soon as all frames before are counted.
 * @returns the captures in their order; a promise is rejected with a refusal of its capture
 */
export async function planPieces(
  farm: Farm,
  captures: readonly CaptureRef[],
  pieceBytes: number,
  common: CommonJob,
): Promise<Promise<PlannedCapture>[]> {
  const identities = await farm.put(captures.map((capture) => ({ kind: "index", capture, pieceBytes })));
  let first = Promise.resolve(1);
  return captures.map((capture, i) => {
    const plan = first.then((number) => planCapture(farm, capture, identities[i] as string, number, common));
    first = plan.then(({ next }) => next);
    first.catch(() => undefined);
    return plan;
  });
}

async function planCapture(
  farm: Farm,
  capture: CaptureRef,
  indexed: string,
  first: number,
  common: CommonJob,
): Promise<PlannedCapture & { readonly next: number }> {
  const ended = await farm.ended(indexed);
  if (ended === null) return { jobs: [], notes: [], broken: [], failed: null, next: first };
  if ("failed" in ended) {
    const failed = `all of ${capture.name}: ${ended.failed}`;
    return { jobs: [], notes: [], broken: [], failed, next: first };
  }
  const index = ended.value as CaptureIndex;
  if (index.refused !== null) throw new CommandRefusal(index.refused.file, index.refused.refusal);
  const pieces = piecesOf(capture, index);
  const jobs = pieces.map(({ piece, frames }, i) => {
    const next = pieces[i + 1]?.frames ?? index.frames;
    return steerJob([piece], { ...common, first: first + frames, frames: next - frames });
  });
  await queue(farm, jobs);
  return { jobs, notes: index.notes, broken: index.broken, failed: null, next: first + index.frames };
}

/**
 * Queues a job for each share of the frames, which reads all captures: one after the other on one machine, if `division` says
 * that frames cannot be divided.
 */
export async function planShares(
  farm: Farm,
  captures: readonly CaptureRef[],
  division: Division,
  shares: number,
  common: CommonJob,
): Promise<PlannedJob[]> {
  const pieces = captures.map((capture): Piece => ({ capture, from: 0, to: capture.size, context: [] }));
  const all: (ShareOf | null)[] =
    division.by === "connections" || division.by === "associations"
      ? Array.from({ length: shares }, (_, index) => ({ index, of: shares, by: division.by as ShareOf["by"] }))
      : [null];
  const jobs = all.map((share) => steerJob(pieces, { ...common, first: 1, frames: null, share, remembers: true }));
  await queue(farm, jobs);
  return jobs;
}

type Rest = CommonJob & Pick<SteerJob, "first" | "frames"> & Partial<Pick<SteerJob, "share" | "remembers">>;

function steerJob(pieces: readonly Piece[], rest: Rest): PlannedJob {
  const job: SteerJob = { kind: "steer", share: null, remembers: false, pieces, ...rest };
  const bytes = pieces.reduce((sum, { from, to }) => sum + to - from, 0) / (job.share?.of ?? 1);
  return { identity: identityOf(job), job, bytes, text: textOf(job) };
}

function textOf({ pieces, share }: SteerJob): string {
  if (share !== null) return `share ${share.index + 1} of ${share.of}`;
  return pieces
    .map(({ capture, from, to }) => `bytes ${grouped(from)} to ${grouped(to - 1)} of ${capture.name}`)
    .join(", ");
}

/** Puts jobs; without results whose files are gone. */
async function queue(farm: Farm, jobs: readonly PlannedJob[]): Promise<void> {
  const gone: string[] = [];
  for (const { identity, job } of jobs) if (!(await folderOf(job)).complete) gone.push(identity);
  await farm.forget(gone);
  await farm.put(jobs.map(({ job }) => job));
}
