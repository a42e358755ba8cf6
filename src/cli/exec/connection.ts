/** The bytes of a connection as messages, and what the host keeps of it. */
import { MessageReader, MessageWriter } from "../../calls/index.js";
import type { Socket } from "node:net";
import { ERRNO, SteeringError } from "../../errors.js";
import type { CodePlace, RefusedCall } from "./report/reports.js";
import type { Session } from "./session.js";

/** Bytes of a message. */
const MAX_MESSAGE = 1 << 30;
/** Bytes of its length, and of the number of the call in it. */
const LENGTH = 4;
const CALL = 2;
/** Milliseconds until the callers of a refused call have come. */
const CALLERS = 50;
const NONE = Buffer.alloc(0);

export class Connection {
  readonly socket: Socket;
  readonly #message: (call: number, reader: MessageReader) => void;
  /** Bytes from `#at` on have not been handled; those of `#more` follow them. */
  #bytes: Buffer = NONE;
  #at = 0;
  #more: Buffer[] = [];
  #left = 0;
  /** Whether bytes have come since what others had posted before them was handled. */
  isFresh = false;
  session: Session | null = null;
  /** Whether it is there for events only. */
  listens = false;
  #paused: { readonly stop: () => void } | null = null;
  #told: { told: RefusedCall; tell: (told: RefusedCall) => void; timer: NodeJS.Timeout } | null = null;

  constructor(socket: Socket, message: (call: number, reader: MessageReader) => void) {
    this.socket = socket;
    this.#message = message;
  }

  /** Takes bytes. */
  take(chunk: Buffer): void {
    this.isFresh = true;
    if (this.#left === 0) {
      this.#bytes = chunk;
      this.#at = 0;
    } else this.#more.push(chunk);
    this.#left += chunk.length;
  }

  /** @throws SteeringError a message that no program sends */
  get hasMessage(): boolean {
    return this.#paused === null && this.#left >= LENGTH && this.#left >= this.#size();
  }

  /** Of a message that is there. */
  get nextCall(): number {
    this.#join(LENGTH + CALL);
    return this.#bytes.readUInt16LE(this.#at + LENGTH);
  }

  /** Hands the next message over, which is there. @throws SteeringError it ends early */
  handleOne(): void {
    const size = this.#size();
    this.#join(size);
    const { buffer, byteOffset } = this.#bytes;
    const reader = new MessageReader(new Uint8Array(buffer, byteOffset + this.#at + LENGTH, size - LENGTH));
    this.#at += size;
    this.#left -= size;
    this.#message(reader.u16(), reader);
  }

  /** Leaves messages where they are for so many milliseconds; 0 is until other sockets have been read. */
  pause(milliseconds: number, then: () => void): void {
    if (milliseconds > 0) {
      const timer = setTimeout(() => this.#resume(then), milliseconds);
      this.#hold(() => clearTimeout(timer));
    } else {
      const turn = setImmediate(() => this.#resume(then));
      this.#paused = { stop: () => clearImmediate(turn) };
    }
  }

  /** Leaves messages where they are. @returns ends that */
  hold(then: () => void): () => void {
    this.#hold(() => undefined);
    return () => this.#resume(then);
  }

  #hold(stop: () => void): void {
    this.socket.pause();
    this.#paused = { stop };
  }

  #resume(then: () => void): void {
    this.#paused = null;
    this.socket.resume();
    then();
  }

  end(): void {
    this.#paused?.stop();
  }

  /** Makes so many bytes, which are there, lie in one piece. */
  #join(length: number): void {
    if (this.#bytes.length - this.#at >= length) return;
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), ...this.#more]);
    this.#at = 0;
    this.#more = [];
  }

  /** Bytes of the next message, whose length is there. */
  #size(): number {
    this.#join(LENGTH);
    const size = this.#bytes.readUInt32LE(this.#at);
    if (size < CALL || size > MAX_MESSAGE) {
      const hint = `${CALL} to ${MAX_MESSAGE} bytes`;
      throw new SteeringError({
        code: "EINVAL",
        call: "exec",
        reason: "out_of_range",
        path: "message",
        value: size,
        hint,
      });
    }
    return LENGTH + size;
  }

  send(answer: Uint8Array): void {
    this.socket.write(answer);
  }

  /** @param isVirtual whether polls that find nothing ask for the clock to go on */
  accept(session: Session, isVirtual: boolean): void {
    this.session = session;
    const writer = new MessageWriter();
    writer.u32(0);
    writer.u32(isVirtual ? 1 : 0);
    this.send(writer.framed());
  }

  answerPoll(): void {
    const writer = new MessageWriter();
    writer.u32(0);
    this.send(writer.framed());
  }

  refuse(text: string): void {
    const writer = new MessageWriter();
    writer.u32(ERRNO.EPERM);
    writer.text(text);
    this.socket.end(writer.framed());
  }

  /** Keeps a refusal until the process has said who made the call. */
  waitForCallers(session: Session, tell: (told: RefusedCall) => void): void {
    if (session.refused === null) return;
    this.#tellNow();
    const told: RefusedCall = { pid: session.pid, ...session.refused, callers: [] };
    this.#told = { told, tell, timer: setTimeout(() => this.#tellNow(), CALLERS) };
  }

  callersOf(callers: readonly CodePlace[]): void {
    if (this.#told === null) return;
    this.#told.told = { ...this.#told.told, callers };
    this.#tellNow();
  }

  #tellNow(): void {
    if (this.#told === null) return;
    const { told, tell, timer } = this.#told;
    clearTimeout(timer);
    this.#told = null;
    tell(told);
  }
}
