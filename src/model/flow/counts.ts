/**
 * The counts of a flow. Their owner is an object of ibv_create_counters or a counter of device
 * commands.
 */
import type { Handle } from "../base/handle.js";

/** A pair of counts in the core, packets and bytes. */
export interface FlowCounts {
  readonly name: string;
  /** The object that owns them: it cannot be destroyed before the flow. */
  readonly holder: Handle;
  /** The address in the core; 0 until `bind` allocates them. */
  readonly address: number;
  /** @internal Allocates the counts if there are none. @throws ENOMEM */
  bind(): number;
  /** Frees counts that `bind` allocated for a flow that was refused. */
  unbind(): void;
}
