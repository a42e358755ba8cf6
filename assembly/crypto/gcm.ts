/**
 * AES-GCM (NIST SP 800-38D) for ESP (RFC 4106): a nonce of 96 bits, a tag (ICV) of 8, 12 or 16
 * bytes.
 * A packet is opened in this order: GHASH, the first group of key stream, the verdict; then the
 * other groups and the data, only if the verdict is good. A refused packet is not written.
 */
import {
  JOB_AAD,
  JOB_AAD_LENGTH,
  JOB_CIPHER,
  JOB_DATA,
  JOB_GOOD,
  JOB_ICV,
  JOB_ICV_LENGTH,
  JOB_LENGTH,
  JOB_SIZE,
} from "../../src/abi/cipher";
import { CIPHER_HASH } from "./cipherLayout";
import { expanded } from "./expanded";
import { ghash } from "./ghash";
import { ghashMany } from "./ghashMany";
import { BLOCK_SIZE } from "./planes";
import { DIGESTS, MAX_RUN, wipe } from "./scratch";
import {
  addKept,
  closeStream,
  fly,
  maskOf,
  openStream,
  orderRest,
  orderTails,
  start,
  startAlone,
  tailOf,
} from "./stream";
import { warm } from "./warm";

const SIZE: usize = JOB_SIZE;

/** Seals the packet of a job (JOB_*) in place and writes its ICV. */
export function seal(job: usize): void {
  sealRun(job, 1);
}

/**
 * Opens the packet of a job (JOB_*) in place. If the ICV is wrong, the result is false and the
 * packet is unchanged.
 */
export function open(job: usize): bool {
  openRun(job, 1);
  return load<u8>(job, JOB_GOOD) != 0;
}

/** Seals packets. Consecutive packets of one cipher are sealed together, which is faster. */
export function sealMany(jobs: usize, count: u32): void {
  const end = jobs + <usize>count * SIZE;
  while (jobs < end) {
    const run = runOf(jobs, end);
    sealRun(jobs, run);
    jobs += run * SIZE;
  }
}

/** Opens packets. JOB_GOOD of each job says whether its ICV was right. */
export function openMany(jobs: usize, count: u32): void {
  const end = jobs + <usize>count * SIZE;
  while (jobs < end) {
    const run = runOf(jobs, end);
    openRun(jobs, run);
    jobs += run * SIZE;
  }
}

/** The number of jobs, from the first on, with the cipher of the first. */
function runOf(jobs: usize, end: usize): usize {
  const cipher = load<u32>(jobs, JOB_CIPHER);
  let run: usize = 1;
  for (let job = jobs + SIZE; job < end && run < MAX_RUN && load<u32>(job, JOB_CIPHER) == cipher; job += SIZE) run++;
  return run;
}

function sealRun(jobs: usize, count: usize): void {
  const end = jobs + count * SIZE;
  const cipher = expanded(load<u32>(jobs, JOB_CIPHER));
  warm(cipher);
  openStream(cipher);
  const tails = startRun(jobs, count, true);
  fly();
  let tail: usize = 0;
  for (let job = jobs, n: usize = 0; job < end; job += SIZE, n++) {
    addKept(job, n, tail);
    tail += tailOf(job);
  }
  digest(cipher, jobs, count);
  tail = 0;
  for (let job = jobs, n: usize = 0; job < end; job += SIZE, n++) {
    writeIcv(job, tagOf(job, n, tail));
    tail += tailOf(job);
  }
  closeRun(count, tails);
}

function openRun(jobs: usize, count: usize): void {
  const end = jobs + count * SIZE;
  const cipher = expanded(load<u32>(jobs, JOB_CIPHER));
  warm(cipher);
  digest(cipher, jobs, count);
  openStream(cipher);
  const tails = startRun(jobs, count, false);
  fly();
  let tail: usize = 0;
  for (let job = jobs, n: usize = 0; job < end; job += SIZE, n++) {
    // Only the verdict branches on a secret. It becomes public when it is written, and is read back
    // from there (docs/constant-time.md).
    store<u8>(job, <u8>isIcv(job, tagOf(job, n, tail)), JOB_GOOD);
    if (load<u8>(job, JOB_GOOD) != 0) {
      addKept(job, n, tail);
      orderRest(job);
    }
    tail += tailOf(job);
  }
  fly();
  closeRun(count, tails);
}

/**
 * Orders the stored key stream of all packets; with `wanted`, all their key stream. Returns the
 * number of tail blocks.
 */
function startRun(jobs: usize, count: usize, wanted: bool): usize {
  if (count == 1) {
    startAlone(jobs, wanted);
    return tailOf(jobs);
  }
  let tail: usize = 0;
  for (let n: usize = 0; n < count; n++) {
    const job = jobs + n * SIZE;
    start(job, n, tail);
    if (wanted) orderRest(job);
    tail += tailOf(job);
  }
  orderTails(tail);
  return tail;
}

function closeRun(count: usize, tails: usize): void {
  closeStream(count, tails);
  wipe(DIGESTS, count * BLOCK_SIZE);
}

/** Computes GHASH of the packets, at DIGESTS. */
function digest(cipher: usize, jobs: usize, count: usize): void {
  const hash = cipher + CIPHER_HASH;
  if (count > 1) {
    ghashMany(hash, jobs, <u32>count, DIGESTS);
    return;
  }
  ghash(
    hash,
    load<u32>(jobs, JOB_AAD),
    load<u16>(jobs, JOB_AAD_LENGTH),
    load<u32>(jobs, JOB_DATA),
    load<u32>(jobs, JOB_LENGTH),
    DIGESTS,
  );
}

// @ts-ignore: decorator
@inline
function tagOf(job: usize, n: usize, tail: usize): v128 {
  return v128.xor(v128.load(DIGESTS + n * BLOCK_SIZE), v128.load(maskOf(job, n, tail)));
}

function writeIcv(job: usize, tag: v128): void {
  const icv: usize = load<u32>(job, JOB_ICV);
  const length = load<u8>(job, JOB_ICV_LENGTH);
  if (length == 16) {
    v128.store(icv, tag);
    return;
  }
  store<u64>(icv, i64x2.extract_lane(tag, 0));
  if (length == 12) store<u32>(icv, i32x4.extract_lane(tag, 2), 8);
}

function isIcv(job: usize, tag: v128): bool {
  const icv: usize = load<u32>(job, JOB_ICV);
  const length = load<u8>(job, JOB_ICV_LENGTH);
  if (length == 16) return !v128.any_true(v128.xor(v128.load(icv), tag));
  const first: u64 = load<u64>(icv) ^ i64x2.extract_lane(tag, 0);
  const last: i32 = length == 12 ? load<i32>(icv, 8) ^ i32x4.extract_lane(tag, 2) : 0;
  return (first | (<u64>last)) == 0;
}
