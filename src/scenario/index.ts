/** Scenario files: documents checked, loaded on a device, run, and compared with what they expect. */
export type { ScenarioAction, ScenarioFlowAction, ScenarioRuleAction, ScenarioVlanTag } from "./action/definition.js";
export type { ScenarioHeaderChange, ScenarioHeaderChangeObject } from "./action/changes.js";
export type {
  ScenarioArrayMember,
  ScenarioArrayMemberObject,
  ScenarioReformat,
  ScenarioSampleAction,
  ScenarioSampleActionObject,
  ScenarioVport,
} from "./action/destinations.js";
export type { ScenarioCable, ScenarioDevice, ScenarioDomain } from "./device/definition.js";
export type {
  ScenarioDeviceFlow,
  ScenarioDeviceFlowAction,
  ScenarioFlowEntry,
  ScenarioFlowEntryAction,
  ScenarioFlowEntryActionObject,
  ScenarioFlowGroup,
  ScenarioFlowTable,
  ScenarioFlowTableType,
  ScenarioSteeringAnchor,
} from "./deviceFlow/definition.js";
export type { Scenario } from "./document.js";
export type { ScenarioEncap, ScenarioEncapType, ScenarioEsp } from "./esp/definition.js";
export type {
  ExpectedBytes,
  ExpectedCount,
  ExpectedFrame,
  ExpectedOutcome,
  ExpectedTotals,
  RegisterName,
  ScenarioExpectations,
} from "./expect/definition.js";
export type {
  ScenarioCounterPoint,
  ScenarioFlow,
  ScenarioFlowCounter,
  ScenarioFlowFlag,
  ScenarioFlowSpec,
  ScenarioFlowSpecObject,
  ScenarioFlowType,
  ScenarioHostRule,
} from "./flow/definition.js";
export type { ScenarioFlowFilter, ScenarioFlowSpecType } from "./flow/specTypes.js";
export type { ScenarioFrame } from "./frame/definition.js";
export type { ScenarioHeader } from "./frame/headers.js";
export type {
  ExpectedMessage,
  ExpectedReceive,
  ScenarioCompletionStatus,
  ScenarioMessage,
} from "./message/definition.js";
export type { ScenarioQueue, ScenarioQueueState } from "./queue/definition.js";
export type { ScenarioFieldSelector, ScenarioIndirectionTable, ScenarioRqt, ScenarioTir } from "./rss/definition.js";
export type { ScenarioCounter, ScenarioMatcher, ScenarioRule, ScenarioTable } from "./rule/definition.js";
export type {
  ExpectedAso,
  ExpectedMeter,
  ScenarioAsoAction,
  ScenarioAsoChoice,
  ScenarioAsoData,
  ScenarioAsoMeter,
  ScenarioAsoObject,
  ScenarioConnection,
  ScenarioFlowMeter,
  ScenarioFlowSampler,
  ScenarioMeterNumber,
  ScenarioMeterRates,
  ScenarioStep,
} from "./state/definition.js";
export { matchFields, modifyFields, type FieldInfo, type ModifyFieldInfo } from "./fields.js";
export type { Compared } from "./expect/check.js";
export type { Failure } from "./expect/failure.js";
export type { LoadedFlowCounter } from "./flow/counter.js";
export { checkScenario, type ScenarioCheck } from "./check.js";
export { cannotRun, loadScenario, type FrameInput, type LoadedScenario } from "./load.js";
export type { MessageRecord } from "./message/load.js";
export { flowsInOrder, type FlowPlace } from "./outcome/flowOrder.js";
export {
  farOutcomes,
  outcomeNames,
  outcomeRecord,
  type OutcomeNames,
  type OutcomePart,
  type OutcomeRecord,
  type RunFrame,
} from "./outcome/record.js";
export type { Answer, AnswerSum, StateTally } from "./outcome/stateTally.js";
export type { SummedDestination, SummedOutcome } from "./outcome/summed.js";
export type { EndSum, RegisterSum, Sum, Tally } from "./outcome/tally.js";
export {
  DocumentObjects,
  DocumentPlaces,
  placeOfPath,
  withoutValues,
  type DocumentFix,
  type DocumentKeys,
  type DocumentPlace,
  type NamedInDocument,
} from "./places/places.js";
export { sendersOf, unusedFindings, type UnusedFinding, type UnusedObject } from "./places/unused.js";
export type { LoadedQueue, ReceiveBuffers } from "./queue/load.js";
export { createRule, destroyRule } from "./rule/change.js";
export { rulePointers } from "./pointers.js";
export type { SavedObjects } from "./saved/objects.js";
export { restoreScenario, savedScenario, type SavedScenario } from "./saved/saved.js";
export { parseScenario } from "./scenario.js";
export type { JsonSchema } from "./schema/jsonSchema.js";
export { SCENARIO_SCHEMA } from "./schema/scenario.js";
export { connectionAt, isSet, tokensAt } from "./state/asoObjects.js";
export type { StateUse } from "./state/use.js";
export { updateScenario, type ScenarioUpdate } from "./update/update.js";
