/**
 * Terminal actions, which name the destination of a branch. In: an action of a rule, of a member of
 * an array or of a sampler. Out: the branch is at another table, or has a verdict.
 */
import { Op, ROOT_SLOT, ROOT_TABLE } from "../../src/abi/engine";
import { Reason } from "../../src/abi/outcome";
import { BRANCH_REASON } from "../branch/branch";
import { deliverTo, drop } from "../branch/outcome";
import { toPort, toVport } from "../forward/eswitch";
import { jump, jumpTo, miss } from "../forward/nextTable";
import { rssQueue } from "./rss";

/** Runs a terminal action; returns whether the branch continues. */
export function terminal(branch: usize, table: usize, op: u32, operand: u32): bool {
  switch (op) {
    case Op.queue:
      deliverTo(branch, operand, 0);
      return false;
    case Op.rss:
      deliverTo(branch, rssQueue(branch, operand), 0);
      return false;
    case Op.table:
      return jump(branch, operand);
    case Op.root:
      return jumpTo(branch, load<u32>(operand, ROOT_TABLE), load<u32>(operand, ROOT_SLOT));
    case Op.vport:
      return toVport(branch, operand);
    case Op.port:
      toPort(branch, operand);
      return false;
    case Op.drop:
      return drop(branch, Reason.drop_action);
    case Op.default_miss:
      store<u8>(branch, Reason.default_miss, BRANCH_REASON);
      return miss(branch, table);
    default:
      // The host stages no other operation.
      // Unreached: the host stages no other operation.
      return unreachable();
  }
}
