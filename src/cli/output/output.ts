/** Buffered output to a file or to standard output, which waits for slow readers. */
import { once } from "node:events";
import { createWriteStream, fstatSync, ftruncateSync, statSync, type WriteStream } from "node:fs";
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import { CommandRefusal, EXIT, refusalLines, refusalOf } from "../refusal.js";
import { painter } from "../text.js";

/** Characters that are buffered before a write. */
const CHUNK = 65536;
/** The same for a file: bytes being written while more are produced. */
const FILE_CHUNK = 1 << 20;

export class Output {
  readonly #stream: Writable;
  readonly #chunk: number;
  #held = "";

  constructor(stream: Writable = process.stdout, chunk = CHUNK) {
    this.#stream = stream;
    this.#chunk = chunk;
  }

  /** Adds text. Writes, and waits for a slow reader, once the buffer is full. */
  async write(text: string): Promise<void> {
    this.#held += text;
    if (this.#held.length >= this.#chunk) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#held;
    this.#held = "";
    if (text !== "") await this.writeBytes(text);
  }

  /** Writes at once, after the text flushed before. */
  async writeBytes(bytes: string | Uint8Array): Promise<void> {
    if (!this.#stream.write(bytes)) await once(this.#stream, "drain");
  }

  /** Writes the buffer and stops: other code writes next. */
  async end(): Promise<void> {
    await this.flush();
  }
}

/** A file. It is emptied by the first write, so that nothing is lost where the command refuses another output. */
export class FileOutput extends Output {
  readonly #path: string;
  readonly #file: WriteStream;
  /** The open file until it has been emptied. */
  #handle: number | null = null;

  /** @throws CommandRefusal the file cannot be written, or is one of `inputs` */
  static async open(path: string, inputs: readonly string[], option = "--output"): Promise<FileOutput> {
    if (inputs.some((input) => sameFile(path, input))) {
      const hint = `this run reads it; choose another file for ${option}`;
      throw new CommandRefusal(path, { code: "EINVAL", call: "flowsteer", reason: "cannot_write", hint });
    }
    const file = createWriteStream(path, { flags: "a", highWaterMark: FILE_CHUNK });
    const output = new FileOutput(path, file);
    await output.#refusing(
      once(file, "open").then(([handle]: number[]) => {
        output.#handle = handle as number;
      }),
    );
    return output;
  }

  private constructor(path: string, file: WriteStream) {
    super(file, FILE_CHUNK);
    this.#path = path;
    this.#file = file;
    // The error surfaces where the write is awaited; it may occur before.
    file.on("error", () => undefined);
  }

  override async writeBytes(bytes: string | Uint8Array): Promise<void> {
    if (this.#file.errored) throw writeRefusal(this.#path, this.#file.errored, this.#file.bytesWritten);
    await this.#refusing(this.#replace(bytes));
  }

  async #replace(bytes: string | Uint8Array): Promise<void> {
    this.#empty();
    await super.writeBytes(bytes);
  }

  /** Removes what a file had before; pipes and devices have nothing. */
  #empty(): void {
    const handle = this.#handle;
    this.#handle = null;
    if (handle !== null && fstatSync(handle).isFile()) ftruncateSync(handle);
  }

  override async end(): Promise<void> {
    await super.end();
    if (this.#file.errored === null) this.#empty();
    this.#file.end();
    if (this.#file.errored) throw writeRefusal(this.#path, this.#file.errored, this.#file.bytesWritten);
    if (!this.#file.closed) await this.#refusing(once(this.#file, "close"));
  }

  async #refusing(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      throw writeRefusal(this.#path, error, this.#file.bytesWritten);
    }
  }
}

/**
 * Reported as a refused output, whatever the system error was.
 * @param written bytes of the output that were written before, and stay
 */
export function writeRefusal(path: string, error: unknown, written = 0): unknown {
  const refusal = refusalOf(path, error);
  if (!(refusal instanceof CommandRefusal)) return refusal;
  const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
  const why = isMissing ? "no such folder; check the path" : refusal.refusal.hint;
  const hint = written === 0 ? why : `${why}; what was written ends after ${written} bytes`;
  return new CommandRefusal(path, { ...refusal.refusal, hint, reason: "cannot_write" });
}

/** What two paths to one file have in common, hard links included; null for no file. */
export function fileIdentity(path: string): string | null {
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there === undefined ? null : `${there.dev} ${there.ino}`;
}

/** Whether two paths name one file, or would. */
export function sameFile(a: string, b: string): boolean {
  const [one, other] = [fileIdentity(a), fileIdentity(b)];
  return one === other && (one !== null || resolve(a) === resolve(b));
}

/**
 * Ends the command where standard output cannot be written: without a message for a closed pipe
 * (`| head`). Errors of standard error have no one to be told to.
 */
export function endOnUnwritableOutput(): void {
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    const refusal = writeRefusal("standard output", error);
    if (!(refusal instanceof CommandRefusal)) throw error;
    process.stderr.write(refusalLines(painter(process.stderr), refusal));
    process.exit(EXIT.cannotWrite);
  });
}
