/** `flowsteer/explain`: traces of frames, and why a frame did not come to a rule. It only re-exports. */
export {
  openTracer,
  trace,
  Tracer,
  traceSend,
  type TraceOptions,
  type TracerOptions,
  type TraceSendOptions,
} from "./trace/tracer.js";
export { hashClauses } from "./print/hashText.js";
export { headerChain } from "./print/headerChain.js";
export { packetLine } from "./print/packetLine.js";
export { printTrace, type PrintTraceOptions } from "./print/printTrace.js";
export type {
  ActionStep,
  ByteChange,
  DestinationStep,
  EndStep,
  FailedCheck,
  FieldChange,
  ForkStep,
  HashChoice,
  LookupStep,
  MatchedField,
  MoveStep,
  ParseStep,
  RuleRef,
  StateChange,
  TableRef,
  Trace,
  TracedFrame,
  TraceDestination,
  TraceOutcome,
  TraceSource,
  TraceStep,
} from "./trace/trace.js";
export { Explainer, type WhyOptions, type WhySendOptions } from "./why/why.js";
export { nearest, openExplainer, why, whySend } from "../proof/standing/why.js";
export type { WhyTarget } from "./why/targets.js";
export { printExplanation, printNearest, repairText, type PrintOptions } from "./why/print.js";
export { isUnclaimed } from "../drivers/madeRules.js";
export { ExplanationGroups, type EndedFrame, type Explain, type ExplanationGroup } from "./groups/groups.js";
export { Spreads, type SampledFrame, type Spread, type SpreadPart } from "./groups/spreads.js";
export type { Difference, Explanation, Mistake, Near, Reason, Repair, Standing, Target } from "./why/explanation.js";
export type {
  CapturedGroup,
  Change,
  Cover,
  Coverage,
  DifferenceGroup,
  DifferenceKind,
  DifferenceResult,
  Finding,
  FindingObject,
  Fix,
  Proof,
  HeldField,
  ProofTerm,
  RuleCoverage,
  Severity,
  TableCoverage,
  Treatment,
  UnreachedCause,
  Witness,
  WitnessFrame,
} from "../proof/answer.js";
export { CapturedDifferences, type SteeredFrame } from "../proof/difference/captured.js";
export type { Behaviour } from "../proof/difference/compare.js";
export { lint, LINT_IDENTITIES, type LintOptions } from "../proof/lint/lint.js";
export { cover, witness, type CoverOptions } from "../proof/cover/cover.js";
export { WITNESS_PAUSE, witnessTimes } from "../proof/witnessTimes.js";
export { region, type Region, type RegionOptions, type RegionPart } from "../proof/cover/region.js";
export { difference, type DifferenceOptions } from "../proof/difference/difference.js";
