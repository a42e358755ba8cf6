/**
 * An action record: what a rule does, in order of execution. Operands are copied when the rule is made.
 *
 *     0       4   8
 *     | count | 0 | operation 4, operand 4 | ...
 *
 * The order is the device's on receive: tag, counters, destination. The host sorts; the core runs.
 */
import { ACTION_SIZE } from "../../src/abi/engine";
import { allocate, release } from "../arena";

export const RECORD_FIRST: usize = 8;

/** A record with `count` staged actions; 0 when memory is full. */
export function createActions(staged: usize, count: u32): usize {
  const record = allocate(recordBytes(count));
  if (record == 0) return 0;
  store<u32>(record, count);
  store<u32>(record, 0, 4);
  memory.copy(record + RECORD_FIRST, staged, <usize>count * ACTION_SIZE);
  return record;
}

export function releaseActions(record: usize): void {
  release(record, recordBytes(load<u32>(record)));
}

// @ts-ignore: decorator
@inline
function recordBytes(count: u32): u32 {
  return <u32>RECORD_FIRST + count * ACTION_SIZE;
}
