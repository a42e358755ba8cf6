/** A meter for all frames of a test device, whose results show the arrival times. */
import * as dv from "../../../src/mlx5dv/index.js";
import type { Outcome } from "../../../src/index.js";
import type { Bench } from "../../mlx5dv/support/directRules.js";
import { ruleFor } from "../../mlx5dv/support/switchBench.js";
import { parameterBytes } from "../../oracle/act/meter.js";

export const [RED, GREEN] = [0, 2];
const NOTHING = { mantissa: 0, exponent: 0 };

/**
 * A bucket of one frame of 64 bytes, which fills by one byte per nanosecond; `web` receives the
 * frames, whatever their colour.
 */
export function meterFrames({ domain, root, queue }: Bench): void {
  const [here, next] = [dv.mlx5dv_dr_table_create(domain, 1), dv.mlx5dv_dr_table_create(domain, 2)];
  const flow_meter_parameter = parameterBytes({
    valid: true,
    overflow: false,
    start: GREEN,
    both: false,
    mode: 1,
    cbs: { mantissa: 64, exponent: 0 },
    cir: { mantissa: 1, exponent: 0 },
    ebs: NOTHING,
    eir: NOTHING,
  });
  const meter = dv.mlx5dv_dr_action_create_flow_meter({
    next_table: next,
    active: 1,
    reg_c_index: 2,
    flow_meter_parameter,
  });
  ruleFor(root, {}, [dv.mlx5dv_dr_action_create_dest_table(here)]);
  ruleFor(here, {}, [meter]);
  ruleFor(next, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
}

export function colourOf({ registers }: Outcome): number | undefined {
  return registers["C2"];
}
