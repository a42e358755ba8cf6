/** Makes messages of the send requests of connected queue pairs (ibv_post_send(3)). */
import {
  IBV_SEND_FENCE,
  IBV_SEND_SOLICITED,
  IBV_WC_SEND,
  IBV_WR_ATOMIC_CMP_AND_SWP,
  IBV_WR_ATOMIC_FETCH_AND_ADD,
  IBV_WR_RDMA_READ,
  IBV_WR_RDMA_WRITE,
  IBV_WR_RDMA_WRITE_WITH_IMM,
  IBV_WR_SEND_WITH_IMM,
} from "../../abi/verbs.js";
import { IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD, IBV_WC_RDMA_READ, IBV_WC_RDMA_WRITE } from "../../abi/verbsConstants.js";
import { checkObject, unsigned } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import { joined } from "../../packet/bytes.js";
import { bits64Of } from "../base/limits.js";
import { MAX_MESSAGE } from "../base/port/ports.js";
import { lengthOf } from "../queue/scatter.js";
import type { QueuePairState } from "../queue/states.js";
import { ATOMIC_SIZE, type AtomicOperands, type RemoteMemory } from "../roce/extendedHeaders.js";
import { COMPARE_SWAP, FETCH_ADD, READ_REQUEST, SEND_FIRST, WRITE_FIRST } from "../roce/opcodes.js";
import type { LocalMemory, Message } from "../roce/transfer.js";
import type { AtomicRequest, SendRequest } from "./sendRequest.js";

/** The operation on the wire, and that of the completion. Others are SEND. */
const OPERATIONS: Readonly<Record<number, readonly [wire: number, completion: number]>> = {
  [IBV_WR_RDMA_WRITE]: [WRITE_FIRST, IBV_WC_RDMA_WRITE],
  [IBV_WR_RDMA_WRITE_WITH_IMM]: [WRITE_FIRST, IBV_WC_RDMA_WRITE],
  [IBV_WR_RDMA_READ]: [READ_REQUEST, IBV_WC_RDMA_READ],
  [IBV_WR_ATOMIC_CMP_AND_SWP]: [COMPARE_SWAP, IBV_WC_COMP_SWAP],
  [IBV_WR_ATOMIC_FETCH_AND_ADD]: [FETCH_ADD, IBV_WC_FETCH_ADD],
};
const WITH_IMMEDIATE: readonly number[] = [IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM];

/** The operation of the completion of a request. */
export function completedAs(opcode: number): number {
  return OPERATIONS[opcode]?.[1] ?? IBV_WC_SEND;
}

/** Whether the peer answers with bytes, which are written to the memory of the request. */
export function isAnswered(opcode: number): boolean {
  return opcode === IBV_WR_RDMA_READ || isAtomic(opcode);
}

function isAtomic(opcode: number): boolean {
  return opcode === IBV_WR_ATOMIC_CMP_AND_SWP || opcode === IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/** The immediate data of a request, or null. */
export function immediateOf({ opcode, imm_data = 0 }: SendRequest): number | null {
  return WITH_IMMEDIATE.includes(opcode) ? unsigned("wr.imm_data", imm_data, 32) : null;
}

/** The message of a request; the bytes to send are copied. @throws EINVAL */
export function messageOf(
  { attributes }: { readonly attributes: Readonly<QueuePairState> },
  wr: SendRequest,
  flags: number,
  memory: LocalMemory,
): Omit<Message, "request"> {
  const { opcode } = wr;
  const answered = isAnswered(opcode);
  checkLength(lengthOf(memory.views), isAtomic(opcode));
  if (answered && attributes.max_rd_atomic === 0) {
    const hint = "READ and atomic operations need 1 at least: IBV_QP_MAX_QP_RD_ATOMIC";
    refuse({ code: "EINVAL", reason: "out_of_range", path: "qp.max_rd_atomic", value: 0, hint });
  }
  return {
    operation: OPERATIONS[opcode]?.[0] ?? SEND_FIRST,
    payload: answered ? new Uint8Array(0) : joined(...memory.views),
    solicited: (flags & IBV_SEND_SOLICITED) !== 0,
    immediate: immediateOf(wr),
    remote: remoteOf(wr),
    fence: (flags & IBV_SEND_FENCE) !== 0,
    operands: isAtomic(opcode) ? operandsOf(wr) : null,
    into: answered ? memory : null,
  };
}

function checkLength(length: number, atomic: boolean): void {
  if (atomic ? length === ATOMIC_SIZE : length <= MAX_MESSAGE) return;
  const hint = atomic ? `an atomic operation returns ${ATOMIC_SIZE} bytes` : `max_msg_sz is ${MAX_MESSAGE}`;
  refuse({ code: "EINVAL", reason: "bad_frame", path: "wr.sg_list", value: `${length} bytes`, hint });
}

function remoteOf({ opcode, wr }: SendRequest): RemoteMemory | null {
  if (OPERATIONS[opcode] === undefined) return null;
  const member = isAtomic(opcode) ? "atomic" : "rdma";
  const path = `wr.wr.${member}`;
  const address = wr?.[member];
  checkObject(path, address);
  return {
    address: bits64Of(`${path}.remote_addr`, address.remote_addr),
    rkey: unsigned(`${path}.rkey`, address.rkey, 32),
  };
}

function operandsOf({ opcode, wr }: SendRequest): AtomicOperands {
  const { compare_add, swap = 0 } = wr?.atomic as AtomicRequest;
  const first = bits64Of("wr.wr.atomic.compare_add", compare_add);
  const second = bits64Of("wr.wr.atomic.swap", swap);
  return opcode === IBV_WR_ATOMIC_CMP_AND_SWP
    ? { compare: first, swapOrAdd: second }
    : { compare: 0n, swapOrAdd: first };
}
