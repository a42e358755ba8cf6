/**
 * Direct rules under their C names: mlx5dv_dr_*(3), and the device commands that they need. A refusal is thrown as
 * `SteeringError`, destroying calls return 0.
 */
export * from "./constants.js";
export * from "./devx.js";
export * from "./dr.js";
export * from "./params.js";
