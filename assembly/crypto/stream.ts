/**
 * The key stream of packets (NIST SP 800-38D, section 6.5): encrypted blocks of a nonce and a
 * counter. Counter 1 is for the tag; data begins with counter 2.
 *
 *     counters  | 1 .. 8 | 9 .. 16 | ... | 8 g + 1 .. 8 g + 8 |  tail: up to 8  |
 *     group         0         1                   g
 * The first group is stored until the verdict on its packet is known; later groups are added to the
 * data at once. A tail is the blocks that do not fill a group. The tails of all packets of a run
 * are consecutive (`TAILS`) and run the rounds together. Short packets have only a tail.
 * States wait at STATES until FLIGHT of them run the rounds together.
 */
import { JOB_DATA, JOB_LENGTH, JOB_NONCE } from "../../src/abi/cipher";
import { CIPHER_ROUND_KEYS, CIPHER_ROUNDS } from "./cipherLayout";
import { endsPage, pageOf, quadOf, setGroup, setPage, setQuad } from "./counters";
import { addBlocks, BLOCK_SIZE, GROUP_SIZE, toPlanes, ZEROS } from "./planes";
import { firstRound, otherRounds, secondRound } from "./rounds";
import { COUNTERS, FIRST_ROUND, FIRSTS, FLIGHT, STATES, TAILS, WAY_SIZE, WAYS, wipe } from "./scratch";

namespace Stream {
  export let cipher: usize = 0;
  /** The number of waiting states. */
  export let waiting: usize = 0;
  /** The packet, page and quad of the shared parts of first rounds (counters.ts). */
  export let job: usize = 0;
  export let page: u32 = 0;
  export let quad: u32 = 0;
  /** The largest number of states in one flight. */
  export let most: usize = 0;
}

export function openStream(cipher: usize): void {
  Stream.cipher = cipher;
  Stream.waiting = 0;
  Stream.job = 0;
  Stream.most = 0;
}

/** The number of whole groups: each of their blocks is for the tag or for 16 bytes of data. */
// @ts-ignore: decorator
@inline
function groupsOf(job: usize): u32 {
  return (load<u32>(job, JOB_LENGTH) + <u32>BLOCK_SIZE) / <u32>GROUP_SIZE;
}

/** The number of blocks after the whole groups, at most 8. */
// @ts-ignore: decorator
@inline
export function tailOf(job: usize): u32 {
  const blocks = 1 + (load<u32>(job, JOB_LENGTH) + 15) / 16;
  return blocks - 8 * groupsOf(job);
}

/**
 * The address of the first block of key stream, for the tag of packet `n`. The tail of the packet
 * follows `tail` blocks of other tails.
 */
// @ts-ignore: decorator
@inline
export function maskOf(job: usize, n: usize, tail: usize): usize {
  return groupsOf(job) == 0 ? TAILS + tail * BLOCK_SIZE : FIRSTS + n * GROUP_SIZE;
}

/** Orders the first group of a single packet, its tail, and with `rest` the groups between them. */
export function startAlone(job: usize, rest: bool): void {
  const groups = groupsOf(job);
  if (groups > 0) orderGroup(job, 0, ZEROS, FIRSTS);
  if (rest) orderRest(job);
  if (tailOf(job) > 0) orderGroup(job, groups, ZEROS, TAILS);
}

/** Orders the first group of packet `n`, and lists its tail. */
export function start(job: usize, n: usize, tail: usize): void {
  const groups = groupsOf(job);
  if (groups > 0) orderGroup(job, 0, ZEROS, FIRSTS + n * GROUP_SIZE);
  listCounters(job, 8 * groups + 1, tailOf(job), TAILS + tail * BLOCK_SIZE);
}

/** Orders the groups of all tails, `blocks` blocks. */
export function orderTails(blocks: usize): void {
  for (let at: usize = 0; at < blocks * BLOCK_SIZE; at += GROUP_SIZE) orderBlocks(TAILS + at, ZEROS, TAILS + at);
}

/** Orders the groups between the first and the tail. */
export function orderRest(job: usize): void {
  const groups = groupsOf(job);
  const data: usize = load<u32>(job, JOB_DATA);
  for (let group: u32 = 1; group < groups; group++) {
    const at = data + <usize>group * GROUP_SIZE - BLOCK_SIZE;
    orderGroup(job, group, at, at);
  }
}

/**
 * Orders the encryption of eight blocks in their present state. At the end of the flight they are
 * added to those at `from` and stored at `to`.
 */
export function orderBlocks(blocks: usize, from: usize, to: usize): void {
  const state = STATES + Stream.waiting * GROUP_SIZE;
  toPlanes(blocks, Stream.cipher + CIPHER_ROUND_KEYS, state);
  firstRound(Stream.cipher, state);
  secondRound(Stream.cipher, state);
  order(from, to);
}

/** Orders the encryption of the blocks of a group of counters. */
function orderGroup(job: usize, group: u32, from: usize, to: usize): void {
  // Shared parts pay off from two groups on.
  if (endsPage(group) || groupsOf(job) < 2) {
    listCounters(job, 8 * group + 1, 8, COUNTERS);
    orderBlocks(COUNTERS, from, to);
    // The salt in a nonce is part of the key (RFC 4106, 8.1).
    wipe(COUNTERS, GROUP_SIZE);
    return;
  }
  const quad = quadOf(group);
  if (Stream.job != job || Stream.quad != quad) {
    const page = pageOf(group);
    if (Stream.job != job || Stream.page != page) setPage(Stream.cipher, job, page);
    setQuad(Stream.cipher, quad);
    Stream.job = job;
    Stream.page = page;
    Stream.quad = quad;
  }
  setGroup(group, STATES + Stream.waiting * GROUP_SIZE);
  order(from, to);
}

function listCounters(job: usize, first: u32, count: u32, to: usize): void {
  const nonce = v128.load(job, JOB_NONCE);
  for (let i: u32 = 0; i < count; i++) {
    v128.store(to + <usize>i * BLOCK_SIZE, i32x4.replace_lane(nonce, 3, bswap<u32>(first + i)));
  }
}

// @ts-ignore: decorator
@inline
function order(from: usize, to: usize): void {
  const way = WAYS + Stream.waiting * WAY_SIZE;
  store<u32>(way, <u32>from, 0);
  store<u32>(way, <u32>to, 4);
  if (++Stream.waiting == FLIGHT) fly();
}

/** Runs the rounds of the waiting states. */
export function fly(): void {
  const rounds = load<u32>(Stream.cipher, CIPHER_ROUNDS);
  otherRounds(Stream.cipher, STATES, STATES + Stream.waiting * GROUP_SIZE);
  for (let i: usize = 0; i < Stream.waiting; i++) {
    const way = WAYS + i * WAY_SIZE;
    addBlocks(STATES + i * GROUP_SIZE, rounds, load<u32>(way, 0), load<u32>(way, 4));
  }
  Stream.most = max(Stream.most, Stream.waiting);
  Stream.waiting = 0;
}

/** Adds the stored key stream of a packet to its data: the first group and the tail. */
export function addKept(job: usize, n: usize, tail: usize): void {
  const groups: usize = groupsOf(job);
  const data: usize = load<u32>(job, JOB_DATA);
  const length: usize = load<u32>(job, JOB_LENGTH);
  const kept = TAILS + tail * BLOCK_SIZE;
  if (groups == 0) {
    addBytes(data, kept + BLOCK_SIZE, length);
    return;
  }
  const done = groups * GROUP_SIZE - BLOCK_SIZE;
  addBytes(data, FIRSTS + n * GROUP_SIZE + BLOCK_SIZE, GROUP_SIZE - BLOCK_SIZE);
  addBytes(data + done, kept, length - done);
}

/** Adds `length` bytes and accesses no others. */
function addBytes(data: usize, bytes: usize, length: usize): void {
  let at: usize = 0;
  for (; at + 16 <= length; at += 16) v128.store(data + at, v128.xor(v128.load(data + at), v128.load(bytes + at)));
  if ((length & 8) != 0) {
    store<u64>(data + at, load<u64>(data + at) ^ load<u64>(bytes + at));
    at += 8;
  }
  if ((length & 4) != 0) {
    store<u32>(data + at, load<u32>(data + at) ^ load<u32>(bytes + at));
    at += 4;
  }
  for (; at < length; at++) store<u8>(data + at, load<u8>(data + at) ^ load<u8>(bytes + at));
}

/** Overwrites the stored key stream of `packets` packets and `tails` blocks of tails. */
export function closeStream(packets: usize, tails: usize): void {
  wipe(STATES, Stream.most * GROUP_SIZE);
  if (Stream.job != 0) wipe(FIRST_ROUND, 4 * GROUP_SIZE);
  wipe(FIRSTS, packets * GROUP_SIZE);
  wipe(TAILS, ((tails + 7) / 8) * GROUP_SIZE);
}
