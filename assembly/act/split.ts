/**
 * Destination arrays: the frame goes to each member. In: a branch and an array record. Out: a
 * destination for each member, and a fork for each member that changes the frame or continues
 * (docs/rules.md).
 */
import {
  ARRAY_COUNT,
  ARRAY_FIRST,
  MEMBER_OP,
  MEMBER_OPERAND,
  MEMBER_REFORMAT,
  MEMBER_SIZE,
  Op,
  VPORT_UPLINK,
} from "../../src/abi/engine";
import { Reason } from "../../src/abi/outcome";
import { drop } from "../branch/outcome";
import { BRANCH_FRAME } from "../branch/branch";
import { fork } from "../branch/fork";
import { goOn } from "../forward/nextRound";
import { count } from "./count";
import { reformat } from "./header/reformat";
import { fresh } from "../branch/refresh";
import { terminal } from "./terminal";
import { TraceEvent } from "../../src/abi/trace";
import { note, noteActing, noteSnapshot } from "../branch/events";

/** Sends the branch to all members of an array; false when they only count. */
export function split(branch: usize, table: usize, array: usize): bool {
  let sent = false;
  const members = load<u32>(array, ARRAY_COUNT);
  for (let n: u32 = 0; n < members; n++) {
    const member = array + ARRAY_FIRST + <usize>n * MEMBER_SIZE;
    const op = load<u32>(member, MEMBER_OP);
    const operand = load<u32>(member, MEMBER_OPERAND);
    const record: usize = load<u32>(member, MEMBER_REFORMAT);
    if (TRACED) {
      noteActing(branch);
      if (record == 0 && !walks(op, operand)) note(TraceEvent.member, branch, op, operand);
    }
    if (op == Op.count) {
      count(operand, load<u32>(branch, BRANCH_FRAME));
      continue;
    }
    sent = true;
    if (record == 0 && !walks(op, operand)) terminal(branch, table, op, operand);
    else sendCopy(branch, table, op, operand, record);
  }
  return sent;
}

/** Whether a member continues at a table. */
function walks(op: u32, operand: u32): bool {
  return op == Op.table || op == Op.root || op == Op.default_miss || (op == Op.vport && operand != VPORT_UPLINK);
}

function sendCopy(branch: usize, table: usize, op: u32, operand: u32, record: usize): void {
  const copy = fork(branch);
  if (copy == 0) {
    drop(branch, Reason.copy_limit);
    return;
  }
  if (TRACED) {
    noteActing(copy);
    note(TraceEvent.member, copy, op, operand, <u32>record);
  }
  if (record != 0 && !reformat(copy, record)) return;
  if (TRACED) {
    if (record != 0) noteSnapshot(TraceEvent.changed, copy);
  }
  if (terminal(copy, table, op, operand)) {
    fresh(copy);
    goOn(copy);
  }
}
