/** Captures steered through a scenario: in bursts, with sums by outcome class, and a row for each frame. */
export { CaptureAnnotator, type FileBytes } from "../packet/capture/annotate.js";
export { encodeComment, type EncodedComment } from "../packet/capture/comment.js";
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
