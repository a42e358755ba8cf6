/**
 * Parses a branch again after its bytes changed. In: a branch with a stale key or frame map. Out:
 * both are those of its bytes. Metadata registers, which no frame carries, keep their values.
 */
import { EXT_REGISTER_B, MISC2_REGISTER_C_7 } from "../../src/abi/key";
import { BRANCH_FLAGS, BRANCH_FRAME, BRANCH_KEY, BRANCH_MAP, STALE_KEY, STALE_MAP } from "./branch";
import { parseFrame } from "../wire/parse";
import { Required } from "../wire/required";
import { noteSnapshot } from "./events";
import { TraceEvent } from "../../src/abi/trace";

export function refresh(branch: usize): void {
  const key: usize = load<u32>(branch, BRANCH_KEY);
  // C7 to C0 and A, which are next to each other.
  const low = v128.load(key, MISC2_REGISTER_C_7);
  const high = v128.load(key, MISC2_REGISTER_C_7 + 16);
  const last = load<u32>(key, MISC2_REGISTER_C_7 + 32);
  const own = load<u32>(key, EXT_REGISTER_B);
  parseFrame(load<u32>(branch, BRANCH_FRAME), key, load<u32>(branch, BRANCH_MAP), Required.fields);
  v128.store(key, low, MISC2_REGISTER_C_7);
  v128.store(key, high, MISC2_REGISTER_C_7 + 16);
  store<u32>(key, last, MISC2_REGISTER_C_7 + 32);
  store<u32>(key, own, EXT_REGISTER_B);
  store<u32>(branch, load<u32>(branch, BRANCH_FLAGS) & ~(STALE_KEY | STALE_MAP), BRANCH_FLAGS);
  if (TRACED) noteSnapshot(TraceEvent.parsed, branch);
}

/** The frame map of a branch, up to date. */
// @ts-ignore: decorator
@inline
export function freshMap(branch: usize): usize {
  if (load<u32>(branch, BRANCH_FLAGS) & STALE_MAP) refresh(branch);
  return load<u32>(branch, BRANCH_MAP);
}

/** Makes the key of a branch that goes on that of its bytes; always true. */
// @ts-ignore: decorator
@inline
export function fresh(branch: usize): bool {
  if (load<u32>(branch, BRANCH_FLAGS) & (STALE_KEY | STALE_MAP)) refresh(branch);
  return true;
}
