/** What a run on many machines asks of a worker, and what it gets back: plain data, which Redis keeps. docs/farm.md */
import { createHash } from "node:crypto";
import type { Refusal, ByteRange } from "../../index.js";
import type { PartSums, ShareOf } from "../../run/index.js";
import type { BreakFound, SkippedSum } from "../input/captures.js";
import type { Format } from "../output/rowFiles.js";
import { version } from "../version.js";

/** A capture, the same on every machine. */
export interface CaptureRef {
  /** As the command line names it. */
  readonly name: string;
  /** An absolute path, or a URL. */
  readonly place: string;
  /** Bytes. */
  readonly size: number;
  /** What changes with the contents: the time of the last change, or the ETag. */
  readonly state: string;
}

/** Finds where a capture can be cut. */
export interface IndexJob {
  readonly kind: "index";
  readonly capture: CaptureRef;
  /** The least bytes of a piece. */
  readonly pieceBytes: number;
  /** The most frames to read; null for all. */
  readonly limit: number | null;
  /** Where it begins: a place between two records. */
  readonly from: number;
  /** The bytes that describe the section there. */
  readonly context: readonly ByteRange[];
}

/** A place between two records of a capture. */
export interface Cut {
  readonly offset: number;
  /** The frames before it. */
  readonly frames: number;
  /** The bytes that describe the section of what comes next. */
  readonly context: readonly ByteRange[];
}

/** What an index job gives. */
export interface CaptureIndex extends ReadCaptures {
  readonly frames: number;
  /** The first byte and the one after the last that is steered, and the cuts between; of a capture without frames it is empty. */
  readonly cuts: readonly Cut[];
}

/** Frames of a capture that one worker steers. */
export interface Piece {
  readonly capture: CaptureRef;
  readonly from: number;
  readonly to: number;
  readonly context: readonly ByteRange[];
}

/** What is written of each frame. */
export type RowsOf = Format | "json";

/** Steers pieces, one after the other. */
export interface SteerJob {
  readonly kind: "steer";
  /** The hash of the scenario's text. */
  readonly scenario: string;
  readonly port: number;
  readonly pieces: readonly Piece[];
  /** The number of the first frame of the first piece. */
  readonly first: number;
  /** The frames of all pieces; null where no index has counted them. */
  readonly frames: number | null;
  /** The most frames to read; null for all. */
  readonly limit: number | null;
  /** Whether the ends of the only piece may lie within records: it is steered from the next record on to the next one. */
  readonly estimated: boolean;
  readonly share: ShareOf | null;
  /** Whether frames depend on the ones before. */
  readonly remembers: boolean;
  /** Rows or lines of JSON to write for each frame; null for neither. */
  readonly rows: RowsOf | null;
  /** Whether captures by destination are written. */
  readonly captures: boolean;
  /** The folder for what is written; null where nothing is. */
  readonly parts: string | null;
}

/** What a steer job gives. */
export interface Steered extends ReadCaptures {
  readonly sums: PartSums;
  readonly skipped: readonly (readonly [why: string, sum: SkippedSum])[];
  /** What was read of an estimated piece; null where its records cannot be found, and it was not steered. */
  readonly span: ReadSpan | null;
  /** Captures by destination in the order of their first frame: the destination, and the file in the folder of the job. */
  readonly files: readonly { readonly target: string; readonly file: string }[];
}

/** The records of an estimated piece. */
export interface ReadSpan {
  /** The place of the first record. */
  readonly begin: number;
  /** The place after the last complete record. */
  readonly end: number;
  /** The bytes that describe the section at the end, and whether they are those at the beginning of the capture. */
  readonly context: readonly ByteRange[];
  readonly isAsAtHead: boolean;
}

/** What reading captures has shown. */
export interface ReadCaptures {
  readonly breaks: readonly BreakFound[];
  /** Why a file is no capture; null if it is. */
  readonly refused: { readonly file: string | null; readonly refusal: Refusal } | null;
}

export type Job = IndexJob | SteerJob;

/** The queue of this version: workers take jobs of their own version only. */
export function queueName(of = version()): string {
  return `flowsteer-${of}`;
}

/** Where Redis keeps everything of this command. */
export const PREFIX = "flowsteer";

/** The identity of a job: that of everything its result depends on. */
export function identityOf(job: Job): string {
  return `${job.kind}-${hashOf(JSON.stringify(job))}`;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
