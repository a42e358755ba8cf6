/** GHASH of the core on its own: a module of its sources with an entry that the core does not have. */
import { JOB_AAD, JOB_AAD_LENGTH, JOB_DATA, JOB_LENGTH, JOB_SIZE } from "../../../../src/abi/cipher.js";
import { compile } from "./compile.js";

const ENTRY = "test/assembly/crypto/support/hashEntry.ts";
const SOURCE = `
  export { HASH_SIZE, setHashKey } from "../../../../assembly/crypto/hashKey";
  export { ghash, wipeHash } from "../../../../assembly/crypto/ghash";
  export { ghashMany } from "../../../../assembly/crypto/ghashMany";
  memory.grow(64);
`;

interface Exports {
  memory: WebAssembly.Memory;
  HASH_SIZE: WebAssembly.Global;
  setHashKey(hash: number, h: number): void;
  ghash(hash: number, aad: number, aadLength: number, data: number, length: number, out: number): void;
  wipeHash(): void;
  ghashMany(hash: number, jobs: number, count: number, out: number): void;
}

/** Where things lie: behind the static data of the module. */
const H = 0x8000;
const OUT = 0x8100;
const JOBS = 0x9000;
export const HASH = 0x10000;
const PACKETS = 0x40000;

export interface Packet {
  aad: Uint8Array;
  data: Uint8Array;
}

export class HashCore {
  readonly exports: Exports;

  private constructor(exports: Exports) {
    this.exports = exports;
  }

  static async make(): Promise<HashCore> {
    const { instance } = await WebAssembly.instantiate(await compile(ENTRY, { [ENTRY]: SOURCE }));
    return new HashCore(instance.exports as unknown as Exports);
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer);
  }

  /** The static data of the module. */
  get scratch(): Uint8Array {
    return this.bytes.slice(0, H);
  }

  setKey(h: Uint8Array): void {
    this.bytes.set(h, H);
    this.exports.setHashKey(HASH, H);
  }

  one({ aad, data }: Packet): Uint8Array {
    // Bytes around what is hashed are none of its business.
    this.bytes.fill(0xa5, PACKETS, PACKETS + aad.length + data.length + 64);
    const from = PACKETS + 17;
    this.bytes.set(aad, from);
    this.bytes.set(data, from + aad.length);
    this.exports.ghash(HASH, from, aad.length, from + aad.length, data.length, OUT);
    return this.bytes.slice(OUT, OUT + 16);
  }

  many(packets: readonly Packet[]): Uint8Array[] {
    const view = new DataView(this.exports.memory.buffer);
    let at = PACKETS;
    packets.forEach(({ aad, data }, n) => {
      const job = JOBS + n * JOB_SIZE;
      view.setUint32(job + JOB_AAD, at, true);
      view.setUint16(job + JOB_AAD_LENGTH, aad.length, true);
      view.setUint32(job + JOB_DATA, at + aad.length, true);
      view.setUint32(job + JOB_LENGTH, data.length, true);
      this.bytes.set(aad, at);
      this.bytes.set(data, at + aad.length);
      at += aad.length + data.length + 3;
    });
    this.exports.ghashMany(HASH, JOBS, packets.length, OUT);
    return packets.map((_, n) => this.bytes.slice(OUT + 16 * n, OUT + 16 * n + 16));
  }
}
