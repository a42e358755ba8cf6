/**
 * The requirements of a list of actions. In: staged actions. Out: NEEDS_* (src/abi/key.ts): groups
 * of the key that the parser fills, branches for copies, frames in order.
 */
import {
  ACTION_OPERAND,
  ACTION_SIZE,
  ARRAY_COUNT,
  ARRAY_FIRST,
  MEMBER_OP,
  MEMBER_OPERAND,
  MEMBER_SIZE,
  Op,
} from "../../src/abi/engine";
import { SAMPLER_COUNT, SAMPLER_FIRST, SAMPLER_PROGRAM } from "../../src/abi/state";
import { GROUP_MISC2, NEEDS_BRANCHES, NEEDS_ESP, NEEDS_INNER, NEEDS_ORDER } from "../../src/abi/key";
import { needsOfProgram } from "./header/modify";
import { takesOff } from "./header/reformat";
import { hashesInner } from "./rss";

/**
 * The required fields of `count` actions (classify/requiredFields.ts), and their requirements on
 * the walk.
 */
export function needsOfActions(actions: usize, count: u32): u32 {
  let needs: u32 = 0;
  for (let n: u32 = 0; n < count; n++) {
    const action = actions + <usize>n * ACTION_SIZE;
    const operand: usize = load<u32>(action, ACTION_OPERAND);
    const op = load<u32>(action);
    if (op == Op.modify) needs |= needsOfProgram(operand);
    else if (op == Op.reformat && takesOff(operand)) needs |= NEEDS_INNER;
    else if (op == Op.array) needs |= needsOfArray(operand);
    else if (op == Op.rss || op == Op.copy_rss) needs |= needsOfRss(operand);
    // State is written to registers, and depends on earlier frames.
    else if (op == Op.state) needs |= (1 << GROUP_MISC2) | NEEDS_ORDER;
    // Sequence numbers and windows depend on all frames too.
    else if (op == Op.esp) needs |= NEEDS_ORDER | NEEDS_ESP;
    else if (op == Op.sampler) needs |= needsOfSampler(operand);
  }
  return needs;
}

function needsOfRss(record: usize): u32 {
  return hashesInner(record) ? <u32>NEEDS_INNER : 0;
}

function needsOfArray(array: usize): u32 {
  let needs: u32 = NEEDS_BRANCHES;
  const members = load<u32>(array, ARRAY_COUNT);
  for (let n: u32 = 0; n < members; n++) {
    const member = array + ARRAY_FIRST + <usize>n * MEMBER_SIZE;
    if (load<u32>(member, MEMBER_OP) == Op.rss) needs |= needsOfRss(load<u32>(member, MEMBER_OPERAND));
  }
  return needs;
}

/** A random choice does not depend on other frames; a sampler only splits. */
function needsOfSampler(sampler: usize): u32 {
  const program: usize = load<u32>(sampler, SAMPLER_PROGRAM);
  const own = NEEDS_BRANCHES | needsOfActions(sampler + SAMPLER_FIRST, load<u32>(sampler, SAMPLER_COUNT));
  return program != 0 ? own | needsOfProgram(program) : own;
}
