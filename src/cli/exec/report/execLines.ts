/**
 * The lines of JSON that `flowsteer exec --json` prints. schema/exec-1.schema.json is made from these
 * types (scripts/output-schemas.mjs).
 */
import type { Explanation } from "../../../explain/index.js";
import type { Outcome } from "../../../index.js";
import type { SourcePlace } from "./whereCalled.js";

export type ExecLine = RefusedLine | SessionLine | ExplanationLine | SummaryLine;

/** A refused call, at its first refusal with this sentence at this place. */
export interface RefusedLine {
  readonly kind: "refused";
  readonly pid: number;
  readonly call: string;
  /** The name of the errno: `EINVAL`. */
  readonly code: string;
  readonly message: string;
  /** Null where the program has no stack that can be read. */
  readonly place: SourcePlace | null;
}

/** A process that used the devices. */
export interface SessionLine {
  readonly kind: "session";
  readonly pid: number;
  readonly command: string;
  readonly calls: number;
  readonly rules: readonly RuleOfProgram[];
  /** Objects that it never destroyed, by class. */
  readonly leaks: Readonly<Record<string, number>>;
}

/** A rule or flow that a program made. */
export interface RuleOfProgram {
  readonly kind: "rule" | "flow";
  readonly name: string;
  /** The call that made it. */
  readonly call: string;
  readonly packets: number;
  readonly bytes: number;
  readonly destroyed: boolean;
}

/** `--why`: lost frames with the same end, and why the first of them had it. */
export interface ExplanationLine {
  readonly kind: "explanation";
  readonly device: string;
  readonly frames: number;
  readonly bytes: number;
  /** The numbers of the first frames. */
  readonly examples: readonly number[];
  readonly verdict: Outcome["verdict"];
  readonly reason: Outcome["reason"];
  /** Null for frames of a queue pair that is not of the type raw packet. */
  readonly explanation: Explanation | null;
}

/** The last line. */
export interface SummaryLine {
  readonly kind: "summary";
  /** Of the program: its exit status, or 128 and the number of the signal that ended it. */
  readonly status: number;
  readonly devices: readonly DeviceLine[];
  /** Refusals by sentence and place. */
  readonly refused: readonly RefusedSum[];
  /** Frames of --capture that arrived; null without it. */
  readonly captured: number | null;
}

/** What happened to the frames of a device. */
export interface DeviceLine {
  readonly device: string;
  readonly arrived: FrameSum;
  readonly sent: FrameSum;
  readonly ends: readonly EndLine[];
}

export interface FrameSum {
  readonly frames: number;
  readonly bytes: number;
}

/** Frames with the same end. */
export interface EndLine extends FrameSum {
  readonly verdict: Outcome["verdict"];
  readonly reason: Outcome["reason"];
  /** In words; empty for frames that were delivered. */
  readonly text: string;
}

export interface RefusedSum {
  readonly call: string;
  readonly code: string;
  readonly message: string;
  readonly place: SourcePlace | null;
  readonly times: number;
}
