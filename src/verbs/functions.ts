/** What `flowsteer/verbs` exports besides the constants. */
export * from "./queue/addresses.js";
export * from "./queue/completions.js";
export * from "./flow/counters.js";
export * from "./device/device.js";
export * from "./device/list.js";
export * from "./device/properties.js";
export * from "./esp/actions.js";
export { flowActionEspBytes, flowActionEspFromBytes } from "./esp/bytes.js";
export type {
  FlowActionEsp,
  FlowActionEspAesGcm,
  FlowActionEspAttr,
  FlowActionEspEncap,
  FlowActionEspReplayBmp,
} from "./esp/attr.js";
export * from "./flow/flow.js";
export { flowAttrBytes, flowAttrFromBytes, type HandleOf, type ObjectOf } from "./flow/bytes.js";
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
} from "./flow/attr.js";
export type { Out } from "./out.js";
export * from "./missing.js";
export * from "./device/queries.js";
export * from "./queue/events.js";
export * from "./queue/multicast.js";
export * from "./queue/sharedQueues.js";
export * from "./queue/workRequests.js";
export * from "./queue/queuePairs.js";
export * from "./rates.js";
export * from "./queue/sending.js";
export * from "./text.js";
export * from "./queue/workQueues.js";
