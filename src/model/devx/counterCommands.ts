/** ALLOC_FLOW_COUNTER and QUERY_FLOW_COUNTER (docs/devx.md). */
import { FlowCounter } from "../action/counter.js";
import type { Command } from "./command.js";
import { ALLOC_FLOW_COUNTER, OUTPUT, QUERY_FLOW_COUNTER } from "./layouts.js";

/** The most counters in a bulk, as a power of two: the capability reports it. */
export const LOG_MAX_COUNTER_BULK = 24;
const COUNTER_SIZE = 16;

export function allocFlowCounter(command: Command): FlowCounter {
  const { flow_counter_id, flow_counter_bulk_log_size, flow_counter_bulk } = command.read(ALLOC_FLOW_COUNTER);
  if (flow_counter_id !== 0) command.fail("unsupported", "flow_counter_id", flow_counter_id, "0: the device chooses");
  const size = bulkSize(flow_counter_bulk_log_size, flow_counter_bulk);
  if (size === undefined) {
    return command.fail("bad_value", "flow_counter_bulk", `0x${flow_counter_bulk.toString(16)}`, "one size, once");
  }
  const made = command.carry(() => new FlowCounter(command.context, size));
  command.succeed(OUTPUT, { id: made.id });
  return made;
}

/** Bulk size: one of the two fields, or neither; bit k of `bulk` means 128 << k counters. */
function bulkSize(logSize: number, bulk: number): number | undefined {
  if (bulk === 0) return logSize <= LOG_MAX_COUNTER_BULK ? 2 ** logSize : undefined;
  return logSize === 0 && (bulk & (bulk - 1)) === 0 ? 128 * bulk : undefined;
}

/** The bulk that a query names. */
export function queriedCounter(command: Command): FlowCounter {
  const { flow_counter_id } = command.read(QUERY_FLOW_COUNTER);
  return command.object("flow_counter", "flow_counter_id", flow_counter_id);
}

export function queryFlowCounter(command: Command, counter: FlowCounter): void {
  const { clear, dump_to_memory, num_of_counters, flow_counter_id } = command.read(QUERY_FLOW_COUNTER);
  if (dump_to_memory !== 0)
    command.fail("unsupported", "dump_to_memory", dump_to_memory, "counters stand in the output");
  const count = Math.max(num_of_counters, 1);
  const first = flow_counter_id - counter.id;
  if (first + count > counter.size) {
    command.fail("bad_value", "num_of_counters", num_of_counters, `the bulk has ${counter.size}`);
  }
  command.expect(QUERY_FLOW_COUNTER.size, OUTPUT.size + count * COUNTER_SIZE);
  command.succeed();
  for (let i = 0; i < count; i++) {
    const { packets, bytes } = counter.read(first + i);
    const at = OUTPUT.size + i * COUNTER_SIZE;
    command.out.setBigUint64(at, packets);
    command.out.setBigUint64(at + 8, bytes);
    if (clear !== 0) counter.clear(first + i);
  }
}
