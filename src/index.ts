/** The main entry: a device, what becomes of frames, refusals. Re-exports only. */
export { createDevice, Device, type DeviceOptions } from "./model/device.js";
export { createDevicePool } from "./model/loadPool.js";
export type { DevicePool, PoolOptions, Spreading } from "./model/pool.js";
export type { DeviceFunction } from "./model/deviceFunction.js";
export type { HostAction, HostApplication, HostRule, HostRuleOptions, HostRules } from "./model/hostRules.js";
export type { Burst, BurstColumns } from "./model/burst.js";
export type { CacheOptions, DecisionCache } from "./model/cache.js";
export { NO_RULE } from "./abi/engine.js";
export type { BatchOptions, FrameOptions } from "./model/input.js";
export type { FrameListener, TransmitInfo } from "./model/cable.js";
export type { SendOptions } from "./model/send.js";
export type { Gid, GidInput, MacInput } from "./model/gids.js";
export type { DeviceLimits } from "./model/limits.js";
export { createSink } from "./model/sink.js";
export type { CoreSource } from "./engine/load.js";
export { REASONS, VERDICTS } from "./model/outcome.js";
export type {
  Destination,
  EspFault,
  HitRule,
  HostDestination,
  Outcome,
  PortDestination,
  QueueDestination,
  WorkQueueDestination,
  ReasonName,
  VerdictName,
} from "./model/outcome.js";
export { ERRNO, REFUSALS, SteeringError, type ErrnoName, type Refusal, type RefusalReason } from "./errors.js";
export type { MatchFields, MatchParameters } from "./model/match.js";
export type { TermText } from "./model/term.js";
export type { ParserOptions, SampleOptions } from "./model/parser.js";
export type { HeaderName, ParsedFrame, ParsedHeader, ParseStop } from "./model/parse.js";
export { LINK_TYPES, linkTypeName } from "./packet/linkTypes.js";
export {
  CaptureDecoder,
  readCapture,
  type CapturedFrame,
  type CaptureEnd,
  type CaptureInterface,
} from "./packet/capture.js";
export { PcapngWriter, PcapWriter } from "./packet/captureWriter.js";
