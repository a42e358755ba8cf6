/** Records that operands of actions name, as the host has staged them (layouts in src/abi/engine.ts). */
import { allocate, release } from "../arena";
import { STAGING } from "../memory";

/** Copies `bytes` staged bytes, which the operand of an action names; 0 when memory is full. */
export function createRecord(bytes: u32): usize {
  const record = allocate(bytes);
  if (record != 0) memory.copy(record, STAGING, bytes);
  return record;
}

/** Gives the memory of a record back. */
export function releaseRecord(record: usize, bytes: u32): void {
  release(record, bytes);
}
