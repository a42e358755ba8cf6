/** Where frames go. */
import type { Op } from "../../abi/engine.js";

/** The operation of the core that takes frames to a queue, a table or a root, and its operand. */
export interface FrameTarget {
  readonly op: Op;
  readonly operand: number;
}
