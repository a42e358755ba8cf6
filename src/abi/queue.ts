/**
 * Receive queues and completion queues, as far as the core needs them to decide whether a queue
 * takes a frame. The bytes of receive buffers and completions belong to the host.
 *
 *     queue:            | flags 4 | completion queue 4 | ring 4 | wrap 4 | head 4 | tail 4 | buffers 4 | QP number 4 |
 *                       | packets 8 | bytes 8 | Q_Key 4 | 0 4 |
 *     completion queue: | capacity 4 | held 4 |
 *
 * The ring holds the length of each posted receive buffer, a word each, at its number modulo `wrap`
 * + 1; head and tail count up without end. `buffers` is the queue whose ring is used: the queue
 * itself, or a shared receive queue.
 *
 * Number and Q_Key are those of a UD queue pair (assembly/out/datagram.ts).
 *
 * `packets` and `bytes` count frames that the queue took, while hits are counted (assembly/out/hits.ts).
 *
 * Both compilers read this file: numeric constants only, no imports.
 */
export const RECEIVE_FLAGS = 0;
export const RECEIVE_COMPLETIONS = 4;
export const RECEIVE_RING = 8;
export const RECEIVE_WRAP = 12;
export const RECEIVE_HEAD = 16;
export const RECEIVE_TAIL = 20;
export const RECEIVE_BUFFERS = 24;
export const RECEIVE_QP_NUMBER = 28;
export const RECEIVE_PACKETS = 32;
export const RECEIVE_Q_KEY = 48;
export const RECEIVE_SIZE = 56;

export const COMPLETION_CAPACITY = 0;
export const COMPLETION_HELD = 4;
export const COMPLETION_SIZE = 8;
