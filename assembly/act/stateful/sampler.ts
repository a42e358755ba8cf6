/**
 * Samplers: copy some frames to the sample actions and send all frames to the next table
 * (docs/state.md; record in src/abi/state.ts).
 */
import { ACTION_OPERAND, ACTION_SIZE, Op } from "../../../src/abi/engine";
import { Reason } from "../../../src/abi/outcome";
import {
  SAMPLER_COUNT,
  SAMPLER_FIRST,
  SAMPLER_NUMBER,
  SAMPLER_PROGRAM,
  SAMPLER_RATIO,
  SAMPLER_TABLE,
} from "../../../src/abi/state";
import { countReason } from "../../branch/outcome";
import { ASIDE, BRANCH_FLAGS, BRANCH_FRAME, BRANCH_TAG, HAS_TAG } from "../../branch/branch";
import { fork } from "../../branch/fork";
import { jump } from "../../forward/nextTable";
import { goOn } from "../../forward/nextRound";
import { numberOfFrame } from "./clock";
import { count } from "../count";
import { modify } from "../header/modify";
import { fresh } from "../../branch/refresh";
import { terminal } from "../terminal";
import { TraceEvent } from "../../../src/abi/trace";
import { note, noteActing } from "../../branch/events";

export namespace Chance {
  /** The seed of the device. */
  export let seed: u64 = 0;
}

/** Sets the seed of all random choices. */
export function setSeed(high: u32, low: u32): void {
  Chance.seed = ((<u64>high) << 32) | (<u64>low);
}

const STEP: u64 = 0x9e3779b97f4a7c15;
const FIRST: u64 = 0xbf58476d1ce4e5b9;
const SECOND: u64 = 0x94d049bb133111eb;

/**
 * Copies the frame if it is sampled, and sends it to the next table. Returns whether the branch
 * continues.
 */
export function runSampler(branch: usize, table: usize, sampler: usize): bool {
  if (isSampled(branch, sampler)) sendAside(branch, table, sampler);
  if (TRACED) noteActing(branch);
  const program: usize = load<u32>(sampler, SAMPLER_PROGRAM);
  // Unreached: a sampler writes register C 0 only, which takes no memory.
  if (program != 0 && !modify(branch, program)) return false;
  return jump(branch, load<u32>(sampler, SAMPLER_TABLE));
}

function isSampled(branch: usize, sampler: usize): bool {
  const number = numberOfFrame(branch);
  let x = Chance.seed + (number + 1) * STEP + <u64>load<u32>(sampler, SAMPLER_NUMBER) * FIRST;
  x = (x ^ (x >> 30)) * FIRST;
  x = (x ^ (x >> 27)) * SECOND;
  x ^= x >> 31;
  return (x >> 32) * <u64>load<u32>(sampler, SAMPLER_RATIO) < 1 << 32;
}

/** Runs the sample actions on a copy of the frame. The copy does not set the verdict. */
function sendAside(branch: usize, table: usize, sampler: usize): void {
  const copy = fork(branch);
  if (copy == 0) {
    countReason(Reason.copy_limit, 1);
    return;
  }
  store<u32>(copy, load<u32>(copy, BRANCH_FLAGS) | ASIDE, BRANCH_FLAGS);
  let action = sampler + SAMPLER_FIRST;
  const last = action + <usize>load<u32>(sampler, SAMPLER_COUNT) * ACTION_SIZE;
  for (; action < last; action += ACTION_SIZE) {
    const operand = load<u32>(action, ACTION_OPERAND);
    const op = load<u32>(action);
    if (TRACED) {
      noteActing(copy);
      note(TraceEvent.member, copy, op, operand);
    }
    if (op == Op.count) {
      count(operand, load<u32>(copy, BRANCH_FRAME));
    } else if (op == Op.tag) {
      store<u32>(copy, operand, BRANCH_TAG);
      store<u32>(copy, load<u32>(copy, BRANCH_FLAGS) | HAS_TAG, BRANCH_FLAGS);
    } else {
      if (terminal(copy, table, op, operand) && fresh(copy)) goOn(copy);
      return;
    }
  }
}
