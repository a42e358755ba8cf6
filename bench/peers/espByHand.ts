/** ESP in tunnel mode as a program decrypts it by itself: headers read by hand, AES-GCM of node:crypto (RFC 4303, RFC 4106). */
import { NodeGcm } from "./nodeGcm.js";

const ETHERNET = 14;
const SPI_AND_NUMBER = 8;
const IV = 8;
const ICV = 16;
const TRAILER = 2;
/** Numbers that the window remembers, and bits of a word of it. */
const WINDOW = 1024;
const WORD = 32;

export class EspByHand {
  readonly #gcm: NodeGcm;
  readonly #nonce = new Uint8Array(12);
  readonly #seen = new Uint32Array(WINDOW / WORD);
  #highest = 0;

  /** @param salt the first four bytes of each nonce */
  constructor(key: Uint8Array, salt: Uint8Array) {
    this.#gcm = new NodeGcm(key);
    this.#nonce.set(salt);
  }

  /** Decrypts an Ethernet frame with IPv4 and ESP. @returns the frame inside; null for a number that was seen */
  receive(frame: Uint8Array): Uint8Array | null {
    const esp = ETHERNET + 4 * (frame[ETHERNET]! & 15);
    const number = ((frame[esp + 4]! << 24) | (frame[esp + 5]! << 16) | (frame[esp + 6]! << 8) | frame[esp + 7]!) >>> 0;
    if (this.#isOld(number)) return null;
    const iv = esp + SPI_AND_NUMBER;
    this.#nonce.set(frame.subarray(iv, iv + IV), 4);
    const end = frame.length - ICV;
    const sealed = { data: frame.subarray(iv + IV, end), icv: frame.subarray(end) };
    const opened = this.#gcm.open(this.#nonce, frame.subarray(esp, iv), sealed);
    this.#note(number);
    const length = opened.length - TRAILER - opened[opened.length - TRAILER]!;
    const inner = new Uint8Array(ETHERNET + length);
    inner.set(frame.subarray(0, ETHERNET));
    inner.set(opened.subarray(0, length), ETHERNET);
    return inner;
  }

  forget(): void {
    this.#seen.fill(0);
    this.#highest = 0;
  }

  #isOld(number: number): boolean {
    if (number > this.#highest) return false;
    return number + WINDOW <= this.#highest || (this.#seen[(number % WINDOW) >> 5]! & (1 << (number % WORD))) !== 0;
  }

  #note(number: number): void {
    for (let n = Math.max(this.#highest + 1, number - WINDOW + 1); n <= number; n++)
      this.#seen[(n % WINDOW) >> 5]! &= ~(1 << (n % WORD));
    this.#highest = Math.max(this.#highest, number);
    this.#seen[(number % WINDOW) >> 5]! |= 1 << (number % WORD);
  }
}
