/** What `reached` gives: what frames can come to that remembers, is left to chance, or that the host serves. */
export const REACHES_METER = 1;
export const REACHES_FLAG = 2;
export const REACHES_CONNECTION = 4;
export const REACHES_SAMPLER = 8;
export const REACHES_ESP = 16;
export const REACHES_BUFFERS = 32;
export const REACHES_TRANSPORT = 64;
