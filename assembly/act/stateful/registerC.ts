/**
 * Access to the low byte of a register C, where state is written, and to the parameters of the
 * action that writes it (Op.state).
 */
import { MISC2_REGISTER_C_0 } from "../../../src/abi/key";
import { TraceEvent } from "../../../src/abi/trace";
import { BRANCH_KEY, BRANCH_WRITTEN } from "../../branch/branch";
import { note } from "../../branch/events";

export namespace State {
  /** Parameters of the next operation: | register 8 | flags 8 | bit 8 | 0 8 |. */
  export let operand: u32 = 0;
}

// @ts-ignore: decorator
@inline
export function stateFlags(): u32 {
  return (State.operand >> 8) & 0xff;
}

// @ts-ignore: decorator
@inline
export function stateBit(): u32 {
  return (State.operand >> 16) & 0xff;
}

/** Writes 8 bits to the low byte of the register that the parameters name. */
export function writeRegisterC(branch: usize, value: u32): void {
  const register = State.operand & 0xff;
  store<u8>(lowByte(branch, register), <u8>value);
  store<u32>(branch, load<u32>(branch, BRANCH_WRITTEN) | (1 << register), BRANCH_WRITTEN);
  if (TRACED) note(TraceEvent.register, branch, register);
}

/** The low byte of the register if a rule has written it for this frame; else `otherwise`. */
export function readRegisterC(branch: usize, otherwise: u32): u32 {
  const register = State.operand & 0xff;
  return load<u32>(branch, BRANCH_WRITTEN) & (1 << register) ? <u32>load<u8>(lowByte(branch, register)) : otherwise;
}

/** The address of the low byte. Registers are big-endian, C7 down to C0. */
function lowByte(branch: usize, register: u32): usize {
  return <usize>load<u32>(branch, BRANCH_KEY) + MISC2_REGISTER_C_0 - ((<usize>register) << 2) + 3;
}
