/** A line on a terminal that tells how far a long capture has been read. */
import { counted, share } from "./text.js";

/** Short work shows nothing; then the line changes a few times a second. */
const FIRST_MS = 700;
const EVERY_MS = 200;

export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #size: number | undefined;
  #bytes = 0;
  #next: number;
  #shown = false;

  /** `size` in bytes, undefined where it is not known. */
  constructor(stream: NodeJS.WriteStream, size: number | undefined) {
    this.#stream = stream;
    this.#size = size;
    this.#next = stream.isTTY ? Date.now() + FIRST_MS : Infinity;
  }

  /** The same chunks, counted. */
  async *count(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      yield chunk;
      this.#bytes += chunk.length;
    }
  }

  show(frames: number): void {
    const now = Date.now();
    if (now < this.#next) return;
    this.#next = now + EVERY_MS;
    this.#shown = true;
    const part = this.#size === undefined ? "" : `, ${share(this.#bytes, this.#size)}`;
    this.#stream.write(`\r\u001b[K${counted(frames, "frame")}${part}`);
  }

  clear(): void {
    if (this.#shown) this.#stream.write("\r\u001b[K");
    this.#shown = false;
  }
}
