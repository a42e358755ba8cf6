/**
 * First-hit flags. In: the byte and bit of a flag. Out: the flag in register C; then the flag is
 * set if the rule requires it. The most significant bit of a byte is flag 0.
 */
import { FIRST_HIT_SET } from "../../../src/abi/engine";
import { stateBit, stateFlags, writeRegisterC } from "./registerC";
import { StateKind } from "../../../src/abi/trace";
import { noteState } from "../../branch/events";

/** Writes the flag to the register; then sets the flag if the rule requires it. */
export function firstHit(branch: usize, byte: usize): void {
  if (TRACED) noteState(StateKind.first_hit, byte, 1);
  const bit: u32 = 0x80 >> stateBit();
  const flags: u32 = load<u8>(byte);
  writeRegisterC(branch, flags & bit ? 1 : 0);
  if (stateFlags() & FIRST_HIT_SET) store<u8>(byte, <u8>(flags | bit));
}
