/** Commands of completion queues, receive queues and indirection tables of the verbs (docs/devx.md). */
import * as ib from "../../../abi/verbs.js";
import { IBV_SRQ_LIMIT } from "../../../abi/verbsConstants.js";
import { type CompletionQueue } from "../../queue/completionQueue.js";
import type { QueueList } from "../../queue/indirectionTable.js";
import { type QueuePair } from "../../queuePair/queuePair.js";
import { receiverAt } from "../../queuePair/receivers.js";
import type { SharedReceiveQueue } from "../../queue/sharedReceiveQueue.js";
import { WorkQueue } from "../../queue/workQueue.js";
import type { Command } from "../command.js";
import { readFields, RQ_NUMBER, RQ_NUMBERS_AT, writeFields } from "../layouts.js";
import {
  CQ_CONTEXT,
  CQ_CONTEXT_AT,
  MODIFY_CQ,
  MODIFY_RMP,
  MODIFY_RQ,
  MODIFY_RQT,
  RMP_CONTEXT,
  RMP_CONTEXT_AT,
  RQ_CONTEXT,
  RQ_CONTEXT_AT,
} from "./layouts.js";

/** `state` of a receive queue. */
const RQ_STATE = { reset: 0, ready: 1, error: 3 } as const;
const WQ_STATES: readonly number[] = [RQ_STATE.reset, RQ_STATE.ready, RQ_STATE.error];
const CYCLIC = 1;

/** QUERY_CQ. A completion queue never overruns, so its status is OK. */
export function queryCq(command: Command, cq: CompletionQueue): void {
  command.expect(0, CQ_CONTEXT_AT + CQ_CONTEXT.size);
  command.succeed(CQ_CONTEXT, { log_cq_size: Math.ceil(Math.log2(cq.cqe + 1)) }, CQ_CONTEXT_AT);
}

/** MODIFY_CQ. */
export function modifyCq(command: Command): void {
  const { modify_field_select, op_mod } = command.read(MODIFY_CQ);
  if (op_mod !== 0) command.fail("unsupported", "op_mod", op_mod, "resizing moves memory that a program does not have");
  if (modify_field_select === 0) {
    command.succeed();
    return;
  }
  const value = `0x${modify_field_select.toString(16)}`;
  command.fail("unsupported", "modify_field_select", value, "no field of a completion queue can be changed");
}

/** QUERY_RQ of a work queue or a raw packet queue pair. Tags are never stripped. */
export function queryRq(command: Command, queue: WorkQueue | QueuePair): void {
  command.expect(0, RQ_CONTEXT_AT + RQ_CONTEXT.size);
  const [cq, most] = queue instanceof WorkQueue ? [queue.cq, queue.max_wr] : completionsOf(command, queue);
  const state = rqState(queue);
  const size = Math.ceil(Math.log2(Math.max(most, 1)));
  const fields = { vsd: 1, state, flush_in_error_en: 1, cqn: cq.cqn, wq_type: CYCLIC, log_wq_sz: size };
  command.succeed(RQ_CONTEXT, fields, RQ_CONTEXT_AT);
}

function completionsOf(command: Command, qp: QueuePair): [cq: CompletionQueue, most: number] {
  const { attr, init_attr } = command.carry(() => qp.query());
  return [init_attr.recv_cq, attr.cap.max_recv_wr];
}

function rqState(queue: WorkQueue | QueuePair): number {
  if (queue instanceof WorkQueue) return WQ_STATES[queue.state] as number;
  if (queue.state === ib.IBV_QPS_RESET) return RQ_STATE.reset;
  return queue.state === ib.IBV_QPS_ERR ? RQ_STATE.error : RQ_STATE.ready;
}

/** MODIFY_RQ of a work queue: its state. */
export function modifyRq(command: Command, queue: WorkQueue | QueuePair): void {
  const { rq_state, bitmask_high, bitmask_low } = command.read(MODIFY_RQ);
  if (!(queue instanceof WorkQueue)) {
    command.fail("unsupported", "qp", queue, "the receive queue of a queue pair follows its state");
  }
  if ((bitmask_high | bitmask_low) !== 0) {
    const hint = "only the state can be changed: no VLAN stripping, FCS, counter sets, watermarks";
    command.fail("unsupported", "modify_bitmask", `0x${bitmask_low.toString(16)}`, hint);
  }
  const { state } = command.read(RQ_CONTEXT, RQ_CONTEXT_AT);
  const [from, to] = [wqState(command, "rq_state", rq_state), wqState(command, "ctx.state", state)];
  const change = { attr_mask: ib.IBV_WQ_ATTR_STATE | ib.IBV_WQ_ATTR_CURR_STATE, wq_state: to, curr_wq_state: from };
  command.carry(() => {
    queue.modify(change);
  });
  command.succeed();
}

/** QUERY_RMP of a shared receive queue, which is always ready. */
export function queryRmp(command: Command, srq: SharedReceiveQueue): void {
  command.expect(0, RMP_CONTEXT_AT + RMP_CONTEXT.size);
  const { max_wr, srq_limit } = srq.query();
  const log_wq_sz = Math.ceil(Math.log2(max_wr));
  const fields = { state: RQ_STATE.ready, basic_cyclic_rcv_wqe: 1, wq_type: CYCLIC, lwm: srq_limit ?? 0, log_wq_sz };
  command.succeed(RMP_CONTEXT, fields, RMP_CONTEXT_AT);
}

/** MODIFY_RMP of a shared receive queue: its limit. */
export function modifyRmp(command: Command, srq: SharedReceiveQueue): void {
  const { rmp_state, bitmask_high, bitmask_low } = command.read(MODIFY_RMP);
  if (bitmask_high !== 0 || bitmask_low > 1) {
    command.fail("unsupported", "bitmask", `0x${bitmask_low.toString(16)}`, "lwm 1");
  }
  const { state, lwm } = command.read(RMP_CONTEXT, RMP_CONTEXT_AT);
  const ready: number = RQ_STATE.ready;
  if (rmp_state !== ready) command.fail("bad_value", "rmp_state", rmp_state, "1: ready");
  if (state !== ready) command.fail("bad_value", "ctx.state", state, "1: a shared receive queue stays ready");
  if (bitmask_low === 1) command.carry(() => srq.modify({ srq_limit: lwm }, IBV_SRQ_LIMIT));
  command.succeed();
}

function wqState(command: Command, path: string, state: number): number {
  const found = WQ_STATES.indexOf(state);
  return found < 0 ? command.fail("bad_value", path, state, "0 reset, 1 ready, 3 error") : found;
}

/** QUERY_RQT. */
export function queryRqt(command: Command, { list }: { readonly list: QueueList }): void {
  const { length, numbers } = list;
  command.expect(0, RQ_NUMBERS_AT + length * RQ_NUMBER.size);
  command.succeed(MODIFY_RQT, { rqt_max_size: length, rqt_actual_size: length });
  for (const [i, rq_num] of numbers.entries()) {
    writeFields(command.out, RQ_NUMBER, { rq_num }, RQ_NUMBERS_AT + i * RQ_NUMBER.size);
  }
}

/** MODIFY_RQT: other queues in the same number of places. */
export function modifyRqt(command: Command, { list }: { readonly list: QueueList }): void {
  const { bitmask_high, bitmask_low, list_q_type, rqt_actual_size } = command.read(MODIFY_RQT);
  if (bitmask_high !== 0 || bitmask_low > 1) {
    command.fail("unsupported", "bitmask", `0x${bitmask_low.toString(16)}`, "rqn_list 1");
  }
  if (bitmask_low === 0) {
    command.succeed();
    return;
  }
  if (list_q_type !== 0) command.fail("unsupported", "list_q_type", list_q_type, "0: receive queues");
  if (rqt_actual_size !== list.length) {
    command.fail("unsupported", "rqt_actual_size", rqt_actual_size, `the table keeps its size of ${list.length}`);
  }
  command.expect(RQ_NUMBERS_AT + rqt_actual_size * RQ_NUMBER.size, 0);
  const queues = command.carry(() =>
    Array.from({ length: rqt_actual_size }, (_, i) => {
      const { rq_num } = readFields(command.in, RQ_NUMBER, RQ_NUMBERS_AT + i * RQ_NUMBER.size);
      return receiverAt(`rq_num[${i}]`, command.context, rq_num);
    }),
  );
  list.replace(queues);
  command.succeed();
}
