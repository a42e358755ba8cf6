/**
 * Connected queues of a scenario: RC and UC queue pairs that exchange messages (docs/queues.md,
 * "Connected queue pairs").
 */
import {
  IBV_QP_ACCESS_FLAGS,
  IBV_QP_AV,
  IBV_QP_DEST_QPN,
  IBV_QP_MAX_DEST_RD_ATOMIC,
  IBV_QP_MAX_QP_RD_ATOMIC,
  IBV_QP_MIN_RNR_TIMER,
  IBV_QP_PATH_MTU,
  IBV_QP_PKEY_INDEX,
  IBV_QP_PORT,
  IBV_QP_RETRY_CNT,
  IBV_QP_RNR_RETRY,
  IBV_QP_RQ_PSN,
  IBV_QP_SQ_PSN,
  IBV_QP_STATE,
  IBV_QP_TIMEOUT,
  IBV_QPS_ERR,
  IBV_QPS_INIT,
  IBV_QPS_RTR,
  IBV_QPS_RTS,
  IBV_QPT_RC,
  IBV_QPT_UC,
  IBV_SEND_SIGNALED,
  IBV_WC_SUCCESS,
  IBV_WC_WITH_IMM,
  IBV_WC_WR_FLUSH_ERR,
  IBV_WR_SEND,
  IBV_WR_SEND_WITH_IMM,
} from "../../abi/verbs.js";
import { CompletionQueue } from "../../model/queue/completionQueue.js";
import { MemoryRegion, type ProtectionDomain } from "../../model/base/context.js";
import { mtuBytes, type Port } from "../../model/base/port/ports.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import type { QueuePairChange } from "../../model/queue/states.js";
import type { ScenarioQueueState, ScenarioQueue } from "./definition.js";
import { ReceiveMemory } from "../queue/receiveMemory.js";

/** The numbers of `enum ibv_mtu`, by their size in bytes. */
export const PATH_MTUS: ReadonlyMap<number, number> = new Map([1, 2, 3, 4, 5].map((mtu) => [mtuBytes(mtu), mtu]));
const DEFAULT_PATH_MTU = 1024;
const HOP_LIMIT = 64;

const INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
const PATH = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
/** Attributes that the steps of RC need in addition to those of UC. */
const RC_RTR = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
const RC_RTS = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT;

/** The completion of a receive request. */
export interface Received {
  readonly status: number;
  /** Missing unless the status is IBV_WC_SUCCESS. */
  readonly bytes: Uint8Array;
  readonly imm_data: number | null;
}

/** One end of a connection. */
export class ConnectedQueue {
  readonly queue: QueuePair;
  readonly #port: number;
  readonly #pd: ProtectionDomain;
  readonly #state: ScenarioQueueState;
  readonly #pathMtu: number;
  readonly #memory: ReceiveMemory;
  readonly #sent: CompletionQueue;
  readonly #received: CompletionQueue;

  /** Moves the queue to INIT and posts its buffers, unless it stays in RESET. */
  constructor(pd: ProtectionDomain, queue: ScenarioQueue & { buffers: number }) {
    const { name, type, buffers, bufferSize, state = "rts", port = 1, path_mtu = DEFAULT_PATH_MTU } = queue;
    this.#port = port;
    this.#pd = pd;
    this.#state = state;
    this.#pathMtu = path_mtu;
    this.#memory = new ReceiveMemory(pd, buffers, bufferSize);
    this.#sent = new CompletionQueue(pd.context, 1);
    this.#received = new CompletionQueue(pd.context, buffers);
    const attributes = {
      send_cq: this.#sent,
      recv_cq: this.#received,
      cap: { max_send_wr: 1, max_send_sge: 1, max_recv_wr: buffers, max_recv_sge: 1 },
      qp_type: type === "uc" ? IBV_QPT_UC : IBV_QPT_RC,
    };
    this.queue = QueuePair.create(pd, attributes, name);
    if (state === "reset") return;
    const init = { qp_state: IBV_QPS_INIT, port_num: port, pkey_index: 0, qp_access_flags: 0 };
    this.queue.modify(init, IBV_QP_STATE | INIT);
    this.#memory.post(this.queue);
  }

  /** Moves the queue to the state of the document. */
  connect(peer: ConnectedQueue): void {
    const state = this.#state;
    if (state === "err") this.queue.modify({ qp_state: IBV_QPS_ERR }, IBV_QP_STATE);
    if (state !== "rtr" && state !== "rts") return;
    const reliable = this.queue.qp_type === IBV_QPT_RC;
    const attr = this.#attributesFor(peer);
    const rtr = IBV_QP_STATE | PATH | (reliable ? RC_RTR : 0);
    this.queue.modify({ ...attr, qp_state: IBV_QPS_RTR }, rtr);
    if (state === "rtr") return;
    const rts = IBV_QP_STATE | IBV_QP_SQ_PSN | (reliable ? RC_RTS : 0);
    this.queue.modify({ ...attr, qp_state: IBV_QPS_RTS }, rts);
  }

  /** Sends a message and returns the status of its completion. */
  send(bytes: Uint8Array, imm_data?: number): number {
    const region = new MemoryRegion(this.#pd, bytes, undefined, 0);
    const { lkey } = region;
    const opcode = imm_data === undefined ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
    const sg_list = bytes.length === 0 ? [] : [{ addr: bytes, lkey }];
    try {
      this.queue.postSend({ wr_id: 0, sg_list, opcode, imm_data, send_flags: IBV_SEND_SIGNALED });
    } finally {
      region.dereg();
    }
    const [completion] = this.#sent.poll(1);
    if (completion === undefined) throw new Error(`loadScenario: a request of ${this.queue.name} has not completed`);
    return completion.status;
  }

  /** The first completion since the last call that is not a flush; null for none. */
  received(): Received | null {
    const found = this.#received.poll(this.#received.cqe).find(({ status }) => status !== IBV_WC_WR_FLUSH_ERR);
    if (found === undefined) return null;
    const { wr_id, status, byte_len, imm_data, wc_flags } = found;
    const good = status === IBV_WC_SUCCESS;
    const bytes = this.#memory.buffer(wr_id).slice(0, good ? byte_len : 0);
    return { status, bytes, imm_data: good && (wc_flags & IBV_WC_WITH_IMM) !== 0 ? imm_data : null };
  }

  /** Each end is addressed by the first GID of its port. */
  #attributesFor(peer: ConnectedQueue): QueuePairChange {
    const port_num = this.#port;
    const { gids } = peer.queue.device.hardware.ports[peer.#port - 1] as Port;
    return {
      path_mtu: PATH_MTUS.get(this.#pathMtu) ?? 0,
      dest_qp_num: peer.queue.qp_num,
      rq_psn: 0,
      sq_psn: 0,
      max_rd_atomic: 0,
      max_dest_rd_atomic: 0,
      min_rnr_timer: 0,
      timeout: 0,
      retry_cnt: 7,
      rnr_retry: 7,
      ah_attr: { is_global: 1, port_num, grh: { dgid: gids[0] as Uint8Array, sgid_index: 0, hop_limit: HOP_LIMIT } },
    };
  }
}
