/**
 * First-hit flags. In: the byte and bit of a flag. Out: the flag in register C; the flag is set
 * then, where the rule says so. The most significant bit of a byte is flag 0.
 */
import { FIRST_HIT_SET } from "../../../src/abi/engine";
import { stateBit, stateFlags, writeRegisterC } from "./registerC";

/** Puts the flag as it was into the register; sets it then where the rule says so. */
export function firstHit(branch: usize, byte: usize): void {
  const bit: u32 = 0x80 >> stateBit();
  const flags: u32 = load<u8>(byte);
  writeRegisterC(branch, flags & bit ? 1 : 0);
  if (stateFlags() & FIRST_HIT_SET) store<u8>(byte, <u8>(flags | bit));
}
