/** The host of `flowsteer exec`: devices that programs reach through a Unix socket, each program a session of its own. */
import { functions, MessageReader, MessageWriter, tableHash } from "../../calls/index.js";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ERRNO, SteeringError } from "../../errors.js";
import type { Outcome } from "../../index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import { Switchboard } from "../serve/switchboard.js";
import { freePath } from "../wire/unixPath.js";
import { tellEvents } from "./events.js";
import type { CodePlace, RefusedCall, SessionReport } from "./reports.js";
import { Session } from "./session.js";
import type { Facade } from "./special.js";

/** Who learns what programs do. */
export interface HostListener {
  /** A program has begun to use the devices. */
  started?(pid: number): void;
  refused(call: RefusedCall): void;
  /** A call is about to destroy a rule or a flow. */
  destroying?(): void;
  /** A program has ended; its objects are still there. */
  ending?(session: SessionReport): void;
  ended(session: SessionReport): void;
}

export interface HostOptions {
  /** The socket. @default one in a new folder of the user */
  readonly path?: string;
  /** Devices beside the first one, such as those at the other ends of its cables. @default none */
  readonly others?: readonly LoadedScenario[];
  readonly listener: HostListener;
}

/** Functions of messages that no program calls; native/connection.c has the same numbers. */
const SAYS_HELLO = 0xffff;
const LISTENS = 0xfffe;
const CALLED_FROM = 0xfffc;
const NO_ANSWER = 0x8000;

const numberOf = (name: string): number | undefined => functions.find((one) => one.name === name)?.number;
const SENDS = numberOf("post_send");
const RECEIVES = new Set(["post_recv", "post_srq_recv", "post_wq_recv"].map(numberOf));
/** Turns of the event loop after which whatever was written to any socket before has been read. */
const TURNS = 2;

/** Bytes of a message. */
const MAX_MESSAGE = 1 << 30;
/** Only the user of the host may connect. */
const OWN = 0o600;
/** Milliseconds until the callers of a refused call have come. */
const CALLERS = 50;

export class ExecHost {
  readonly loaded: LoadedScenario;
  readonly path: string;
  readonly #listener: HostListener;
  /** All devices, each with its clock. */
  readonly #boards: readonly Switchboard[];
  readonly #facade: Facade;
  /** A process that has replaced its program may have two for a moment. */
  readonly #sessions = new Set<Session>();
  readonly #connections = new Set<Connection>();
  #turn = 0;
  #nextTurn: NodeJS.Immediate | null = null;
  readonly #ownFolder: string | null;
  #server: Server | null = null;

  private constructor(loaded: LoadedScenario, facade: Facade, { path, others = [], listener }: HostOptions) {
    this.loaded = loaded;
    this.#facade = facade;
    this.#listener = listener;
    this.#ownFolder = path === undefined ? mkdtempSync(join(tmpdir(), "flowsteer-exec-")) : null;
    this.path = path ?? join(this.#ownFolder as string, "host.sock");
    this.#boards = [loaded, ...others].map((one) => new Switchboard(one, []));
    for (const { loaded: one } of this.#boards) one.device.realTime = true;
  }

  /** Listens for programs. */
  static async open(loaded: LoadedScenario, options: HostOptions): Promise<ExecHost> {
    const [verbs, mlx5dv] = await Promise.all([import("../../verbs/index.js"), import("../../mlx5dv/index.js")]);
    const host = new ExecHost(loaded, { ...verbs, ...mlx5dv } as unknown as Facade, options);
    await freePath(host.path);
    const server = createServer((socket) => host.#take(socket));
    const listening = once(server, "listening");
    server.listen({ path: host.path });
    await listening;
    chmodSync(host.path, OWN);
    host.#server = server;
    for (const board of host.#boards) board.begin();
    return host;
  }

  /** Gives a frame to a port. */
  receive(port: number, frame: Uint8Array, linkType = 1): Outcome {
    this.#tick();
    const outcome = this.loaded.device.receive(port, frame, { linkType });
    this.#flush();
    return outcome;
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    const server = this.#server;
    for (const connection of this.#connections) {
      this.#guarded(connection, () => this.#run(connection, Infinity));
      connection.socket.destroy();
    }
    if (this.#nextTurn !== null) clearImmediate(this.#nextTurn);
    for (const session of this.#sessions) this.#end(session);
    for (const board of this.#boards) board.end();
    if (server !== null) await new Promise((resolve) => server.close(resolve));
    rmSync(this.path, { force: true });
    if (this.#ownFolder !== null) rmSync(dirname(this.path), { recursive: true, force: true });
  }

  /** The devices that programs see: each PF, then its virtual functions. */
  #devices(): object[] {
    return this.#boards.flatMap(({ loaded: { device } }) => [
      device,
      ...Array.from({ length: device.vports }, (_, i) => device.function(i + 1)),
    ]);
  }

  #tick(): void {
    for (const board of this.#boards) board.tick();
  }

  #take(socket: Socket): void {
    const connection = new Connection(socket, (message) => this.#arrived(connection, message));
    this.#connections.add(connection);
    socket.on("data", (chunk: Buffer) => this.#guarded(connection, () => connection.take(chunk)));
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#guarded(connection, () => this.#run(connection, Infinity));
      this.#connections.delete(connection);
      const { session, listens } = connection;
      if (session !== null && !listens) this.#guarded(connection, () => this.#end(session));
    });
  }

  /** Works for one program. What fails ends it: a defect where it is no refusal, and then too the others go on. */
  #guarded(connection: Connection, work: () => void): void {
    try {
      work();
      this.#flush();
    } catch (error) {
      if (!(error instanceof SteeringError)) process.stderr.write(`flowsteer: a defect: ${String(error)}\n`);
      connection.waiting.length = 0;
      connection.socket.destroy();
    }
  }

  /**
   * A program may send because another has told it that buffers are posted. Sockets are not read in the order in which they were
   * written: a request to send waits until all others were read, and what follows it, except receive requests.
   */
  #arrived(connection: Connection, message: Message): void {
    const number = message.call & ~NO_ANSWER;
    const sends = number === SENDS && this.#sessions.size > 1;
    if (RECEIVES.has(number) || !(sends || connection.waiting.length > 0)) this.#message(connection, message);
    else {
      connection.waiting.push({ ...message, due: sends ? this.#turn + TURNS : 0 });
      this.#nextTurn ??= setImmediate(() => this.#takeTurn());
    }
  }

  #takeTurn(): void {
    this.#turn++;
    this.#nextTurn = null;
    for (const connection of this.#connections) {
      if (connection.waiting.length > 0) this.#guarded(connection, () => this.#run(connection, this.#turn));
      if (connection.waiting.length > 0) this.#nextTurn ??= setImmediate(() => this.#takeTurn());
    }
  }

  #run(connection: Connection, turn: number): void {
    const { waiting } = connection;
    const rest = waiting.findIndex(({ due }) => due > turn);
    for (const message of waiting.splice(0, rest < 0 ? waiting.length : rest)) this.#message(connection, message);
  }

  #message(connection: Connection, { call, reader }: Message): void {
    const { session } = connection;
    if (session === null) this.#greet(connection, call, reader);
    else if (call === CALLED_FROM) connection.callersOf(placesIn(reader));
    else {
      this.#tick();
      const answer = session.call(call & ~NO_ANSWER, reader);
      // Completions first: a program may poll as soon as it has its answer.
      if ((call & NO_ANSWER) === 0) {
        this.#flush();
        connection.send(answer);
      }
      if (session.refused !== null) connection.waitForCallers(session, (told) => this.#listener.refused(told));
    }
  }

  /** The first message of a connection. */
  #greet(connection: Connection, call: number, reader: MessageReader): void {
    const hash = reader.u32();
    const pid = reader.u32();
    const number = reader.u32();
    if (hash !== tableHash) connection.refuse("its C library is of another release of flowsteer");
    else if (call === LISTENS) this.#listen(connection, pid, number);
    else if (call === SAYS_HELLO) {
      try {
        // What the host wrote into its own memory would end all programs.
        if (existsSync(`/proc/self/task/${pid}`)) throw Object.assign(new Error("its own process"), { code: "EPERM" });
        const session = new Session(pid, this.#facade, this.#devices());
        this.#sessions.add(session);
        session.onDestroy = (): void => this.#listener.destroying?.();
        this.#listener.started?.(pid);
        connection.accept(session);
      } catch (error) {
        const { code = "" } = error as NodeJS.ErrnoException;
        connection.refuse(`the kernel does not let the host reach its memory (${code}): see ptrace(2)`);
      }
    } else connection.refuse("a message of no protocol");
  }

  #listen(connection: Connection, pid: number, number: number): void {
    const session = [...this.#sessions].findLast((one) => one.pid === pid);
    if (session === undefined) {
      connection.refuse("it has no session");
      return;
    }
    connection.listens = true;
    connection.accept(session);
    tellEvents(session, number, connection.socket);
  }

  #flush(): void {
    for (const { queues } of this.#sessions) queues.flush();
  }

  #end(session: Session): void {
    // The end of the host ends it before its socket has closed.
    if (!this.#sessions.delete(session)) return;
    const report = session.report();
    this.#listener.ending?.(report);
    session.end();
    this.#flush();
    this.#listener.ended(report);
  }
}

interface Message {
  readonly call: number;
  readonly reader: MessageReader;
}

/** The bytes of a connection as messages. */
class Connection {
  readonly socket: Socket;
  readonly #arrived: (message: Message) => void;
  /** Messages that wait for a turn. */
  readonly waiting: (Message & { readonly due: number })[] = [];
  #held: Buffer[] = [];
  #length = 0;
  session: Session | null = null;
  /** Whether it is there for events only. */
  listens = false;
  #told: { told: RefusedCall; tell: (told: RefusedCall) => void; timer: NodeJS.Timeout } | null = null;

  constructor(socket: Socket, arrived: (message: Message) => void) {
    this.socket = socket;
    this.#arrived = arrived;
  }

  /** Takes bytes. @throws SteeringError a message that no program sends */
  take(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed()) return;
    let bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    while (bytes.length >= 4) {
      const size = bytes.readUInt32LE(0);
      if (bytes.length < 4 + size) break;
      const reader = new MessageReader(bytes.subarray(4, 4 + size));
      bytes = bytes.subarray(4 + size);
      this.#arrived({ call: reader.u16(), reader });
    }
    this.#held = bytes.length > 0 ? [bytes] : [];
    this.#length = bytes.length;
  }

  /** Bytes until the next message is whole. */
  #needed(): number {
    const [first] = this.#held;
    if (first === undefined || first.length < 4) return 4;
    const size = first.readUInt32LE(0);
    if (size > MAX_MESSAGE) {
      const hint = `at most ${MAX_MESSAGE} bytes`;
      throw new SteeringError({
        code: "EINVAL",
        call: "exec",
        reason: "out_of_range",
        path: "message",
        value: size,
        hint,
      });
    }
    return 4 + size;
  }

  send(answer: Uint8Array): void {
    this.socket.write(answer);
  }

  accept(session: Session): void {
    this.session = session;
    this.send(new Uint8Array([4, 0, 0, 0, 0, 0, 0, 0]));
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

function placesIn(reader: MessageReader): CodePlace[] {
  const places: CodePlace[] = [];
  // The number of the call.
  reader.u16();
  while (reader.left > 0) {
    const module = reader.text() ?? "";
    const offset = Number(reader.u64());
    places.push({ module, offset, symbol: reader.text() });
  }
  return places;
}
