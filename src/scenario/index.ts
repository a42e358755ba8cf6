/** Formats that people and other tools write: scenario files. Re-exports only. */
export type * from "./action/types.js";
export type * from "./deviceFlow/types.js";
export type * from "./document.js";
export type * from "./message/types.js";
export type * from "./rss/types.js";
export type * from "./state/types.js";
export type { Failure } from "./expect/check.js";
export type { LoadedFlowCounter } from "./flow/counter.js";
export { cannotRun, loadScenario, type FrameInput, type LoadedScenario } from "./load.js";
export type { MessageRecord } from "./message/load.js";
export { outcomeRecord, type OutcomePart, type OutcomeRecord, type RunFrame } from "../run/outcomeRecord.js";
export type { LoadedQueue, ReceiveBuffers } from "./queue/load.js";
export { parseScenario } from "./scenario.js";
export { SCENARIO_SCHEMA } from "./schema/scenario.js";
export type { JsonSchema } from "./schema/validator.js";
export type { AnswerSum, StateTally } from "../run/stateTally.js";
export type { StateUse } from "./state/use.js";
export type { EndSum, Sum, Tally } from "../run/tally.js";
