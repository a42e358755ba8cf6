/**
 * The queues of a scenario: sinks, and queues with receive buffers whose completions are compared
 * with the outcomes.
 */
import {
  IBV_QP_PKEY_INDEX,
  IBV_QP_PORT,
  IBV_QP_QKEY,
  IBV_QP_SQ_PSN,
  IBV_QP_STATE,
  IBV_QPS_ERR,
  IBV_QPS_INIT,
  IBV_QPS_RTR,
  IBV_QPS_RTS,
  IBV_QPT_RAW_PACKET,
  IBV_QPT_UD,
  IBV_WC_SUCCESS,
  IBV_WQ_ATTR_STATE,
  IBV_WQS_ERR,
  IBV_WQS_RDY,
  IBV_WQT_RQ,
} from "../../abi/verbs.js";
import { CompletionQueue, type WorkCompletion } from "../../model/queue/completionQueue.js";
import type { ProtectionDomain } from "../../model/base/context.js";
import type { Outcome } from "../../model/traffic/outcome.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { WorkQueue } from "../../model/queue/workQueue.js";
import { ConnectedQueue } from "../queue/connection.js";
import type { ScenarioQueueState, ScenarioQueue } from "./definition.js";
import type { ScenarioDomains } from "../device/domains.js";
import type { Failure } from "../expect/failure.js";
import { isConnectedType } from "../message/names.js";
import { ReceiveMemory } from "./receiveMemory.js";

/** A loaded queue. */
export interface LoadedQueue {
  readonly name: string;
  readonly queue: QueuePair | WorkQueue;
  /** null for a sink, an RSS queue, and a queue with messages. */
  readonly buffers: ReceiveBuffers | null;
  /** null for a queue without a peer. */
  readonly connected: ConnectedQueue | null;
}

export function loadQueue(domains: ScenarioDomains, queue: ScenarioQueue): LoadedQueue {
  const { name, buffers, port, function: vport } = queue;
  if (buffers === undefined) {
    const sink = QueuePair.createSink(domains.context(vport), name, port);
    return { name, queue: sink, buffers: null, connected: null };
  }
  const pd = domains.pd(vport);
  if (isConnectedType(queue.type)) {
    const connected = new ConnectedQueue(pd, { ...queue, buffers });
    return { name, queue: connected.queue, buffers: null, connected };
  }
  const received = new ReceiveBuffers(pd, { ...queue, buffers });
  return { name, queue: received.queue, buffers: received, connected: null };
}

/** The states after INIT on the way to each state. */
const STEPS: Readonly<Record<Exclude<ScenarioQueueState, "rdy">, readonly number[]>> = {
  reset: [],
  init: [],
  rtr: [IBV_QPS_RTR],
  rts: [IBV_QPS_RTR, IBV_QPS_RTS],
  err: [IBV_QPS_ERR],
};

/**
 * A queue pair or work queue with receive buffers. Each buffer takes one frame and is not posted
 * again.
 */
export class ReceiveBuffers {
  readonly queue: QueuePair | WorkQueue;
  /** Buffers posted. */
  readonly posted: number;
  /** Frames that completed, and completions with an error. */
  completed = 0;
  failed = 0;
  readonly #memory: ReceiveMemory;
  readonly #completions: CompletionQueue;
  /** Delivered frames whose completion was not seen yet. */
  readonly #due: { length: number; tag: number; bytes: Uint8Array }[] = [];

  /** @internal */
  constructor(pd: ProtectionDomain, queue: ScenarioQueue & { buffers: number }) {
    const { buffers, bufferSize, type, state } = queue;
    // A reset queue holds no buffers.
    this.posted = state === "reset" ? 0 : buffers;
    this.#memory = new ReceiveMemory(pd, this.posted, bufferSize);
    this.#completions = new CompletionQueue(pd.context, buffers);
    const post = (to: QueuePair | WorkQueue): void => this.#memory.post(to);
    this.queue =
      type === "wq"
        ? openWorkQueue(pd, queue, this.#completions, post)
        : openQueuePair(pd, queue, this.#completions, post);
  }

  /** Notes a frame that an outcome says was delivered here. */
  delivered(frame: Uint8Array, tag: number): void {
    this.#due.push({ length: frame.length, tag, bytes: frame });
  }

  /** Polls, and counts completions without an outcome: packets of messages. */
  take(): void {
    for (const { status } of this.#completions.poll(this.posted)) {
      if (status === IBV_WC_SUCCESS) this.completed++;
      else this.failed++;
    }
  }

  /** Polls, and reports where completions and outcomes disagree. */
  check(): Failure[] {
    const failures: Failure[] = [];
    for (const completion of this.#completions.poll(this.posted)) {
      const { status } = completion;
      if (status !== IBV_WC_SUCCESS) {
        this.failed++;
        continue;
      }
      this.completed++;
      const due = this.#due.shift();
      const got = this.#received(completion);
      const expected = due === undefined ? "none" : `${due.length} bytes, tag ${due.tag}`;
      if (expected !== got || due === undefined || !sameBytes(due.bytes, this.#memory.buffer(completion.wr_id))) {
        failures.push(this.#failure(expected, got));
      }
    }
    for (const { length, tag } of this.#due.splice(0))
      failures.push(this.#failure(`${length} bytes, tag ${tag}`, "none"));
    return failures;
  }

  #received({ byte_len, flow_tag }: WorkCompletion): string {
    return `${byte_len} bytes, tag ${flow_tag}`;
  }

  #failure(expected: string, got: string): Failure {
    return { path: "queues", about: `queue ${this.queue.name}`, what: "completion", expected, got };
  }
}

type PostTo = (queue: QueuePair | WorkQueue) => void;
type BufferedQueue = ScenarioQueue & { buffers: number };

function openQueuePair(
  pd: ProtectionDomain,
  { name, buffers, type, state = "rts", port = 1 }: BufferedQueue,
  completions: CompletionQueue,
  post: PostTo,
): QueuePair {
  const datagrams = type === "ud";
  const attributes = {
    send_cq: completions,
    recv_cq: completions,
    cap: { max_recv_wr: buffers, max_recv_sge: 1 },
    qp_type: datagrams ? IBV_QPT_UD : IBV_QPT_RAW_PACKET,
  };
  const queue = QueuePair.create(pd, attributes, name);
  if (state === "reset" || state === "rdy") return queue;
  const init = { qp_state: IBV_QPS_INIT, port_num: port, pkey_index: 0, qkey: 0 };
  queue.modify(init, IBV_QP_STATE | IBV_QP_PORT | (datagrams ? IBV_QP_PKEY_INDEX | IBV_QP_QKEY : 0));
  post(queue);
  for (const qp_state of STEPS[state]) {
    const more = datagrams && qp_state === IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0;
    queue.modify({ qp_state, sq_psn: 0 }, IBV_QP_STATE | more);
  }
  return queue;
}

function openWorkQueue(
  pd: ProtectionDomain,
  { name, buffers, state = "rdy" }: BufferedQueue,
  cq: CompletionQueue,
  post: PostTo,
): WorkQueue {
  const queue = WorkQueue.create(pd.context, { wq_type: IBV_WQT_RQ, max_wr: buffers, max_sge: 1, pd, cq }, name);
  if (state === "reset") return queue;
  queue.modify({ attr_mask: IBV_WQ_ATTR_STATE, wq_state: IBV_WQS_RDY });
  post(queue);
  if (state === "err") queue.modify({ attr_mask: IBV_WQ_ATTR_STATE, wq_state: IBV_WQS_ERR });
  return queue;
}

/** Frames delivered into receive buffers, in the order of delivery. */
export function noteDeliveries(
  queues: ReadonlyMap<QueuePair | WorkQueue, ReceiveBuffers>,
  outcomes: readonly Outcome[],
): void {
  if (queues.size === 0) return;
  for (const { to, copies } of outcomes) {
    // A copy arrives before its frame does, and a frame that leaves by a port arrives last.
    for (const there of [...copies, ...to]) {
      if (there.kind === "qp" || there.kind === "wq") queues.get(there.object)?.delivered(there.frame, there.tag);
      else if (there.kind === "port" && there.outcome !== null) noteDeliveries(queues, [there.outcome]);
    }
  }
}

function sameBytes(frame: Uint8Array, buffer: Uint8Array): boolean {
  return frame.every((byte, i) => buffer[i] === byte);
}
