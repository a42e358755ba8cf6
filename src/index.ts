/** The main entry of the package: devices, outcomes of frames, captures, errors. It only re-exports. */
export { createDevice, createDeviceSync, Device } from "./model/device/device.js";
export type { DeviceOptions } from "./model/device/options.js";
export { compileCore } from "./engine/load.js";
export { PROFILE_NAMES, type ProfileName } from "./model/profile/profile.js";
export { createDevicePool } from "./model/pool/loadPool.js";
export type { DevicePool, PoolOptions, Distribution } from "./model/pool/pool.js";
export type { DeviceBase, FunctionBase } from "./model/base/deviceBase.js";
export type { DeviceFunction } from "./model/device/function.js";
export type { HostAction, HostApplication, HostRule, HostRuleOptions, HostRules } from "./model/flow/hostRules.js";
export type { Burst, BurstColumns } from "./model/traffic/burst.js";
export type { CacheOptions, FlowCache } from "./model/traffic/flowCache.js";
export type { OutcomeClasses } from "./model/traffic/outcomeClasses.js";
export type { Summing } from "./model/traffic/receive.js";
export type {
  CompletionEvent,
  DeliveryEvent,
  DeviceEvent,
  DeviceEvents,
  DropEvent,
  EventListener,
  EventName,
  FrameEvent,
  HitEvent,
  OfFrame,
  RuleEvent,
  StateEvent,
  TransmitEvent,
} from "./model/monitor/events.js";
export { EVENT_NAMES } from "./model/monitor/events.js";
export type { ConnectionStateName, MeterColour, StateChange } from "./model/monitor/states.js";
export type { Hits } from "./model/base/hitCounts.js";
export type {
  DeviceMetrics,
  HitMetrics,
  PortMetrics,
  QueueMetrics,
  RuleMetrics,
  TableMetrics,
} from "./model/monitor/metrics.js";
export { PROMETHEUS_CONTENT_TYPE, prometheusText } from "./model/monitor/prometheus.js";
export { NO_RULE } from "./abi/engine.js";
export type { BatchOptions, FrameOptions } from "./model/traffic/input.js";
export type { FrameListener, ListenerOptions, TransmitInfo } from "./model/traffic/cable.js";
export type { CableCounters } from "./model/base/port/ports.js";
export type { CableOptions } from "./model/traffic/line.js";
export type { SendOptions } from "./model/traffic/send.js";
export type { Gid, GidInput, MacInput } from "./model/base/port/gids.js";
export type { DeviceLimits } from "./model/base/limits.js";
export { createSink } from "./model/queuePair/sink.js";
export type { CoreSource } from "./engine/load.js";
export { REASONS, VERDICTS } from "./model/traffic/outcome.js";
export type {
  Destination,
  EspFault,
  HitRule,
  HostDestination,
  MissedTable,
  Outcome,
  PortDestination,
  QueueDestination,
  WorkQueueDestination,
  ReasonName,
  VerdictName,
} from "./model/traffic/outcome.js";
export { ERRNO, REFUSALS, SteeringError, type ErrnoName, type Refusal, type RefusalReason } from "./errors.js";
export type { MatchFields, MatchParameters } from "./model/match/match.js";
export type { TermText } from "./model/match/term.js";
export type { ParserOptions, SampleOptions } from "./model/base/parser.js";
export type { HeaderName, ParsedFrame, ParsedHeader, ParsedHeaders, ParseStop } from "./packet/parsedFrame.js";
export { LINK_TYPES, linkTypeName } from "./packet/capture/linkTypes.js";
export { linkTypeText } from "./packet/capture/linkTypeTexts.js";
export {
  CaptureDecoder,
  FrameColumns,
  readCapture,
  type ByteRange,
  type CaptureBreak,
  type CapturedFrame,
  type CaptureEnd,
  type CaptureInterface,
} from "./packet/capture/read.js";
export { PcapngWriter, PcapWriter } from "./packet/capture/writer.js";
export { nearest } from "./base/nearest.js";
