/** Meters and samplers of living rules, as a scenario writes them. Their state is left out: buckets are full. */
import {
  METER_ACTIVE,
  METER_BOTH,
  METER_CBS,
  METER_CIR,
  METER_CIR_EXPONENT,
  METER_EBS,
  METER_EIR,
  METER_EIR_EXPONENT,
  METER_FLAGS,
  METER_MODE,
  METER_OVERFLOW,
  METER_SIZE,
  METER_START,
  SAMPLER_PROGRAM,
  SAMPLER_RATIO,
} from "../../abi/state.js";
import type { Action } from "../../model/action/action.js";
import { FlowMeterAction } from "../../model/action/asoActions.js";
import type { Device } from "../../model/device/device.js";
import { METER_MODES, START_COLORS, type ScenarioFlowMeter } from "../../scenario/state/definition.js";

const MANTISSA = 255n;
const REGISTER = 7;

/** The meter of an action. */
export function meterOf({ core }: Device, action: Action, next_table: string): ScenarioFlowMeter {
  if (!(action instanceof FlowMeterAction)) throw new Error(`the action ${action.name} is no flow meter`);
  const bytes = core.u8.slice(action.meter, action.meter + METER_SIZE);
  const view = new DataView(bytes.buffer);
  const flags = view.getUint8(METER_FLAGS);
  const [, registerAndColour = 0] = action.record();
  const rate = (mantissa: number, exponent: number): { mantissa: number; exponent: number } => {
    return { mantissa: view.getUint8(mantissa), exponent: view.getUint8(exponent) };
  };
  return {
    next_table,
    reg_c_index: registerAndColour & REGISTER,
    ...((flags & METER_ACTIVE) === 0 ? { active: false } : {}),
    cir: rate(METER_CIR, METER_CIR_EXPONENT),
    cbs: sizeOf(view.getBigUint64(METER_CBS, true)),
    eir: rate(METER_EIR, METER_EIR_EXPONENT),
    ebs: sizeOf(view.getBigUint64(METER_EBS, true)),
    meter_mode: METER_MODES[view.getUint8(METER_MODE)] as (typeof METER_MODES)[number],
    start_color: START_COLORS[view.getUint8(METER_START)] as (typeof START_COLORS)[number],
    bucket_overflow: (flags & METER_OVERFLOW) !== 0,
    both_buckets_on_green: (flags & METER_BOTH) !== 0,
  };
}

/** A size as eight bits and the power of two that it was made of. */
function sizeOf(size: bigint): { mantissa: number; exponent: number } {
  let exponent = 0;
  for (; size >> BigInt(exponent) > MANTISSA; exponent++);
  return { mantissa: Number(size >> BigInt(exponent)), exponent };
}

/** One of how many frames a sampler copies, and whether it changes a register. */
export function samplingOf({ core }: Device, { operand }: Action): { ratio: number; changes: boolean } {
  const word = (at: number): number => core.u32[(operand + at) >> 2] as number;
  return { ratio: word(SAMPLER_RATIO), changes: word(SAMPLER_PROGRAM) !== 0 };
}
