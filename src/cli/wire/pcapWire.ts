/** A wire of captures in pipes: frames come as a capture that another program writes, and leave as one that it reads. */
import { closeSync, constants, openSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { CaptureDecoder, PcapWriter, SteeringError } from "../../index.js";
import { badUsage } from "../refusal.js";
import { MAX_WAITING, Wire, type Loss, type Plug } from "./wire.js";

/** Milliseconds until the next look for a reader of the pipe. */
const RETRY = 200;
const NANOSECONDS = 1_000_000n;

/** `-` is standard input or output; null for none. */
export type PipePath = string | null;

export class PcapWire extends Wire {
  readonly #from: PipePath;
  readonly #to: PipePath;
  readonly #writer = new PcapWriter({ linkType: 1, nanoseconds: true });
  #reading: Socket | null = null;
  #writing: Socket | null = null;
  /** A second end of the pipe that is read: what a writer writes before the pipe is opened again is not lost. */
  #held: number | null = null;
  #closed = false;

  constructor(from: PipePath, to: PipePath) {
    super();
    this.#from = from;
    this.#to = to;
  }

  open(): Promise<void> {
    for (const path of [this.#from, this.#to]) checkPipe(path);
    if (this.#from !== null) {
      if (this.#from !== "-") this.#held = descriptor(this.#from, 0, constants.O_RDONLY);
      this.#read(this.#from);
    }
    if (this.#to !== null) this.#write(this.#to);
    return Promise.resolve();
  }

  describe(): string {
    const parts = [
      this.#from === null ? "" : `from ${this.#from === "-" ? "standard input" : this.#from}`,
      this.#to === null ? "" : `to ${this.#to === "-" ? "standard output" : this.#to}`,
    ];
    return `captures ${parts.filter((part) => part !== "").join(", ")}`;
  }

  plugs(): Plug[] {
    const plugs: Plug[] = [];
    if (this.#from !== null && this.#from !== "-")
      plugs.push({ what: "in", command: `tcpdump -U -w - -i DEVICE > ${this.#from}` });
    if (this.#to !== null && this.#to !== "-") plugs.push({ what: "out", command: `wireshark -k -i ${this.#to}` });
    return plugs;
  }

  get connected(): boolean {
    return this.#writing !== null;
  }

  async flush(): Promise<void> {
    const pipe = this.#writing;
    if (pipe !== null) await new Promise<void>((resolve) => pipe.write(new Uint8Array(), () => resolve()));
  }

  close(): Promise<void> {
    this.#closed = true;
    if (this.#held !== null) closeSync(this.#held);
    this.#held = null;
    this.#reading?.destroy();
    this.#writing?.destroy();
    return Promise.resolve();
  }

  protected transmit(frame: Uint8Array): Loss | null {
    const pipe = this.#writing;
    if (pipe === null) return "not_connected";
    if (pipe.writableLength + frame.length > MAX_WAITING) return "too_slow";
    pipe.write(this.#writer.frame({ time: BigInt(Date.now()) * NANOSECONDS, bytes: frame, wireLength: frame.length }));
    return null;
  }

  /** Reads captures one after the other: a pipe has the next one after the end of its writer. */
  #read(path: string): void {
    const pipe = new Socket({ fd: descriptor(path, 0, constants.O_RDONLY), readable: true, writable: false });
    this.#reading = pipe;
    let decoder = new CaptureDecoder();
    pipe.on("error", () => pipe.destroy());
    pipe.on("data", (chunk: Buffer) => {
      try {
        for (const { bytes, linkType } of decoder.push(chunk)) this.arrived(bytes.slice(), linkType);
      } catch (error) {
        if (!(error instanceof SteeringError)) throw error;
        this.lose("bad_capture");
        decoder = new CaptureDecoder();
        pipe.destroy();
      }
    });
    pipe.once("close", () => {
      if (this.#closed) return;
      if (path === "-") this.onEnd?.();
      else this.#read(path);
    });
  }

  /** Opens the pipe for writing once it has a reader, and again after its end. */
  #write(path: string): void {
    let fd: number;
    try {
      fd = descriptor(path, 1, constants.O_WRONLY);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
      this.#again(() => this.#write(path));
      return;
    }
    const pipe = new Socket({ fd, readable: false, writable: true });
    this.#writing = pipe;
    pipe.on("error", () => pipe.destroy());
    pipe.once("close", () => {
      this.#writing = null;
      if (path !== "-") this.#again(() => this.#write(path));
    });
    pipe.write(this.#writer.header());
  }

  #again(work: () => void): void {
    if (!this.#closed) setTimeout(() => !this.#closed && work(), RETRY).unref();
  }
}

function descriptor(path: string, standard: number, flags: number): number {
  return path === "-" ? standard : openSync(path, flags | constants.O_NONBLOCK);
}

/** A capture in a file has an end: `run` steers it. */
function checkPipe(path: PipePath): void {
  if (path === null || path === "-") return;
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw badUsage(path, `the pipe does not exist; create it with mkfifo ${path}`);
  if (!stat.isFIFO())
    throw badUsage(path, "not a pipe; create one with mkfifo, or steer a capture file with flowsteer run");
}
