/** Packets through the ciphers of a core, as the tests of test/engine/crypto make them. */
import {
  JOB_AAD,
  JOB_AAD_LENGTH,
  JOB_CIPHER,
  JOB_DATA,
  JOB_GOOD,
  JOB_ICV,
  JOB_ICV_LENGTH,
  JOB_LENGTH,
  JOB_NONCE,
  JOB_SIZE,
} from "../../../../src/abi/cipher.js";
import type { Core } from "../../../../src/engine/core.js";
import type { Random } from "../../../oracle/generate/random.js";

export interface Packet {
  cipher: number;
  nonce: Uint8Array;
  aad: Uint8Array;
  /** What is sealed, or, with the ICV that belongs to it, opened. */
  data: Uint8Array;
  icv: Uint8Array;
  /** Where the packet begins, behind a multiple of 16. */
  skew?: number;
}

export interface Result {
  data: Uint8Array;
  icv: Uint8Array;
  good: boolean;
}

/** Bytes around everything that is put into memory, which nobody may touch. */
const FENCE = 32;
const FENCE_BYTE = 0xa5;

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

export function bytesIn(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

/** A cipher of a key that lies in staging for as long as it takes. */
export function cipherOf(core: Core, key: Uint8Array): number {
  core.u8.set(key, core.staging);
  const cipher = core.exports.createCipher(core.staging, key.length) >>> 0;
  core.u8.fill(0, core.staging, core.staging + key.length);
  return cipher;
}

/** An ICV that `seal` is to write. */
export function emptyIcv(length: number): Uint8Array {
  return new Uint8Array(length);
}

export function seal(core: Core, packet: Packet): Result {
  return through(core, [packet], () => core.exports.seal(core.jobs))[0]!;
}

export function open(core: Core, packet: Packet): Result {
  let good = false;
  const [result] = through(core, [packet], () => {
    good = core.exports.open(core.jobs) !== 0;
  });
  if (result!.good !== good) throw new Error("open says one thing and its job another");
  return result!;
}

export function sealMany(core: Core, packets: readonly Packet[]): Result[] {
  return through(core, packets, () => core.exports.sealMany(core.jobs, packets.length));
}

export function openMany(core: Core, packets: readonly Packet[]): Result[] {
  return through(core, packets, () => core.exports.openMany(core.jobs, packets.length));
}

/** Lays out packets and their jobs, does something, and reads them; throws where a byte beside them has changed. */
function through(core: Core, packets: readonly Packet[], work: () => void): Result[] {
  const places = layOut(core, packets);
  work();
  return packets.map((packet, n) => {
    const { aad, data, icv, end } = places[n]!;
    const memory = core.u8;
    const bytes = (at: number, length: number): Uint8Array => memory.slice(at, at + length);
    if (String(bytes(aad, packet.aad.length)) !== String(packet.aad)) throw new Error(`AAD of packet ${n} has changed`);
    const fences = [aad - FENCE, aad + packet.aad.length, end];
    if (fences.some((at) => bytes(at, FENCE).some((byte) => byte !== FENCE_BYTE))) {
      throw new Error(`bytes beside packet ${n} have changed`);
    }
    const good = memory[core.jobs + n * JOB_SIZE + JOB_GOOD] === 1;
    return { data: bytes(data, packet.data.length), icv: bytes(icv, packet.icv.length), good };
  });
}

/** fence | AAD | fence | data | ICV | fence */
function layOut(core: Core, packets: readonly Packet[]): { aad: number; data: number; icv: number; end: number }[] {
  const memory = core.u8;
  const view = new DataView(memory.buffer);
  let next = core.bytes;
  return packets.map((packet, n) => {
    const aad = next + FENCE + (packet.skew ?? 0);
    const data = aad + packet.aad.length + FENCE;
    const icv = data + packet.data.length;
    const end = icv + packet.icv.length;
    memory.fill(FENCE_BYTE, next, end + FENCE);
    next = (end + FENCE + 15) & ~15;
    memory.set(packet.aad, aad);
    memory.set(packet.data, data);
    memory.set(packet.icv, icv);
    const job = core.jobs + n * JOB_SIZE;
    memory.fill(0, job, job + JOB_SIZE);
    view.setUint32(job + JOB_CIPHER, packet.cipher, true);
    view.setUint32(job + JOB_DATA, data, true);
    view.setUint32(job + JOB_LENGTH, packet.data.length, true);
    view.setUint32(job + JOB_ICV, icv, true);
    view.setUint32(job + JOB_AAD, aad, true);
    view.setUint16(job + JOB_AAD_LENGTH, packet.aad.length, true);
    view.setUint8(job + JOB_ICV_LENGTH, packet.icv.length);
    memory.set(packet.nonce, job + JOB_NONCE);
    return { aad, data, icv, end };
  });
}
