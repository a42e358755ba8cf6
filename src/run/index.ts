/** Captures steered through a scenario: in bursts, with sums by outcome class, and a row for each frame. */
export { CaptureAnnotator, type FileBytes } from "../packet/capture/annotate.js";
export { encodeComment, type EncodedComment } from "../packet/capture/comment.js";
export { findRecord, recordFinder, type RecordFinder } from "../packet/capture/boundary.js";
export { printable } from "../base/terminal.js";
export { CaptureRun, wireLengthOf, type OutcomeClass, type SeeFrame, type SkipFrame } from "./captureRun.js";
export {
  COLUMNS,
  CSV,
  NDJSON,
  TextRows,
  type RowEnd,
  type RowFile,
  type RowFormat,
  type RowFrame,
  type RowOutput,
} from "./rows.js";
export { addParts, PartRecorder, type AlikeFrames, type PartSums } from "./parts/partSums.js";
export type { CounterChange } from "./parts/counts.js";
export { divisionOf, type Division } from "./parts/division.js";
export { FrameShare, type ShareOf } from "./parts/share.js";
export type { StateChange } from "./parts/stateChanges.js";
