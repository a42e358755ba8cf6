/** Messages of programs to the host of `flowsteer exec`, over its socket. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { functions, MessageReader, MessageWriter, tableHash, type HandleName } from "../../../src/calls/index.js";
import { ExecHost } from "../../../src/cli/exec/host.js";
import type { RefusedCall } from "../../../src/cli/exec/report/reports.js";
import { loadScenario } from "../../../src/scenario/index.js";
import type { Random } from "../../oracle/generate/random.js";
import type { Target } from "../target.js";
import { argumentsOf, damaged, drawnArguments, framed, functionNamed, type Values } from "./support/callMessages.js";
import { hugeReceive, programCalls, type Places } from "./support/programCalls.js";

/** Messages of a run, beside those that make the objects of a program. */
const MESSAGES = 100;
const SAYS_HELLO = 0xffff;
const LISTENS = 0xfffe;
const CALLED_FROM = 0xfffc;
const NO_ANSWER = 0x8000;

export const messages: Target = {
  name: "messages",
  about:
    "messages of programs to the host of flowsteer exec, right and damaged: no trap and no defect, each is answered, refused or " +
    "ends its program, and another program still has its answers",
  unit: "messages",
  guide: "host",
  open: async () => {
    const memory = new StoppedProcess();
    return Promise.resolve(async (random) => {
      const loaded = await loadScenario({ flowsteer: 1, device: { vports: 1 } }, { countHits: true });
      const defects = new Defects();
      const host = await ExecHost.open(loaded, {
        listener: { refused: (refused) => defects.check(refused), ended: () => undefined },
      });
      const { users } = loaded.device;
      try {
        const other = await Connection.greeted(host.path, memory.pid);
        const before = await other.request("list_devices");
        let program = await Program.started(host.path, memory);
        for (let n = 0; n < MESSAGES; n++) {
          await program.next(random);
          if (program.ended) program = await Program.started(host.path, memory);
        }
        if (String(await other.request("list_devices")) !== String(before)) throw new Error("other answers");
      } finally {
        await host.close();
        defects.end();
      }
      const { device } = loaded;
      const left = `${device.users - users} contexts, ${device.metrics().rules} rules`;
      if (left !== "0 contexts, 0 rules") throw new Error(`${left} are left`);
      device.users = 0;
      device.close();
      return MESSAGES;
    });
  },
};

/** What the host reports of itself. */
class Defects {
  readonly #write = process.stderr.write.bind(process.stderr);
  #text = "";

  constructor() {
    process.stderr.write = (text) => {
      this.#text += String(text);
      return true;
    };
  }

  /** A refusal names the call. */
  check({ call, message }: RefusedCall): void {
    if (!/^(?:ibv|mlx5dv)_/.test(call) || !message.startsWith(`${call}: `)) this.#text += `${call}: ${message}\n`;
  }

  /** @throws Error the host has reported a defect */
  end(): void {
    process.stderr.write = this.#write;
    if (this.#text !== "") throw new Error(this.#text);
  }
}

/** A process that never runs: the host may write anywhere. */
class StoppedProcess {
  readonly pid: number;
  readonly places: Places;

  constructor() {
    const child = spawn("sleep", ["1000000"], { stdio: "ignore" });
    child.unref();
    child.kill("SIGSTOP");
    process.once("exit", () => child.kill("SIGKILL"));
    this.pid = child.pid as number;
    const [, start = "0"] = /^(\w+)-.*\[stack\]$/m.exec(readFileSync(`/proc/${this.pid}/maps`, "utf8")) ?? [];
    const ring = parseInt(start, 16);
    this.places = { ring, otherRing: ring + 0x1000, buffer: ring + 0x2000, size: 0x2000 };
  }

  /** Rings of 16 entries. */
  clear(): void {
    const file = openSync(`/proc/${this.pid}/mem`, "r+");
    for (const at of [this.places.ring, this.places.otherRing])
      writeSync(file, BigUint64Array.of(0n, 0n, 16n, 0n), 0, 32, at);
    closeSync(file);
  }
}

/** A connection that waits for each answer. */
class Connection {
  readonly #socket: Socket;
  #got = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  closed = false;

  constructor(path: string) {
    this.#socket = createConnection(path);
    this.#socket.on("data", (chunk: Buffer) => {
      this.#got = Buffer.concat([this.#got, chunk]);
      this.#wake();
    });
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", () => {
      this.closed = true;
      this.#wake();
    });
  }

  /** @throws Error the host refuses the process */
  static async greeted(path: string, pid: number, call = SAYS_HELLO, number = 0): Promise<Connection> {
    const connection = new Connection(path);
    const writer = new MessageWriter();
    for (const word of [tableHash, pid]) writer.u32(word);
    writer.wide(number);
    const answer = await connection.sent(framed(call, writer.framed().subarray(4)));
    if (answer?.readUInt32LE(0) !== 0) throw new Error(`refused: ${String(answer)}`);
    return connection;
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.destroy();
  }

  /** @returns the answer; null where the host has ended the connection */
  async sent(bytes: Uint8Array): Promise<Buffer | null> {
    this.write(bytes);
    for (;;) {
      const size = this.#got.length < 4 ? Infinity : 4 + this.#got.readUInt32LE(0);
      if (this.#got.length >= size) {
        const answer = this.#got.subarray(4, size);
        this.#got = this.#got.subarray(size);
        return answer;
      }
      if (this.closed) return null;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  request(call: string, values: Values = {}): Promise<Buffer | null> {
    const one = functionNamed(call);
    return this.sent(framed(one.number, argumentsOf(one, values)));
  }
}

/** A program that has made one object of each kind, and then sends what is drawn. */
class Program {
  readonly #path: string;
  readonly #memory: StoppedProcess;
  readonly #connection: Connection;
  readonly #calls: { readonly call: string; readonly values: Values }[] = [];
  readonly #numbers = new Map<HandleName, number[]>();

  private constructor(path: string, memory: StoppedProcess, connection: Connection) {
    this.#path = path;
    this.#memory = memory;
    this.#connection = connection;
  }

  static async started(path: string, memory: StoppedProcess): Promise<Program> {
    memory.clear();
    const program = new Program(path, memory, await Connection.greeted(path, memory.pid));
    await program.#makeAll();
    return program;
  }

  get ended(): boolean {
    return this.#connection.closed;
  }

  async #makeAll(): Promise<void> {
    const named = new Map<string, number>();
    let lkey = 0;
    const numberOf = (name: string): number => named.get(name) as number;
    for (const { call, makes, values } of programCalls(this.#memory.places)) {
      const given = values(numberOf, lkey);
      this.#calls.push({ call, values: given });
      const reader = new MessageReader((await this.#connection.request(call, given)) as Buffer);
      const errno = reader.u32();
      if (errno !== 0) throw new Error(`${call} is refused: errno ${errno}`);
      if (makes === undefined) continue;
      const [kind, name] = makes;
      const number = reader.u32();
      named.set(name, number);
      this.#numbers.set(kind, [...(this.#numbers.get(kind) ?? []), number]);
      if (kind === "ibv_mr") lkey = reader.u32();
    }
  }

  /** Sends a message, and waits until the host has read it. */
  async next(random: Random): Promise<void> {
    const connection = this.#connection;
    if (random.chance(0.02)) return this.#greet(random);
    if (random.chance(0.02)) {
      connection.write(Uint8Array.from(random.bytes(random.below(64))));
      // The host may wait for more of it.
      connection.end();
      await new Promise((resolve) => setImmediate(resolve));
      return;
    }
    if (random.chance(0.03)) connection.write(framed(CALLED_FROM, Uint8Array.from(random.bytes(random.below(40)))));
    else {
      const { number, body } = this.#drawn(random);
      if (random.chance(0.7)) {
        await connection.sent(framed(number, body));
        return;
      }
      connection.write(framed(number | NO_ANSWER, body));
    }
    await connection.request("list_devices");
  }

  #drawn(random: Random): { number: number; body: Uint8Array } {
    if (random.chance(0.02)) {
      const values = hugeReceive(random.pick(this.#numbers.get("ibv_qp") ?? []), random.below(5000), random.word());
      const one = functionNamed("post_recv");
      return { number: one.number, body: argumentsOf(one, values) };
    }
    const known = random.chance(0.8);
    const { call, values } = known ? random.pick(this.#calls) : { call: random.pick(functions).name, values: {} };
    const one = functionNamed(call);
    const body = argumentsOf(one, drawnArguments(one, values, this.#numbers, random));
    const number = random.chance(0.01) ? random.below(NO_ANSWER) : one.number;
    return { number, body: random.chance(0.2) ? damaged(body, random) : body };
  }

  /** Another connection: one for events, or one that says nothing right. */
  async #greet(random: Random): Promise<void> {
    const { pid } = this.#memory;
    const writer = new MessageWriter();
    const hash = random.chance(0.9) ? tableHash : random.word();
    for (const word of [hash, random.pick([pid, pid, pid, 0, random.word()])]) writer.u32(word);
    writer.wide(random.below(60));
    const call = random.pick([LISTENS, LISTENS, SAYS_HELLO, random.below(NO_ANSWER)]);
    const connection = new Connection(this.#path);
    const body = writer.framed().subarray(4);
    await connection.sent(framed(call, random.chance(0.2) ? damaged(body, random) : body));
    if (random.chance(0.8)) connection.end();
  }
}
