/** The data path of a session: requests from the process, completions and received bytes into its memory. */
import { MessageReader } from "../../calls/index.js";
import { SteeringError } from "../../errors.js";
import {
  IBV_SEND_INLINE,
  IBV_WC_LOC_QP_OP_ERR,
  IBV_WC_SUCCESS,
  ibv_ack_cq_events,
  ibv_poll_cq,
  ibv_post_recv,
  ibv_post_send,
  ibv_post_srq_recv,
  ibv_post_wq_recv,
} from "../../verbs/index.js";
import type {
  CompletionQueue,
  QueuePair,
  ReceiveRequest,
  SendRequest,
  SharedReceiveQueue,
  WorkCompletion,
  WorkQueue,
} from "../../verbs/index.js";
import type { ProcessMemory } from "./processMemory.js";
import { isOutside, Regions, type Part } from "./regions.js";
import { CompletionRing, type Received, type RingEntry } from "./ring.js";
import type { Refused } from "./report/reports.js";

type Address = number | bigint;

interface Completions {
  readonly cq: CompletionQueue;
  readonly cookie: Address;
  ring: CompletionRing;
  /** Completions of requests that the model refused after C had accepted them. */
  readonly extra: RingEntry[];
  /** Whether bytes for the process come with them. */
  brings: boolean;
}

/** Who takes requests for receiving. */
type ReceiverQueue = QueuePair | SharedReceiveQueue | WorkQueue;

/** A request that waits for its completion. */
interface Waiting {
  readonly wr_id: bigint;
  readonly queue: ReceiverQueue;
  readonly parts: readonly Part[];
}

interface Pair {
  readonly qp: QueuePair;
  readonly cookie: Address;
  readonly sends: Map<number, readonly Part[]>;
}

/** Numbers of receive requests begin here, so that a completion tells which kind it is of. */
const FIRST_RECEIVE = 2 ** 40;
const MAX_POLL = 256;
/** Milliseconds until a full ring is tried again. */
const FULL = 1;
/** With fewer receive requests than this, and more unread completions, a program is behind. */
export const FEW = 32;
/** Milliseconds in which a program that is behind reads something, or is waited for no more. */
const PATIENCE = 1000;

const POST = { ibv_post_recv, ibv_post_srq_recv, ibv_post_wq_recv } as const;

export class Queues {
  readonly regions: Regions;
  readonly #memory: ProcessMemory;
  readonly #report: (refused: Refused) => void;
  readonly #completions = new Map<object, Completions>();
  readonly #pairs = new Map<number, Pair>();
  readonly #shared = new Map<object, Address>();
  readonly #workQueues = new Map<number, Address>();
  readonly #receives = new Map<number, Waiting>();
  /** Receive requests that wait, of queues that ever had one. */
  readonly #left = new Map<object, number>();
  /** Queues that have few. */
  readonly #low = new Set<object>();
  /** How much the program had read when it was last seen to read, and when that was, in milliseconds. */
  #read = { count: -1, at: 0 };
  readonly #dirty = new Set<Completions>();
  #lastReceive = FIRST_RECEIVE;
  #retry: NodeJS.Timeout | null = null;

  constructor(memory: ProcessMemory, report: (refused: Refused) => void) {
    this.#memory = memory;
    this.regions = new Regions(memory);
    this.#report = report;
  }

  addCompletions(
    cq: CompletionQueue,
    { ring, cookie }: { readonly ring: Address; readonly cookie: Address },
  ): CompletionQueue {
    const one = { cq, cookie, ring: new CompletionRing(this.#memory, Number(ring)), extra: [], brings: false };
    this.#completions.set(cq, one);
    cq.onCompletion = () => this.#dirty.add(one);
    return cq;
  }

  /** Completions that the program has not polled. */
  unreadOf(cq: CompletionQueue): number {
    return this.#completions.get(cq)?.ring.unread ?? 0;
  }

  moveRing(cq: CompletionQueue, ring: Address): void {
    const one = this.#completions.get(cq);
    if (one !== undefined) one.ring = new CompletionRing(this.#memory, Number(ring));
  }

  addPair(qp: QueuePair, cookie: Address): QueuePair {
    this.#pairs.set(qp.qp_num, { qp, cookie, sends: new Map() });
    this.#brings(qp.recv_cq);
    // READ and atomic operations.
    if (qp.transport !== null) this.#brings(qp.send_cq);
    return qp;
  }

  addShared(srq: SharedReceiveQueue, cookie: Address): SharedReceiveQueue {
    this.#shared.set(srq, cookie);
    return srq;
  }

  addWorkQueue(wq: WorkQueue, cookie: Address): WorkQueue {
    this.#workQueues.set(wq.wq_num, cookie);
    this.#brings(wq.cq);
    return wq;
  }

  #brings(cq: CompletionQueue | null): void {
    const one = cq === null ? undefined : this.#completions.get(cq);
    if (one !== undefined) one.brings = true;
  }

  /** An object is gone. */
  forget(object: object): void {
    this.regions.forget(object);
    const completions = this.#completions.get(object);
    if (completions !== undefined) this.#dirty.delete(completions);
    this.#completions.delete(object);
    if ("qp_num" in object) this.#pairs.delete(object.qp_num as number);
    this.#shared.delete(object);
    this.#left.delete(object);
    this.#low.delete(object);
    if ("wq_num" in object) this.#workQueues.delete(object.wq_num as number);
  }

  /** The address of an object of the process, for an event about it. */
  cookieOf(object: unknown): Address {
    if (typeof object !== "object" || object === null) return 0;
    if ("qp_num" in object) return this.#pairs.get(object.qp_num as number)?.cookie ?? 0;
    return this.#completions.get(object)?.cookie ?? this.#shared.get(object) ?? 0;
  }

  /** A program is told of completions: they are there when it looks. The channel has done its part. */
  eventTold(cq: CompletionQueue): void {
    const one = this.#completions.get(cq);
    if (one !== undefined) this.#flush(one);
    ibv_ack_cq_events(cq, 1);
  }

  end(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    for (const { cq } of this.#completions.values()) cq.onCompletion = null;
    this.#dirty.clear();
  }

  /** Hands completions to the process. */
  flush(): void {
    if (this.#dirty.size === 0 && !this.regions.changed) return;
    this.regions.storeChanges();
    for (const one of this.#dirty) if (this.#flush(one)) this.#dirty.delete(one);
    if (this.#dirty.size > 0) this.#retry ??= setTimeout(() => this.#again(), FULL);
  }

  /**
   * Whether frames would find no receive request although the program may post some: it has not read what came before, or
   * has just read it.
   * @param now in milliseconds
   */
  isBehind(now: number): boolean {
    if (!this.isLow) return false;
    let [unread, count] = [0, 0];
    for (const { ring } of this.#completions.values()) {
      unread += ring.unread;
      count += ring.consumed;
    }
    if (count !== this.#read.count) this.#read = { count, at: now };
    if (now - this.#read.at > PATIENCE) return false;
    for (const queue of this.#low) {
      const left = this.#left.get(queue) ?? 0;
      if (left === 0 || unread > left) return true;
    }
    return false;
  }

  /** Whether some queue has few receive requests. */
  get isLow(): boolean {
    return this.#low.size > 0;
  }

  #count(queue: object, change: 1 | -1): void {
    const left = (this.#left.get(queue) ?? 0) + change;
    this.#left.set(queue, left);
    if (left < FEW) this.#low.add(queue);
    else this.#low.delete(queue);
  }

  #again(): void {
    this.#retry = null;
    this.flush();
  }

  /** @returns whether all were handed over */
  #flush(one: Completions): boolean {
    for (;;) {
      const room = Math.min(one.ring.room, MAX_POLL);
      if (room <= 0) return false;
      const first = one.extra.splice(0, room);
      const polled = first.length > 0 ? [] : ibv_poll_cq(one.cq, room);
      if (first.length === 0 && polled.length === 0) return true;
      const time = one.cq.device.now();
      const entries = first.length > 0 ? first : polled.map((wc) => this.#entryOf(wc, time));
      this.regions.storeArrived();
      one.ring.push(entries);
      if (first.length === 0 && polled.length < room) return true;
    }
  }

  #entryOf(wc: WorkCompletion, time: bigint): RingEntry {
    const number = Number(wc.wr_id);
    if (number < FIRST_RECEIVE) {
      const pair = this.#pairs.get(wc.qp_num);
      const parts = pair?.sends.get(number);
      pair?.sends.delete(number);
      if (parts !== undefined && wc.status === IBV_WC_SUCCESS) this.regions.arrived(parts, Infinity);
      return { wc, wr_id: number, cookie: pair?.cookie ?? 0, received: 0, time };
    }
    const waiting = this.#receives.get(number);
    this.#receives.delete(number);
    if (waiting !== undefined) this.#count(waiting.queue, -1);
    if (waiting !== undefined && wc.status === IBV_WC_SUCCESS) this.regions.arrived(waiting.parts, wc.byte_len);
    const workQueue = this.#workQueues.get(wc.qp_num);
    const received: Received = workQueue === undefined ? 1 : 2;
    const cookie = workQueue ?? this.#pairs.get(wc.qp_num)?.cookie ?? 0;
    return { wc, wr_id: waiting?.wr_id ?? 0n, cookie, received, time };
  }

  /**
   * Posts receive requests: `| wr_id 8 | entries |`, those that the model takes.
   * @throws SteeringError one that the model refuses
   */
  postReceive(call: keyof typeof POST, queue: ReceiverQueue, bytes: Uint8Array): void {
    const reader = new MessageReader(bytes);
    while (reader.left > 0) {
      const wr_id = reader.u64();
      const { list, parts } = this.regions.entries(reader);
      const number = ++this.#lastReceive;
      const request: ReceiveRequest = { wr_id: number, sg_list: list };
      this.#receives.set(number, { wr_id, queue, parts });
      try {
        (POST[call] as (queue: object, request: ReceiveRequest) => unknown)(queue, request);
        this.#count(queue, 1);
      } catch (error) {
        this.#receives.delete(number);
        throw error;
      }
    }
  }

  /** Posts send requests, as `put_send` of native/queues.c writes them. */
  postSend(qp: QueuePair, bytes: Uint8Array): void {
    // Requests bring bytes of regions: those that wait to be copied to the process come first.
    if (this.regions.changed || [...this.#dirty].some(({ brings }) => brings)) this.flush();
    const reader = new MessageReader(bytes);
    const pair = this.#pairs.get(qp.qp_num) as Pair;
    while (reader.left > 0) {
      const { request, number, parts } = this.#sendRequest(reader);
      pair.sends.set(number, parts);
      try {
        ibv_post_send(qp, request);
      } catch (error) {
        pair.sends.delete(number);
        this.#refusedSend(pair, number, error);
      }
    }
  }

  #sendRequest(reader: MessageReader): { request: SendRequest; number: number; parts: readonly Part[] } {
    const number = Number(reader.u64());
    const opcode = reader.u32();
    const send_flags = reader.u32();
    const imm_data = reader.u32();
    const remote_addr = reader.u64();
    const rkey = reader.u32();
    const compare_add = reader.u64();
    const swap = reader.u64();
    const ah = this.addressOf(reader.u32());
    const remote_qpn = reader.u32();
    const remote_qkey = reader.u32();
    const { list, parts } = this.regions.entries(reader);
    const data = reader.raw(reader.u32());
    let at = 0;
    for (const entry of data.length > 0 ? list : []) {
      const { addr } = entry;
      const bytes = data.subarray(at, at + addr.length);
      at += addr.length;
      // Inline data may be anywhere.
      if (isOutside(addr)) Object.assign(entry, { addr: bytes, length: bytes.length });
      else addr.set(bytes);
    }
    const request = {
      wr_id: number,
      opcode,
      send_flags,
      imm_data,
      sg_list: (send_flags & IBV_SEND_INLINE) === 0 ? list : list.map(({ addr }) => ({ addr, lkey: 0 })),
      wr: {
        ...(ah === null ? {} : { ud: { ah, remote_qpn, remote_qkey } }),
        rdma: { remote_addr, rkey },
        atomic: { remote_addr, rkey, compare_add, swap },
      },
    } as unknown as SendRequest;
    return { request, number, parts: data.length > 0 ? [] : parts };
  }

  /** Finds an address handle; set by the session. */
  addressOf: (id: number) => object | null = () => null;

  /** C has accepted the request: the refusal becomes a completion with an error. */
  #refusedSend({ qp, cookie }: Pair, number: number, error: unknown): void {
    if (!(error instanceof SteeringError) && !(error instanceof TypeError)) throw error;
    const { code = "EINVAL" } = error as Partial<SteeringError>;
    this.#report({ call: "ibv_post_send", code, message: error.message });
    const one = qp.send_cq === null ? undefined : this.#completions.get(qp.send_cq);
    if (one === undefined) return;
    const wc = { status: IBV_WC_LOC_QP_OP_ERR, qp_num: qp.qp_num };
    one.extra.push({ wc, wr_id: number, cookie, received: 0, time: qp.device.now() });
    this.#dirty.add(one);
  }
}
