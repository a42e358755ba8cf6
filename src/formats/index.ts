/** Formats that people and other tools write: scenario files. Re-exports only. */
export type * from "./actionDocument.js";
export type * from "./deviceFlowDocument.js";
export type * from "./document.js";
export type * from "./messageDocument.js";
export type * from "./spreadDocument.js";
export type * from "./stateDocument.js";
export type { Failure } from "./expectations.js";
export type { LoadedFlowCounter } from "./flowCounter.js";
export { cannotRun, loadScenario, type FrameInput, type LoadedScenario } from "./load.js";
export type { MessageRecord } from "./messages.js";
export { outcomeRecord, type OutcomePart, type OutcomeRecord, type RunFrame } from "./outcomeRecord.js";
export type { LoadedQueue, ReceiveBuffers } from "./queue.js";
export { parseScenario } from "./scenario.js";
export { SCENARIO_SCHEMA } from "./scenarioSchema.js";
export type { JsonSchema } from "./schema.js";
export type { AnswerSum, StateTally } from "./stateTally.js";
export type { StateUse } from "./stateUse.js";
export type { EndSum, Sum, Tally } from "./tally.js";
