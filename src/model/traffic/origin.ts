/** Where frames come from: the wire, or a queue pair that sends them. */
import { VPORT_UPLINK } from "../../abi/engine.js";

/** The origin of frames. */
export interface Origin {
  /** VPORT_UPLINK for the wire. */
  readonly vport: number;
  /** The queue pair that sent them; 0 for the wire. */
  readonly qp_num: number;
  /** The initial value of metadata register A. */
  readonly metadata: number;
}

export const WIRE: Origin = { vport: VPORT_UPLINK, qp_num: 0, metadata: 0 };

/** A queue handle that no rule uses: frames from it match no rule's own queue. */
export const NOBODY = 1;

/** What frames that a queue pair sends have in common. */
export interface SentFrames {
  readonly qp_num?: number;
  /** The initial value of metadata register A. */
  readonly metadata?: number;
  /** Whether the queue pair is a connected or datagram one, which makes packets of what it sends. */
  readonly transport?: boolean;
  /** Their time in nanoseconds; null for the clock of the device. */
  readonly time?: bigint | null;
}

/** Options of `loopBack`. */
export interface LoopOptions {
  readonly rdma?: boolean;
  readonly ownFlows?: boolean;
  /** As for sent frames. */
  readonly time?: bigint | null;
}
