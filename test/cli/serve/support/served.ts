/** `flowsteer serve` as a child process, and peers of its wires. Nothing waits for a time: only for what happens. */
import { once } from "node:events";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import type { AddressInfo, Socket } from "node:net";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { start } from "../../support/command.js";

export const SWITCH = "examples/serve-switch.json";

/** A line of `flowsteer serve --json`. */
export interface Line {
  readonly kind: string;
  readonly [key: string]: unknown;
}

export interface WireLine {
  readonly place: string;
  readonly wire: string;
}

export interface Sum {
  readonly kind: "sum";
  readonly signal: string | null;
  readonly wires: readonly {
    readonly place: string;
    readonly framesIn: number;
    readonly framesOut: number;
    readonly lost: Record<string, number>;
  }[];
  readonly dropped: Record<string, { frames: number; bytes: number }>;
}

export class Served {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: Line[] = [];
  /** All of standard error. */
  text = "";
  readonly #waiters = new Set<() => void>();
  /** Its exit code, once it has ended. */
  readonly closed: Promise<number | null>;

  constructor(args: readonly string[]) {
    this.child = start(["serve", ...args, "--json"]);
    let rest = "";
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.text += text;
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("{")) this.lines.push(JSON.parse(line) as Line);
      for (const wake of this.#waiters) wake();
    });
    this.closed = new Promise((resolve) =>
      this.child.once("close", (code) => {
        for (const wake of this.#waiters) wake();
        resolve(code);
      }),
    );
  }

  /** Starts it, and waits until it is ready. */
  static async start(...args: string[]): Promise<Served> {
    const served = new Served(args);
    await served.line("ready");
    return served;
  }

  /** The line of this kind with number `nth`, once it is there. */
  async line(kind: string, nth = 0): Promise<Line> {
    for (;;) {
      const found = this.lines.filter((line) => line.kind === kind)[nth];
      if (found !== undefined) return found;
      if (this.child.exitCode !== null) throw new Error(`flowsteer serve has ended: ${this.text}`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiters.delete(wake);
          resolve();
        };
        this.#waiters.add(wake);
      });
    }
  }

  /** The port at which a wire listens. */
  async portOf(place: string): Promise<number> {
    const { wires } = (await this.line("ready")) as unknown as { wires: WireLine[] };
    const text = wires.find((one) => one.place === place)?.wire ?? "";
    return Number(/:(\d+)/.exec(text)?.[1]);
  }

  /** Ends it. @returns its last line */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<Sum> {
    this.child.kill(signal);
    const code = await this.closed;
    if (code !== 0) throw new Error(`exit code ${code}: ${this.text}`);
    return this.lines.at(-1) as unknown as Sum;
  }
}

/** A peer of a UDP wire, with a port of its own. */
export class UdpPeer {
  readonly received: Buffer[] = [];
  readonly #socket: UdpSocket;
  #wake: (() => void) | null = null;

  private constructor(socket: UdpSocket) {
    this.#socket = socket;
    socket.on("message", (frame) => {
      this.received.push(frame);
      this.#wake?.();
    });
  }

  static async open(): Promise<UdpPeer> {
    const socket = createSocket("udp4");
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return new UdpPeer(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** `udp:` with a port here that is free. */
  get wire(): string {
    return `udp:127.0.0.1:0:127.0.0.1:${this.port}`;
  }

  send(frame: Uint8Array, port: number): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#socket.send(frame, port, "127.0.0.1", (error) => (error === null ? resolve() : reject(error))),
    );
  }

  /** Waits until so many frames have come. */
  async frames(count: number): Promise<readonly Buffer[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.received;
  }

  close(): void {
    this.#socket.close();
  }
}

/** A frame with its length before it, as QEMU writes it. */
export function lengthened(frame: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(frame.length);
  return Buffer.concat([length, frame]);
}

/** Waits until so many bytes have come. */
export async function bytesOf(socket: Socket, count: number): Promise<Buffer> {
  let all = Buffer.alloc(0);
  if (count === 0) return all;
  for await (const [chunk] of on(socket)) {
    all = Buffer.concat([all, chunk]);
    if (all.length >= count) break;
  }
  return all;
}

async function* on(socket: Socket): AsyncGenerator<[Buffer]> {
  for (;;) yield (await once(socket, "data")) as [Buffer];
}

export function portOf(address: AddressInfo | string | null): number {
  return (address as AddressInfo).port;
}

/** An Ethernet frame without a known EtherType: `from` and `to` are the last bytes of the addresses. */
export function frameOf(from: number, to: number, text = ""): Buffer {
  const frame = Buffer.alloc(60);
  frame.set([2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x88, 0xb5]);
  frame.write(text, 14);
  return frame;
}

/** A TCP frame to this port. */
export function tcpFrame(from: number, to: number, port: number): Buffer {
  const frame = frameOf(from, to);
  frame.set([0x08, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to], 12);
  frame.writeUInt16BE(40_000, 34);
  frame.writeUInt16BE(port, 36);
  frame[46] = 0x50;
  return frame;
}
