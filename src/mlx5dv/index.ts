/**
 * Direct rules under their C names: mlx5dv_dr_*(3), and the device commands that they need. A refusal is thrown as
 * `SteeringError`, destroying calls return 0.
 */
export * from "./asoData.js";
export * from "./commands.js";
export * from "../abi/mlx5dv.js";
export * from "./createFlow.js";
export * from "./devx.js";
export * from "./dr.js";
export * from "./drActions.js";
export * from "./drState.js";
export * from "./dump.js";
export * from "./flowActions.js";
export * from "./layout.js";
export * from "./params.js";
export * from "./port.js";
export * from "./queueCommands.js";
export * from "./queues.js";
export * from "./tableCommands.js";
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
