/**
 * Records for operands of actions. In: bytes that the host has staged (layouts in src/abi). Out: a
 * copy in the arena.
 */
import { allocate, release } from "../arena";
import { STAGING } from "../memory";

/** Copies `bytes` staged bytes for the operand of an action; 0 when memory is full. */
export function createRecord(bytes: u32): usize {
  const record = allocate(bytes);
  if (record != 0) memory.copy(record, STAGING, bytes);
  return record;
}

/** Frees a record. */
export function releaseRecord(record: usize, bytes: u32): void {
  release(record, bytes);
}
