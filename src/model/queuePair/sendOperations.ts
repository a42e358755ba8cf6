/**
 * The operations and flags of ibv_post_send(3) that each type of queue pair takes on this device.
 */
import {
  IBV_QPT_RAW_PACKET,
  IBV_QPT_RC,
  IBV_QPT_UC,
  IBV_QPT_UD,
  IBV_SEND_FENCE,
  IBV_SEND_INLINE,
  IBV_SEND_IP_CSUM,
  IBV_SEND_SIGNALED,
  IBV_SEND_SOLICITED,
  IBV_QP_EX_WITH_ATOMIC_WRITE,
  IBV_QP_EX_WITH_FLUSH,
  IBV_WR_ATOMIC_CMP_AND_SWP,
  IBV_WR_ATOMIC_FETCH_AND_ADD,
  IBV_WR_ATOMIC_WRITE,
  IBV_WR_BIND_MW,
  IBV_WR_FLUSH,
  IBV_WR_LOCAL_INV,
  IBV_WR_RDMA_READ,
  IBV_WR_RDMA_WRITE,
  IBV_WR_RDMA_WRITE_WITH_IMM,
  IBV_WR_SEND,
  IBV_WR_SEND_WITH_IMM,
  IBV_WR_SEND_WITH_INV,
  IBV_WR_TSO,
} from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { bits64Of } from "../base/limits.js";

interface Operations {
  readonly has: readonly number[];
  /** Operations that the page lists for the type and this device lacks. */
  readonly lacks: readonly number[];
  readonly flags: number;
  /** The available operations, as errors list them. */
  readonly opcodeHint: string;
  readonly flagHint: string;
}

const ALWAYS = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;
const LACKS = [IBV_WR_LOCAL_INV, IBV_WR_BIND_MW, IBV_WR_SEND_WITH_INV];
const WRITES = [IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM];
const ANSWERED = [IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD];

/** The operations of a queue pair that sends messages or datagrams. */
const sends = (more: readonly number[] = [], hint = "IBV_WR_SEND or IBV_WR_SEND_WITH_IMM"): Operations => ({
  has: [IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, ...more],
  lacks: [],
  flags: ALWAYS,
  opcodeHint: hint,
  flagHint: "SIGNALED, SOLICITED, INLINE",
});

const OPERATIONS: Readonly<Record<number, Operations>> = {
  // Packets of datagrams and messages have no checksums to offload.
  [IBV_QPT_RAW_PACKET]: {
    ...sends(),
    has: [IBV_WR_SEND],
    opcodeHint: "IBV_WR_SEND",
    flags: ALWAYS | IBV_SEND_IP_CSUM,
    flagHint: "SIGNALED, SOLICITED, INLINE, IP_CSUM",
  },
  [IBV_QPT_UD]: sends(),
  [IBV_QPT_UC]: { ...sends(WRITES, "IBV_WR_SEND, IBV_WR_RDMA_WRITE, or those WITH_IMM"), lacks: LACKS },
  [IBV_QPT_RC]: {
    ...sends([...WRITES, ...ANSWERED], "IBV_WR_SEND, IBV_WR_RDMA_* or IBV_WR_ATOMIC_*"),
    lacks: LACKS,
    flags: ALWAYS | IBV_SEND_FENCE,
    flagHint: "SIGNALED, SOLICITED, INLINE, FENCE",
  },
};

/**
 * Refuses an operation or a flag. @throws EINVAL when the type does not have it; EOPNOTSUPP when
 * only this device lacks it
 */
export function checkOperation({ qp_type }: { readonly qp_type: number }, opcode: number, flags: number): void {
  const { has, lacks, flags: known, opcodeHint, flagHint } = OPERATIONS[qp_type] as Operations;
  if (opcode === IBV_WR_TSO || lacks.includes(opcode)) {
    const hint = opcode === IBV_WR_TSO ? "max_tso is 0" : `use ${opcodeHint}`;
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "wr.opcode", value: opcode, hint });
  }
  if (!has.includes(opcode)) {
    refuse({ code: "EINVAL", reason: "bad_opcode", path: "wr.opcode", value: opcode, hint: `use ${opcodeHint}` });
  }
  const inlined = (flags & IBV_SEND_INLINE) !== 0 && ANSWERED.includes(opcode);
  if ((flags & ~known) === 0 && !inlined) return;
  const hint = inlined ? "the answer needs memory that is registered: clear INLINE" : `it takes ${flagHint}`;
  refuse({ code: "EINVAL", reason: "bad_send_flags", path: "wr.send_flags", value: flags, hint });
}

/** Whether queue pairs of a type have an operation. */
export function hasOperation(qp_type: number, opcode: number): boolean {
  return OPERATIONS[qp_type]?.has.includes(opcode) ?? false;
}

/** The flags of the operations that `ibv_wr_*` can build for a type: `IBV_QP_EX_WITH_SEND` and so on. */
function buildable(qp_type: number): number {
  return (OPERATIONS[qp_type] as Operations).has.reduce((flags, opcode) => flags | buildFlag(opcode), 0);
}

/** The bit of an operation in `send_ops_flags`. */
export function buildFlag(opcode: number): number {
  if (opcode === IBV_WR_FLUSH) return IBV_QP_EX_WITH_FLUSH;
  return opcode === IBV_WR_ATOMIC_WRITE ? IBV_QP_EX_WITH_ATOMIC_WRITE : 1 << opcode;
}

/**
 * Checks `send_ops_flags` of a queue pair to be made.
 * @throws EOPNOTSUPP for an operation that the type or this device does not have, as drivers do
 */
export function checkBuildFlags(qp_type: number, value: number | bigint): number {
  const path = "qp_init_attr.send_ops_flags";
  const flags = bits64Of(path, value);
  // The creation of the queue pair refuses other types.
  if (OPERATIONS[qp_type] === undefined) return 0;
  const can = buildable(qp_type);
  if ((flags & ~BigInt(can)) === 0n) return Number(flags);
  const hint = `queue pairs of this type build ${OPERATIONS[qp_type].opcodeHint}: 0x${can.toString(16)}`;
  return refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value, hint });
}
