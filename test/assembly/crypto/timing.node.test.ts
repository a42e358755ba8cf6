/**
 * Times of the ciphers, as dudect compares them: two kinds of secrets drawn at random one after the other, and Welch's t over
 * what is left without the slowest tenth. Only where FLOWSTEER_TIMING=1: it takes a machine that is not too busy.
 */
import { beforeAll, describe, expect, test } from "vitest";
import release from "../../../build/release/core.wasm";
import {
  JOB_AAD,
  JOB_AAD_LENGTH,
  JOB_CIPHER,
  JOB_DATA,
  JOB_ICV,
  JOB_ICV_LENGTH,
  JOB_LENGTH,
  JOB_SIZE,
} from "../../../src/abi/cipher.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/frame.js";
import { seedFor } from "../support/core.js";
import { cipherOf } from "./support/packets.js";

const SAMPLES = 40_000;
/** Calls of one sample. */
const CALLS = 8;
/** Where dudect says that times surely differ. */
const SURELY = 10;
const AAD = 8;
const DATA = 256;
const ICV = 16;

let core: Core;
const random = new Random(seedFor("timing"));

function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

/** Welch's t of the times of two kinds of input. Each kind is made ready, then `work` is timed. */
function welch(ready: (kind: number) => void, work: () => void): number {
  const samples: { kind: number; time: number }[] = [];
  for (let n = -SAMPLES / 10; n < SAMPLES; n++) {
    const kind = random.below(2);
    ready(kind);
    const start = process.hrtime.bigint();
    for (let call = 0; call < CALLS; call++) work();
    const time = Number(process.hrtime.bigint() - start);
    if (n >= 0) samples.push({ kind, time });
  }
  const limit = samples.map(({ time }) => time).sort((a, b) => a - b)[Math.floor(SAMPLES * 0.9)]!;
  const [a, b] = [0, 1].map((wanted) => {
    const times = samples.filter(({ kind, time }) => kind === wanted && time < limit).map(({ time }) => time);
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1);
    return { mean, error: variance / times.length };
  }) as [{ mean: number; error: number }, { mean: number; error: number }];
  const t = (a.mean - b.mean) / Math.sqrt(a.error + b.error);
  console.log(`${expect.getState().currentTestName}: t = ${t.toFixed(2)}`);
  return Math.abs(t);
}

function layOut(cipher: number): { data: number; icv: number } {
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

describe.runIf(process.env["FLOWSTEER_TIMING"] === "1")("Times do not tell", () => {
  const fixed = new Uint8Array(DATA);

  beforeAll(async () => {
    core = await loadOpenCore(release);
  });

  test("data", () => {
    const { data } = layOut(cipherOf(core, bytes(16)));
    const ready = (kind: number): void => core.u8.set([fixed, bytes(DATA)][kind]!, data);
    expect(welch(ready, () => core.exports.seal(core.jobs))).toBeLessThan(SURELY);
  });

  test("keys", () => {
    const cipher = cipherOf(core, bytes(32));
    layOut(cipher);
    const ready = (kind: number): void => core.u8.set([fixed.subarray(0, 32), bytes(32)][kind]!, core.staging);
    expect(welch(ready, () => core.exports.setCipherKey(cipher, core.staging, 32))).toBeLessThan(SURELY);
  });

  test("where a wrong ICV is wrong", () => {
    const { icv } = layOut(cipherOf(core, bytes(16)));
    core.exports.seal(core.jobs);
    const good = core.u8.slice(icv, icv + ICV);
    const ready = (kind: number): void => {
      core.u8.set(good, icv);
      const at = icv + kind * (ICV - 1);
      core.u8[at] = core.u8[at]! ^ 1;
    };
    expect(welch(ready, () => core.exports.open(core.jobs))).toBeLessThan(SURELY);
  });

  // Lengths are no secret, and a block more takes longer.
  test("but the comparison tells where they differ", () => {
    const { data } = layOut(cipherOf(core, bytes(16)));
    const view = new DataView(core.u8.buffer);
    const ready = (kind: number): void => view.setUint32(core.jobs + JOB_LENGTH, kind === 0 ? DATA : DATA + 16, true);
    core.u8.set(fixed, data);
    expect(welch(ready, () => core.exports.seal(core.jobs))).toBeGreaterThan(SURELY);
  });
});
