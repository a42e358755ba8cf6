/**
 * Calls as JSON: recorded, replayed, and made by other programs (docs/replay.md).
 *
 * @module replay
 */
export { recordTo, type CallRecord, type Recorder, type RecordSink } from "./record.js";
export { replay, type Difference, type Replayed } from "./replay.js";
export {
  errorJson,
  fromJson,
  KINDS,
  KnownObjects,
  toJson,
  viewAs,
  writtenTo,
  type Json,
  type ValueKind,
  type ValueKinds,
  type WriteOptions,
} from "./values.js";
