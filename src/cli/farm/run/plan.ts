/** Turns captures into jobs: pieces in the order of their frames, or shares of all frames. */
import type { ByteRange } from "../../../index.js";
import type { Division, ShareOf } from "../../../run/index.js";
import { grouped } from "../../text.js";
import { CommandRefusal } from "../../refusal.js";
import { isPackedCapture, piecesOf } from "../cut/cutting.js";
import type { Farm } from "./farm.js";
import {
  identityOf,
  type CaptureIndex,
  type CaptureRef,
  type Piece,
  type ReadCaptures,
  type SteerJob,
} from "../jobs.js";
import { folderOf } from "../merge/partFiles.js";

/** What all jobs of a run have in common. */
export type CommonJob = Pick<SteerJob, "scenario" | "port" | "limit" | "rows" | "captures" | "parts">;

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
export interface PlannedCapture extends Pick<ReadCaptures, "breaks"> {
  readonly jobs: readonly PlannedJob[];
  /** Why the capture could not be cut; null if it was. */
  readonly failed: string | null;
}

/** A place between two records of a capture that is known to be one. */
export interface KnownPlace {
  readonly offset: number;
  /** The frames before it. */
  readonly frames: number;
  /** The bytes that describe the section there. */
  readonly context: readonly ByteRange[];
}

export const BEGINNING: KnownPlace = { offset: 0, frames: 0, context: [] };

/**
 * Cuts captures where their size says, whatever is there, and queues the pieces at once. Workers find the records; only when
 * the pieces are put together it shows that these were the right ones. The numbers of frames are those in their piece.
 * @returns the jobs of each capture
 */
export async function planSpans(
  farm: Farm,
  captures: readonly CaptureRef[],
  pieceBytes: number,
  common: CommonJob,
): Promise<PlannedJob[][]> {
  const planned = await Promise.all(
    captures.map(async (capture) => {
      // The job refuses a capture that cannot be read.
      const isPacked = await isPackedCapture(capture).catch(() => false);
      const count = isPacked ? 1 : Math.max(1, Math.floor(capture.size / pieceBytes));
      const cuts = Array.from({ length: count + 1 }, (_, n) => Math.floor((capture.size * n) / count));
      return cuts.slice(1).map((to, n) => {
        const piece = { capture, from: cuts[n] as number, to, context: [] };
        return steerJob([piece], { ...common, first: 1, frames: null, estimated: count > 1 });
      });
    }),
  );
  await queue(farm, planned.flat());
  return planned;
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
  const { offset: from, context } = BEGINNING;
  const identities = await farm.put(
    captures.map((capture) => ({ kind: "index", capture, pieceBytes, limit: common.limit, from, context })),
  );
  let first = Promise.resolve(1);
  return captures.map((capture, i) => {
    const plan = first.then((number) => planCapture(farm, capture, identities[i] as string, number, common));
    first = plan.then(({ next }) => next);
    first.catch(() => undefined);
    return plan;
  });
}

/** Has a worker find the pieces of the rest of a capture before all other jobs, and queues them. */
export async function planRest(
  farm: Farm,
  capture: CaptureRef,
  { offset: from, frames, context }: KnownPlace,
  pieceBytes: number,
  common: CommonJob,
): Promise<PlannedCapture> {
  const [identity = ""] = await farm.put([{ kind: "index", capture, pieceBytes, limit: null, from, context }], true);
  return planCapture(farm, capture, identity, 1 + frames, common);
}

async function planCapture(
  farm: Farm,
  capture: CaptureRef,
  indexed: string,
  first: number,
  common: CommonJob,
): Promise<PlannedCapture & { readonly next: number }> {
  const ended = await farm.ended(indexed);
  if (ended === null) return { jobs: [], breaks: [], failed: null, next: first };
  if ("failed" in ended) {
    const failed = `all of ${capture.name}: ${ended.failed}`;
    return { jobs: [], breaks: [], failed, next: first };
  }
  const index = ended.value as CaptureIndex;
  if (index.refused !== null) throw new CommandRefusal(index.refused.file, index.refused.refusal);
  const pieces = piecesOf(capture, index);
  const most = (common.limit ?? Infinity) - (first - 1);
  const jobs = pieces.flatMap(({ piece, frames: before }, i) => {
    const frames = Math.min(pieces[i + 1]?.frames ?? index.frames, most) - before;
    const isLast = before + frames === most;
    return frames <= 0
      ? []
      : [steerJob([piece], { ...common, first: first + before, frames, limit: isLast ? frames : null })];
  });
  await queue(farm, jobs);
  // Nothing is said of what comes after the last frame.
  return { jobs, breaks: index.frames < most ? index.breaks : [], failed: null, next: first + index.frames };
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

type Rest = CommonJob &
  Pick<SteerJob, "first" | "frames"> &
  Partial<Pick<SteerJob, "estimated" | "share" | "remembers">>;

function steerJob(pieces: readonly Piece[], rest: Rest): PlannedJob {
  const job: SteerJob = { kind: "steer", estimated: false, share: null, remembers: false, pieces, ...rest };
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
