/**
 * The verbs under their C names. What each call means is in its manual page (ibv_open_device(3), ibv_reg_mr(3), ...);
 * a refusal is thrown as `SteeringError`, destroying and modifying calls return 0.
 */
export * from "../abi/verbs.js";
export * from "../abi/verbsConstants.js";
export * from "./addresses.js";
export * from "./completions.js";
export * from "./counters.js";
export * from "./device.js";
export * from "./device/list.js";
export * from "./device/properties.js";
export * from "./esp.js";
export { flowActionEspBytes, flowActionEspFromBytes } from "./espBytes.js";
export type {
  FlowActionEsp,
  FlowActionEspAesGcm,
  FlowActionEspAttr,
  FlowActionEspEncap,
  FlowActionEspReplayBmp,
} from "./espAttr.js";
export * from "./flow.js";
export { flowAttrBytes, flowAttrFromBytes, type HandleOf, type ObjectOf } from "./flowBytes.js";
export type {
  FlowAttr,
  FlowCountSpec,
  FlowDropSpec,
  FlowFilter,
  FlowHandleSpec,
  FlowMatchSpec,
  FlowSpec,
  FlowTagSpec,
  FlowValue,
} from "./flowAttr.js";
export type { Out } from "./out.js";
export * from "./missing.js";
export * from "./queries.js";
export * from "./queue/events.js";
export * from "./queue/multicast.js";
export * from "./queue/sharedQueues.js";
export * from "./queue/workRequests.js";
export * from "./queues.js";
export * from "./rates.js";
export * from "./sending.js";
export * from "./text.js";
export * from "./workQueues.js";
