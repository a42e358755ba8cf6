/**
 * Packets of one length in the core's memory, sealed and opened in place; the same packets for the
 * peers.
 */
import {
  JOB_AAD,
  JOB_AAD_LENGTH,
  JOB_CIPHER,
  JOB_DATA,
  JOB_ICV,
  JOB_ICV_LENGTH,
  JOB_LENGTH,
  JOB_NONCE,
  JOB_SIZE,
} from "../../src/abi/cipher.js";
import type { Core } from "../../src/engine/core.js";
import { cpuSeconds, expectEqual } from "../workload.js";
import type { GcmPeer, Sealed } from "../peers/gcm.js";
import { numbers } from "../random.js";

/** As many as fit at the greatest length. */
export const PACKETS = 256;
export const KEY_LENGTH = 16;
const AAD_LENGTH = 8;
const ICV_LENGTH = 16;
/** Packets that are compared before timing. */
const CHECKED = 40;

export function bytesOf(seed: number, length: number): Uint8Array {
  const next = numbers(seed);
  return Uint8Array.from({ length }, () => next() & 0xff);
}

/** A cipher of the key that belongs to a number. */
export function keyOf(n: number): Uint8Array {
  return bytesOf(0x5eed + n, KEY_LENGTH);
}

export function createCipher(core: Core, key: Uint8Array): number {
  core.u8.set(key, core.staging);
  return core.exports.createCipher(core.staging, key.length) >>> 0;
}

export class Packets {
  readonly #core: Core;
  readonly #length: number;
  readonly #stride: number;
  readonly #plain: Uint8Array[] = [];
  readonly #nonces: Uint8Array[] = [];
  readonly #aads: Uint8Array[] = [];

  constructor(core: Core, cipher: number, length: number) {
    this.#core = core;
    this.#length = length;
    // Frames are consecutive with room before each, at addresses that ESP headers make odd.
    this.#stride = ((length + AAD_LENGTH + ICV_LENGTH + 128 + 63) & ~63) + 4;
    if (!core.openRows(PACKETS) || !core.openBytes(PACKETS * this.#stride)) throw new Error("no memory for packets");
    const { u8 } = core;
    const view = new DataView(u8.buffer);
    for (let n = 0; n < PACKETS; n++) {
      this.#plain.push(bytesOf(n, length));
      this.#nonces.push(bytesOf(1000 + n, 12));
      this.#aads.push(bytesOf(2000 + n, AAD_LENGTH));
      const job = this.#job(n);
      const data = this.#data(n);
      u8.fill(0, job, job + JOB_SIZE);
      u8.set(this.#aads[n]!, data - AAD_LENGTH);
      u8.set(this.#plain[n]!, data);
      u8.set(this.#nonces[n]!, job + JOB_NONCE);
      view.setUint32(job + JOB_CIPHER, cipher, true);
      view.setUint32(job + JOB_DATA, data, true);
      view.setUint32(job + JOB_LENGTH, length, true);
      view.setUint32(job + JOB_ICV, data + length, true);
      view.setUint32(job + JOB_AAD, data - AAD_LENGTH, true);
      view.setUint16(job + JOB_AAD_LENGTH, AAD_LENGTH, true);
      view.setUint8(job + JOB_ICV_LENGTH, ICV_LENGTH);
    }
  }

  #job(n: number): number {
    return this.#core.jobs + n * JOB_SIZE;
  }

  #data(n: number): number {
    return this.#core.bytes + AAD_LENGTH + n * this.#stride;
  }

  #sealed(n: number): Sealed {
    const at = this.#data(n);
    const end = at + this.#length;
    return { data: this.#core.u8.slice(at, end), icv: this.#core.u8.slice(end, end + ICV_LENGTH) };
  }

  /** Encrypts all packets, the given number per call. */
  seal(batch: number): void {
    const { exports, jobs } = this.#core;
    if (batch === 1) for (let n = 0; n < PACKETS; n++) exports.seal(jobs + n * JOB_SIZE);
    else for (let n = 0; n < PACKETS; n += batch) exports.sealMany(jobs + n * JOB_SIZE, batch);
  }

  open(batch: number): void {
    const { exports, jobs } = this.#core;
    if (batch === 1) for (let n = 0; n < PACKETS; n++) exports.open(jobs + n * JOB_SIZE);
    else for (let n = 0; n < PACKETS; n += batch) exports.openMany(jobs + n * JOB_SIZE, batch);
  }

  /** Encrypts all packets, one per call, each with the next of `ciphers`. */
  sealBy(ciphers: Uint32Array, from: number): void {
    const { exports, jobs, u32 } = this.#core;
    for (let n = 0; n < PACKETS; n++) {
      const job = jobs + n * JOB_SIZE;
      u32[(job + JOB_CIPHER) >> 2] = ciphers[(from + n) % ciphers.length]!;
      exports.seal(job);
    }
  }

  /** CPU seconds of decrypting all packets repeatedly, without the encryptions between. */
  openSeconds(batch: number, times: number): number {
    this.#reset();
    let seconds = 0;
    for (let i = 0; i < times; i++) {
      this.seal(32);
      const start = cpuSeconds();
      this.open(batch);
      seconds += cpuSeconds() - start;
    }
    return seconds;
  }

  #reset(): void {
    for (let n = 0; n < PACKETS; n++) this.#core.u8.set(this.#plain[n]!, this.#data(n));
  }

  sealByPeer(peer: GcmPeer): void {
    for (let n = 0; n < PACKETS; n++) peer.seal(this.#nonces[n]!, this.#aads[n]!, this.#plain[n]!);
  }

  /** Opens all packets by a peer, as it has sealed them itself. */
  opener(peer: GcmPeer): () => void {
    const sealed = this.#plain.map((data, n) => peer.seal(this.#nonces[n]!, this.#aads[n]!, data));
    return () => {
      for (let n = 0; n < PACKETS; n++) peer.open(this.#nonces[n]!, this.#aads[n]!, sealed[n]!);
    };
  }

  /** Throws unless core and peer give the same packets in both directions. */
  check(peer: GcmPeer): void {
    for (const batch of [1, 32]) {
      this.#reset();
      this.seal(batch);
      for (let n = 0; n < CHECKED; n++) {
        const theirs = peer.seal(this.#nonces[n]!, this.#aads[n]!, this.#plain[n]!);
        const ours = this.#sealed(n);
        const what = `packet ${n} of ${this.#length} bytes`;
        expectEqual(what, [[...ours.data], [...ours.icv]], [[...theirs.data], [...theirs.icv]]);
        expectEqual(what, [...this.#plain[n]!], [...peer.open(this.#nonces[n]!, this.#aads[n]!, theirs)]);
      }
      this.open(batch);
      for (let n = 0; n < CHECKED; n++) {
        expectEqual(`packet ${n}, opened`, [...this.#sealed(n).data], [...this.#plain[n]!]);
      }
    }
  }
}
