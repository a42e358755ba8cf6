/**
 * Flags that `reached` returns: the kinds of reachable actions that are stateful or random, and of
 * reachable queues that the host serves.
 */
export const REACHABLE_METER = 1;
export const REACHABLE_FLAG = 2;
export const REACHABLE_CONNECTION = 4;
export const REACHABLE_SAMPLER = 8;
export const REACHABLE_ESP = 16;
export const REACHABLE_BUFFERS = 32;
export const REACHABLE_TRANSPORT = 64;
