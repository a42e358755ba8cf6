/** The commands that mlx5dv_devx_qp_query(3) and its relatives send for queues of the verbs. */
import { CompletionQueue } from "../../queue/completionQueue.js";
import { IndirectionTable } from "../../queue/indirectionTable.js";
import { QueuePair } from "../../queuePair/queuePair.js";
import { SharedReceiveQueue } from "../../queue/sharedReceiveQueue.js";
import { WorkQueue } from "../../queue/workQueue.js";
import { IBV_QPT_RAW_PACKET } from "../../../abi/verbs.js";
import type { Command } from "../command.js";
import { OUTPUT, type Layout } from "../layouts.js";
import * as opcodes from "../opcodes.js";
import { MODIFY_CQ, MODIFY_QP, MODIFY_RMP, MODIFY_RQ, MODIFY_RQT, NUMBERED } from "./layouts.js";
import { modifyQp, queryQp, type TRANSITIONS } from "./qpCommands.js";
import { modifyCq, modifyRmp, modifyRq, modifyRqt, queryCq, queryRmp, queryRq, queryRqt } from "./queueCommands.js";

/** A queue of the verbs that device commands name by a number. */
export type Queue = CompletionQueue | IndirectionTable | QueuePair | SharedReceiveQueue | WorkQueue;

interface QueueCommand {
  readonly name: string;
  readonly does: "query" | "modify";
  readonly inlen: number;
  /** Whether the object is of the kind that the command is for. */
  readonly takes: (queue: Queue) => boolean;
  readonly run: (command: Command, queue: Queue) => void;
}

type Row = readonly [opcode: number, command: QueueCommand];

function row<T extends Queue>(
  opcode: number,
  name: string,
  { size }: Layout,
  takes: (queue: Queue) => queue is T,
  run: (command: Command, queue: T) => void,
): Row {
  const does = name.startsWith("QUERY") ? "query" : "modify";
  // `takes` is asked before.
  return [opcode, { name, does, inlen: size, takes, run: run as QueueCommand["run"] }];
}

const isCq = (queue: Queue): queue is CompletionQueue => queue instanceof CompletionQueue;
const isSrq = (queue: Queue): queue is SharedReceiveQueue => queue instanceof SharedReceiveQueue;
const isTable = (queue: Queue): queue is IndirectionTable => queue instanceof IndirectionTable;
const isRaw = (queue: Queue): boolean => queue instanceof QueuePair && queue.qp_type === IBV_QPT_RAW_PACKET;
const isQp = (queue: Queue): queue is QueuePair => queue instanceof QueuePair && !isRaw(queue);
const isRq = (queue: Queue): queue is WorkQueue | QueuePair =>
  queue instanceof WorkQueue || (isRaw(queue) && !(queue as QueuePair).isRss);

const transition = (opcode: number, name: keyof typeof TRANSITIONS): Row =>
  row(opcode, name, MODIFY_QP, isQp, (command, qp) => {
    modifyQp(command, qp, name);
  });

/** The commands by opcode. */
export const QUEUE_COMMANDS: ReadonlyMap<number, QueueCommand> = new Map([
  row(opcodes.QUERY_QP_OPCODE, "QUERY_QP", NUMBERED, isQp, queryQp),
  transition(opcodes.RST2INIT_QP_OPCODE, "RST2INIT_QP"),
  transition(opcodes.INIT2INIT_QP_OPCODE, "INIT2INIT_QP"),
  transition(opcodes.INIT2RTR_QP_OPCODE, "INIT2RTR_QP"),
  transition(opcodes.RTR2RTS_QP_OPCODE, "RTR2RTS_QP"),
  transition(opcodes.RTS2RTS_QP_OPCODE, "RTS2RTS_QP"),
  transition(opcodes.QP_2RST_OPCODE, "2RST_QP"),
  transition(opcodes.QP_2ERR_OPCODE, "2ERR_QP"),
  row(opcodes.QUERY_CQ_OPCODE, "QUERY_CQ", NUMBERED, isCq, queryCq),
  row(opcodes.MODIFY_CQ_OPCODE, "MODIFY_CQ", MODIFY_CQ, isCq, modifyCq),
  row(opcodes.QUERY_RQ_OPCODE, "QUERY_RQ", NUMBERED, isRq, queryRq),
  row(opcodes.MODIFY_RQ_OPCODE, "MODIFY_RQ", MODIFY_RQ, isRq, modifyRq),
  row(opcodes.QUERY_RMP_OPCODE, "QUERY_RMP", NUMBERED, isSrq, queryRmp),
  row(opcodes.MODIFY_RMP_OPCODE, "MODIFY_RMP", MODIFY_RMP, isSrq, modifyRmp),
  row(opcodes.QUERY_RQT_OPCODE, "QUERY_RQT", NUMBERED, isTable, queryRqt),
  row(opcodes.MODIFY_RQT_OPCODE, "MODIFY_RQT", MODIFY_RQT, isTable, modifyRqt),
]);

/** The number of a queue in commands. */
function numberOf(queue: Queue): number {
  if (queue instanceof CompletionQueue) return queue.cqn;
  if (queue instanceof SharedReceiveQueue) return queue.srqn;
  return queue instanceof IndirectionTable ? queue.ind_tbl_num : queue.number;
}

/** Runs a command that queries or changes a queue. @throws EREMOTEIO */
export function askQueue(command: Command, queue: Queue, does: "query" | "modify"): void {
  const { opcode } = command;
  const known = QUEUE_COMMANDS.get(opcode);
  if (known === undefined) return command.fail("unknown_opcode", "opcode", `0x${opcode.toString(16)}`);
  if (known.does !== does || !known.takes(queue)) command.fail("wrong_call", "opcode", known.name);
  command.expect(known.inlen, OUTPUT.size);
  const { id } = command.read(NUMBERED);
  const number = numberOf(queue);
  if (id !== number) command.fail("other_object", "number", id, `${queue.name} has the number ${number}`);
  known.run(command, queue);
}
