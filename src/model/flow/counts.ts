/** The counts of a flow, whoever owns them: an object of ibv_create_counters, a counter of device commands. */
import type { Handle } from "../base/handle.js";

/** What counts the frames of a flow: a pair of counts in the core. */
export interface FlowCounts {
  readonly name: string;
  /** The object that cannot be destroyed before. */
  readonly holder: Handle;
  /** 0 while they have not been made. */
  readonly address: number;
  /** Makes them, if there are none. @throws ENOMEM */
  bind(call: string): number;
  /** Gives back counts that nobody has bound after all. */
  unbind(): void;
}
