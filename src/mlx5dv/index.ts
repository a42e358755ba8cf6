/**
 * Direct rules under their C names: mlx5dv_dr_*(3), and the device commands that they need. A refusal is thrown as
 * `SteeringError`, destroying calls return 0.
 */
export * from "./devx/asoData.js";
export * from "./devx/asyncCommands.js";
export * from "./devx/commands.js";
export * from "../abi/mlx5dv.js";
export * from "../abi/mlx5dvConstants.js";
export * from "./flow/createFlow.js";
export * from "./devx/devx.js";
export * from "./dr/dr.js";
export * from "./dr/actions.js";
export * from "./dr/stateActions.js";
export * from "./dr/dump.js";
export * from "./flow/flowActions.js";
export * from "./dr/layout.js";
export * from "./dr/params.js";
export * from "./device/port.js";
export * from "./device/queryDevice.js";
export * from "./devx/queueCommands.js";
export * from "./missing.js";
export * from "./queue/queues.js";
export * from "./devx/queueObjectCommands.js";
export * from "./devx/tableCommands.js";
export * from "./devx/verbsObjects.js";
export {
  modifyActions,
  modifyActionsFromBytes,
  type ModifyAction,
  type ModifyAdd,
  type ModifyCopy,
  type ModifyFieldName,
  type ModifyOther,
  type ModifySet,
} from "../model/action/modifyActions.js";
export { createRules, type RuleActions } from "../model/rule/bulk.js";
export type { ModifyActions } from "../model/action/modifyHeader.js";
