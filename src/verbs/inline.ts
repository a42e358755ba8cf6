/** Inline functions of infiniband/verbs.h that need no device. */
import { IBV_FORK_UNNEEDED } from "../abi/verbsConstants.js";
import { unsigned } from "../checks.js";

/** Prepares a process for fork() (ibv_fork_init(3)). There is nothing to do: no device reads its memory. */
export function ibv_fork_init(): 0 {
  return 0;
}

/** Whether fork() is prepared (ibv_is_fork_initialized(3)): IBV_FORK_UNNEEDED. */
export function ibv_is_fork_initialized(): number {
  return IBV_FORK_UNNEEDED;
}

/** Links providers into a program (ibv_static_providers in verbs.h). There is nothing to do. */
export function ibv_static_providers(_unused: unknown, ..._providers: readonly unknown[]): void {
  // Every device of the process has its provider.
}

/**
 * Whether a bit mask of capabilities has the bit of a type of queue pair.
 * @param caps such as `tso_caps.supported_qpts`
 */
export function ibv_is_qpt_supported(caps: number, qpt: number): boolean {
  const call = "ibv_is_qpt_supported";
  return ((unsigned(call, "caps", caps, 32) >>> unsigned(call, "qpt", qpt, 5)) & 1) !== 0;
}

/** The rkey with the next tag in its low byte (ibv_inc_rkey(3)). */
export function ibv_inc_rkey(rkey: number): number {
  const key = unsigned("ibv_inc_rkey", "rkey", rkey, 32);
  return ((key & ~0xff) | ((key + 1) & 0xff)) >>> 0;
}
