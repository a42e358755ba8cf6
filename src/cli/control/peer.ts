/** A peer of the control: its messages one after the other, and a way to answer. */
import type { Readable, Writable } from "node:stream";

export interface Peer {
  /** Its messages; null for one that is too long, and then no more. */
  messages(longest: number): AsyncIterable<string | null>;
  /** Sends a message. @returns false where the peer reads slowly: wait for `drained` before the next answer */
  send(text: string): boolean;
  /** Bytes that wait for it. */
  readonly waiting: number;
  /** Waits until the peer has read, or is gone. */
  drained(): Promise<void>;
}

const NEW_LINE = 10;

/** A peer at the other end of streams, with a message in each line. */
export class LinePeer implements Peer {
  readonly #from: Readable;
  readonly #to: Writable;

  constructor(from: Readable, to: Writable) {
    this.#from = from;
    this.#to = to;
  }

  async *messages(longest: number): AsyncGenerator<string | null> {
    let held = Buffer.alloc(0);
    for await (const chunk of this.#from as AsyncIterable<Buffer>) {
      let at = 0;
      for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, at)) {
        const line = held.length === 0 ? chunk.subarray(at, end) : Buffer.concat([held, chunk.subarray(at, end)]);
        held = Buffer.alloc(0);
        at = end + 1;
        if (line.length > longest) {
          yield null;
          return;
        }
        const text = line.toString("utf8").trim();
        if (text !== "") yield text;
      }
      held = Buffer.concat([held, chunk.subarray(at)]);
      if (held.length > longest) {
        yield null;
        return;
      }
    }
  }

  send(text: string): boolean {
    return this.#to.write(`${text}\n`);
  }

  get waiting(): number {
    return this.#to.writableLength;
  }

  drained(): Promise<void> {
    const to = this.#to;
    return new Promise((resolve) => {
      const done = (): void => {
        to.off("drain", done).off("close", done);
        resolve();
      };
      to.on("drain", done).on("close", done);
      if (to.destroyed) done();
    });
  }
}
