/**
 * Receive queues and completion queues, as far as the core needs them to decide whether a queue
 * takes a frame (src/abi/queue.ts). The bytes of receive buffers and completions belong to the host.
 */
import {
  NO_REQUEST,
  QUEUE_DATAGRAMS,
  QUEUE_READ,
  QUEUE_READY,
  QUEUE_SINK,
  REACHABLE_BUFFERS,
  REACHABLE_TRANSPORT,
} from "../../src/abi/engine";
import { Reason } from "../../src/abi/outcome";
import {
  COMPLETION_CAPACITY,
  COMPLETION_HELD,
  COMPLETION_SIZE,
  RECEIVE_BUFFERS,
  RECEIVE_COMPLETIONS,
  RECEIVE_FLAGS,
  RECEIVE_HEAD,
  RECEIVE_PACKETS,
  RECEIVE_Q_KEY,
  RECEIVE_QP_NUMBER,
  RECEIVE_RING,
  RECEIVE_SIZE,
  RECEIVE_TAIL,
  RECEIVE_WRAP,
} from "../../src/abi/queue";
import { allocate, release } from "../arena";
import { StateKind } from "../../src/abi/trace";
import { noteState } from "../branch/events";

/** Allocates a completion queue for `capacity` completions; 0 when memory is full. */
export function createCompletionQueue(capacity: u32): usize {
  const queue = allocate(<u32>COMPLETION_SIZE);
  if (queue == 0) return 0;
  store<u32>(queue, capacity, COMPLETION_CAPACITY);
  store<u32>(queue, 0, COMPLETION_HELD);
  return queue;
}

/** Changes how many completions a queue holds; it must hold no more already. */
export function resizeCompletionQueue(queue: usize, capacity: u32): void {
  store<u32>(queue, capacity, COMPLETION_CAPACITY);
}

/** Frees a completion queue. */
export function destroyCompletionQueue(queue: usize): void {
  release(queue, <u32>COMPLETION_SIZE);
}

/**
 * Counts a completion that the host made (a flushed request). The count may pass the capacity; the
 * queue is full then.
 */
export function holdCompletion(queue: usize): void {
  store<u32>(queue, load<u32>(queue, COMPLETION_HELD) + 1, COMPLETION_HELD);
}

/** Counts `count` completions that the host took. */
export function takeCompletions(queue: usize, count: u32): void {
  store<u32>(queue, load<u32>(queue, COMPLETION_HELD) - count, COMPLETION_HELD);
}

/**
 * Allocates a queue with room for `depth` posted buffers (a power of two, 0 for a sink); 0 when
 * memory is full.
 */
export function createQueue(flags: u32, completions: usize, depth: u32): usize {
  const queue = allocate(<u32>RECEIVE_SIZE);
  if (queue == 0) return 0;
  const ring = depth == 0 ? <usize>0 : allocate(depth * 4);
  if (depth != 0 && ring == 0) {
    release(queue, <u32>RECEIVE_SIZE);
    return 0;
  }
  memory.fill(queue + RECEIVE_PACKETS, 0, 16);
  store<u32>(queue, flags, RECEIVE_FLAGS);
  store<u32>(queue, <u32>completions, RECEIVE_COMPLETIONS);
  store<u32>(queue, <u32>ring, RECEIVE_RING);
  store<u32>(queue, depth - 1, RECEIVE_WRAP);
  store<u32>(queue, 0, RECEIVE_HEAD);
  store<u32>(queue, 0, RECEIVE_TAIL);
  store<u32>(queue, <u32>queue, RECEIVE_BUFFERS);
  return queue;
}

/** Lets a queue take buffers from the ring of `shared`. */
export function shareBuffers(queue: usize, shared: usize): void {
  store<u32>(queue, <u32>shared, RECEIVE_BUFFERS);
}

/**
 * Gives the ring of a queue room for `depth` posted buffers (a power of two, not below the number of
 * those that wait). @returns false when memory is full; nothing has changed then
 */
export function resizeQueue(queue: usize, depth: u32): bool {
  const ring = allocate(depth * 4);
  if (ring == 0) return false;
  const old: usize = load<u32>(queue, RECEIVE_RING);
  const wrap = load<u32>(queue, RECEIVE_WRAP);
  const tail = load<u32>(queue, RECEIVE_TAIL);
  for (let i = load<u32>(queue, RECEIVE_HEAD); i != tail; i++) {
    store<u32>(ring + ((<usize>(i & (depth - 1))) << 2), load<u32>(old + ((<usize>(i & wrap)) << 2)));
  }
  // Unreached: a queue that is resized has a ring.
  if (old != 0) release(old, (wrap + 1) * 4);
  store<u32>(queue, <u32>ring, RECEIVE_RING);
  store<u32>(queue, depth - 1, RECEIVE_WRAP);
  return true;
}

/** Takes the oldest buffer of a queue for the host: the number of the receive request, or NO_REQUEST. */
export function takeBuffer(queue: usize): u32 {
  const head = load<u32>(queue, RECEIVE_HEAD);
  // Unreached: frames of a burst have taken the last request, the host has not read them, and a
  // message arrives.
  if (head == load<u32>(queue, RECEIVE_TAIL)) return <u32>NO_REQUEST;
  store<u32>(queue, head + 1, RECEIVE_HEAD);
  return head;
}

/** Frees a queue. */
export function destroyQueue(queue: usize): void {
  const ring: usize = load<u32>(queue, RECEIVE_RING);
  if (ring != 0) release(ring, (load<u32>(queue, RECEIVE_WRAP) + 1) * 4);
  release(queue, <u32>RECEIVE_SIZE);
}

/** Sets the flags of a queue: QUEUE_*. */
export function setQueueFlags(queue: usize, flags: u32): void {
  store<u32>(queue, flags, RECEIVE_FLAGS);
}

/** Sets the number and the Q_Key with which datagrams for a UD queue pair are compared. */
export function setDatagrams(queue: usize, number: u32, qkey: u32): void {
  store<u32>(queue, number, RECEIVE_QP_NUMBER);
  store<u32>(queue, qkey, RECEIVE_Q_KEY);
}

/** Whether the queue checks datagrams: a UD queue pair that receives. */
// @ts-ignore: decorator
@inline
export function checksDatagrams(queue: usize): bool {
  return (load<u32>(queue, RECEIVE_FLAGS) & QUEUE_DATAGRAMS) != 0;
}

/** Whether arriving frames need the host: the queue has receive buffers, or the host reads it. */
// @ts-ignore: decorator
@inline
export function isServed(queue: usize): bool {
  return (load<u32>(queue, RECEIVE_FLAGS) & (QUEUE_SINK | QUEUE_READ)) != QUEUE_SINK;
}

/**
 * How arriving frames need the host, for the queue as it is now: REACHABLE_BUFFERS,
 * REACHABLE_TRANSPORT, or 0.
 */
export function servedBy(queue: usize): u32 {
  const flags = load<u32>(queue, RECEIVE_FLAGS);
  if (!(flags & QUEUE_READY)) return 0;
  if (flags & QUEUE_READ) return REACHABLE_TRANSPORT;
  return flags & QUEUE_SINK ? 0 : REACHABLE_BUFFERS;
}

/** Removes all posted buffers, as a reset of the queue pair does. */
export function clearQueue(queue: usize): void {
  store<u32>(queue, load<u32>(queue, RECEIVE_TAIL), RECEIVE_HEAD);
}

/** Posts a buffer of `length` bytes. The ring must have room. */
export function postBuffer(queue: usize, length: u32): void {
  const tail = load<u32>(queue, RECEIVE_TAIL);
  store<u32>(<usize>load<u32>(queue, RECEIVE_RING) + ((<usize>(tail & load<u32>(queue, RECEIVE_WRAP))) << 2), length);
  store<u32>(queue, tail + 1, RECEIVE_TAIL);
}

export namespace Taken {
  /** Number of the receive request that the last accepted frame used. */
  export let request: u32 = 0;
}

/**
 * Whether a queue takes a frame of `length` bytes: Reason.none, or the reason why not. SPEC: a
 * buffer that is too short is used up and completes with IBV_WC_LOC_LEN_ERR; the queue pair stays
 * as it is.
 */
export function take(queue: usize, length: u32): u32 {
  const flags = load<u32>(queue, RECEIVE_FLAGS);
  if (!(flags & QUEUE_READY)) return Reason.queue_not_ready;
  if (flags & QUEUE_SINK) return Reason.none;
  const buffers: usize = load<u32>(queue, RECEIVE_BUFFERS);
  const head = load<u32>(buffers, RECEIVE_HEAD);
  if (head == load<u32>(buffers, RECEIVE_TAIL)) return Reason.no_receive_buffer;
  const completions: usize = load<u32>(queue, RECEIVE_COMPLETIONS);
  const held = load<u32>(completions, COMPLETION_HELD);
  // MODEL: a full completion queue drops the frame and keeps the buffer; a device would break the queue.
  if (held >= load<u32>(completions, COMPLETION_CAPACITY)) return Reason.completion_queue_full;
  const room = load<u32>(
    <usize>load<u32>(buffers, RECEIVE_RING) + ((<usize>(head & load<u32>(buffers, RECEIVE_WRAP))) << 2),
  );
  if (TRACED) {
    noteState(StateKind.completion_queue, completions + COMPLETION_HELD, 4);
    noteState(StateKind.queue, buffers + RECEIVE_HEAD, 4);
  }
  store<u32>(completions, held + 1, COMPLETION_HELD);
  store<u32>(buffers, head + 1, RECEIVE_HEAD);
  Taken.request = head;
  return length > room ? Reason.receive_buffer_too_short : Reason.none;
}
