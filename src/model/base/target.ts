/** The target of frames, as the core takes it. */
import type { Op } from "../../abi/engine.js";

/** The operation that takes frames to a queue, a table or a root table, and its operand. */
export interface FrameTarget {
  readonly op: Op;
  readonly operand: number;
}
