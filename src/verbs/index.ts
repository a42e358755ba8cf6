/**
 * The verbs under their C names. What each call means is in its manual page (ibv_open_device(3), ibv_reg_mr(3), ...);
 * a refusal is thrown as `SteeringError`, destroying and modifying calls return 0.
 */
export * from "../abi/verbs.js";
export * from "../abi/verbsConstants.js";
export * from "./functions.js";
