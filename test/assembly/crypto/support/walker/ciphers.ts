/** Walks through the ciphers of a core: keys, nonces, AAD, data and ICVs are secret; lengths and addresses are not. */
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
} from "../../../../../src/abi/cipher.js";
import { Area, MAX_BATCH } from "../../../../../src/abi/engine.js";
import { Machine } from "./machine.js";
import { readModule } from "./module.js";

/** Bytes of all packets of a call. */
const FRAMES = 0x40000;

/** A packet: everything about it that is public. */
export interface Shape {
  aad: number;
  data: number;
  icv: number;
  /** What its verdict is to be, where it is opened. */
  good?: boolean;
}

export class Ciphers {
  readonly machine: Machine;
  readonly #staging: number;
  readonly #jobs: number;
  readonly #bytes: number;

  constructor(module: Uint8Array) {
    this.machine = new Machine(readModule(module));
    this.machine.call("openMemory");
    this.machine.call("openRows", MAX_BATCH);
    this.machine.call("openBytes", FRAMES);
    this.machine.call("limitArena", 0x1000000);
    this.#staging = this.machine.call("areaAddress", Area.staging);
    this.#jobs = this.machine.call("areaAddress", Area.jobs);
    this.#bytes = this.machine.call("areaAddress", Area.bytes);
  }

  create(keyLength: number): number {
    this.machine.hide(this.#staging, keyLength);
    return this.machine.call("createCipher", this.#staging, keyLength);
  }

  setKey(cipher: number, keyLength: number): void {
    this.machine.hide(this.#staging, keyLength);
    this.machine.call("setCipherKey", cipher, this.#staging, keyLength);
  }

  release(cipher: number): void {
    this.machine.call("releaseCipher", cipher);
  }

  seal(cipher: number, shape: Shape): void {
    this.#layOut([cipher], [shape]);
    this.machine.call("seal", this.#jobs);
  }

  open(cipher: number, shape: Shape): void {
    this.#layOut([cipher], [shape]);
    const good = this.machine.call("open", this.#jobs) !== 0;
    if (good !== shape.good) throw new Error("the verdict came from elsewhere");
  }

  sealMany(ciphers: readonly number[], shapes: readonly Shape[]): void {
    this.#layOut(ciphers, shapes);
    this.machine.call("sealMany", this.#jobs, shapes.length);
  }

  openMany(ciphers: readonly number[], shapes: readonly Shape[]): void {
    this.#layOut(ciphers, shapes);
    this.machine.call("openMany", this.#jobs, shapes.length);
  }

  /** Packet n is of cipher n, or of the last. */
  #layOut(ciphers: readonly number[], shapes: readonly Shape[]): void {
    const { machine } = this;
    let at = this.#bytes;
    machine.verdicts.clear();
    shapes.forEach(({ aad, data, icv, good }, n) => {
      const job = new DataView(new ArrayBuffer(JOB_SIZE));
      job.setUint32(JOB_CIPHER, ciphers[n] ?? ciphers.at(-1)!, true);
      job.setUint32(JOB_AAD, at, true);
      job.setUint16(JOB_AAD_LENGTH, aad, true);
      job.setUint32(JOB_DATA, at + aad, true);
      job.setUint32(JOB_LENGTH, data, true);
      job.setUint32(JOB_ICV, at + aad + data, true);
      job.setUint8(JOB_ICV_LENGTH, icv);
      const address = this.#jobs + n * JOB_SIZE;
      machine.write(address, new Uint8Array(job.buffer));
      machine.hide(address + JOB_NONCE, 12);
      machine.hide(at, aad + data + icv);
      if (good !== undefined) machine.verdicts.set(address + JOB_GOOD, good);
      at += aad + data + icv;
    });
  }

  /** Forgets what the host itself has put in: what is secret then has been left behind by the core. */
  get left(): number[] {
    const { machine } = this;
    machine.write(this.#staging, new Uint8Array(32));
    machine.write(this.#jobs, new Uint8Array(32 * JOB_SIZE));
    machine.write(this.#bytes, new Uint8Array(FRAMES));
    return machine.secrets();
  }

  /** Lets the arena have no more memory. */
  limit(bytes: number): void {
    this.machine.call("limitArena", bytes);
  }

  /** Instructions that have not run of functions that a secret has come to, by where they are in the module. */
  *missed(): Generator<string> {
    for (const index of this.machine.touched) {
      const { code } = this.machine.module.functions.get(index)!;
      const ran = this.machine.ran.get(index)!;
      const missed = code.filter(({ op }, n) => ran[n] === 0 && op !== 0x0b && op !== 0x05);
      if (missed.length > 0) yield `function ${index}: ${missed.length} from byte ${missed[0]!.at} on`;
    }
  }
}
