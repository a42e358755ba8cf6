/**
 * Which flow and which action is which, without the classes: a program whose device has none of them
 * does not load the code for them.
 */
import type { EspAction } from "../esp/action.js";
import type { FlowAction } from "../action/flowAction.js";
import type { DeviceFlow } from "./deviceFlow.js";
import { Flow } from "./flow.js";
import type { VerbsFlow } from "./verbsFlow.js";

/** A verbs flow belongs to a queue pair. */
export function isVerbsFlow(one: unknown): one is VerbsFlow {
  return one instanceof Flow && one.qp !== null;
}

export function isDeviceFlow(one: unknown): one is DeviceFlow {
  return one instanceof Flow && one.qp === null;
}

export function isEspAction(action: FlowAction): action is EspAction {
  return action.kind === "ESP";
}
