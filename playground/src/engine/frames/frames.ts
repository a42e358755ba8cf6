/** The frames that the page is about: those of a document, or of a capture. They are numbered from 1. */
import type { CaptureInfo } from "../api.js";
import type { Pace } from "../work/lane.js";

/** What is known of a frame without its bytes. */
export interface FrameHead {
  /** Nanoseconds; null for a capture without times. */
  readonly time: bigint | null;
  /** Captured bytes. */
  readonly length: number;
  readonly wireLength: number;
  readonly linkType: number;
  /** The name that the document gives it. */
  readonly name: string | null;
}

export type SeeBytes = (frame: number, bytes: Uint8Array, linkType: number) => void;

export interface Frames {
  readonly count: number;
  /** Null for frames of a document. */
  readonly capture: CaptureInfo | null;
  head(frame: number): FrameHead;
  /** The name that the document gives a frame. */
  nameOf(frame: number): string | null;
  /** The bytes of frames, which are in ascending order. */
  bytes(frames: readonly number[]): Promise<Uint8Array[]>;
  /** Calls `see` for all frames that can be steered, in order, with bytes that are valid until `flush` is called. */
  scan(pace: Pace, see: SeeBytes, flush: () => void): Promise<void>;
}

/** The time since the first frame, in seconds; null without times. */
export function secondsOf(frames: Frames, time: bigint | null): number | null {
  const first = frames.count === 0 ? null : frames.head(1).time;
  return time === null || first === null ? null : Number(time - first) / 1e9;
}
