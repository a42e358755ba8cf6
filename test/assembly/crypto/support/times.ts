/**
 * Times of the ciphers, as dudect compares them: two kinds of secrets drawn at random one after the other, and Welch's t over
 * what is left without the slowest tenth.
 */
import {
  JOB_AAD,
  JOB_AAD_LENGTH,
  JOB_CIPHER,
  JOB_DATA,
  JOB_ICV,
  JOB_ICV_LENGTH,
  JOB_LENGTH,
  JOB_SIZE,
} from "../../../../src/abi/cipher.js";
import type { Core } from "../../../../src/engine/core.js";
import type { Random } from "../../../oracle/generate/random.js";
import { cipherOf } from "./packets.js";

/** Where dudect says that times surely differ. */
export const SURELY = 10;
/** Calls of one sample. */
const CALLS = 8;
const AAD = 8;
const DATA = 256;
const ICV = 16;
/** The longest key. */
const KEY = 32;
const FIXED = new Uint8Array(DATA);

/** What times could tell. */
export type Secret = "data" | "keys" | "where a wrong ICV is wrong" | "lengths";

/** Welch's t of the times of two kinds of a secret. Of lengths, which are none, it is large. */
export function timesOf(core: Core, random: Random, secret: Secret, samples: number): number {
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.below(256));
  const cipher = cipherOf(core, bytes(secret === "keys" ? KEY : 16));
  const { data, icv } = layOut(core, cipher);
  const { exports } = core;
  try {
    switch (secret) {
      case "data": {
        const ready = (kind: number): void => core.u8.set([FIXED, bytes(DATA)][kind]!, data);
        return welch(random, samples, ready, () => exports.seal(core.jobs));
      }
      case "keys": {
        const ready = (kind: number): void => core.u8.set([FIXED.subarray(0, KEY), bytes(KEY)][kind]!, core.staging);
        return welch(random, samples, ready, () => exports.setCipherKey(cipher, core.staging, KEY));
      }
      case "where a wrong ICV is wrong": {
        exports.seal(core.jobs);
        const good = core.u8.slice(icv, icv + ICV);
        const ready = (kind: number): void => {
          core.u8.set(good, icv);
          core.u8[icv + kind * (ICV - 1)]! ^= 1;
        };
        return welch(random, samples, ready, () => exports.open(core.jobs));
      }
      case "lengths": {
        core.u8.set(FIXED, data);
        const words = core.u32;
        const ready = (kind: number): void => void (words[(core.jobs + JOB_LENGTH) >> 2] = DATA + 16 * kind);
        return welch(random, samples, ready, () => exports.seal(core.jobs));
      }
    }
  } finally {
    exports.releaseCipher(cipher);
  }
}

/** Each kind is made ready, then `work` is timed. */
function welch(random: Random, samples: number, ready: (kind: number) => void, work: () => void): number {
  const all: { kind: number; time: number }[] = [];
  for (let n = -samples / 10; n < samples; n++) {
    const kind = random.below(2);
    ready(kind);
    const start = process.hrtime.bigint();
    for (let call = 0; call < CALLS; call++) work();
    const time = Number(process.hrtime.bigint() - start);
    if (n >= 0) all.push({ kind, time });
  }
  const limit = all.map(({ time }) => time).sort((a, b) => a - b)[Math.floor(samples * 0.9)]!;
  const [a, b] = [0, 1].map((wanted) => {
    const times = all.filter(({ kind, time }) => kind === wanted && time < limit).map(({ time }) => time);
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1);
    return { mean, error: variance / times.length };
  }) as [{ mean: number; error: number }, { mean: number; error: number }];
  return Math.abs((a.mean - b.mean) / Math.sqrt(a.error + b.error));
}

function layOut(core: Core, cipher: number): { data: number; icv: number } {
  const job = new DataView(new ArrayBuffer(JOB_SIZE));
  const data = core.bytes + AAD;
  job.setUint32(JOB_CIPHER, cipher, true);
  job.setUint32(JOB_AAD, core.bytes, true);
  job.setUint16(JOB_AAD_LENGTH, AAD, true);
  job.setUint32(JOB_DATA, data, true);
  job.setUint32(JOB_LENGTH, DATA, true);
  job.setUint32(JOB_ICV, data + DATA, true);
  job.setUint8(JOB_ICV_LENGTH, ICV);
  core.u8.set(new Uint8Array(job.buffer), core.jobs);
  return { data, icv: data + DATA };
}
