/** Every function of mlx5dv with values of wrong types, and with destroyed objects. */
import * as dv from "../../src/mlx5dv/index.js";
import { MISSING_MLX5DV } from "../../src/mlx5dv/missing.js";
import { testEveryCall } from "../support/everyCall.js";
import { everyCall } from "./support/everyCall.js";

testEveryCall(dv, everyCall, ["DevxObject", ...Object.values(MISSING_MLX5DV).flat()]);
