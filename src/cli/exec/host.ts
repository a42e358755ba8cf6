/** The host of `flowsteer exec`: devices that programs reach through a Unix socket, each program a session of its own. */
import { functions, tableHash, type MessageReader } from "../../calls/index.js";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SteeringError } from "../../errors.js";
import type { Outcome } from "../../index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import { Switchboard } from "../serve/switchboard.js";
import { listenAt } from "../wire/unixPath.js";
import type { CompletionQueue } from "../../verbs/index.js";
import { Attention } from "./attention.js";
import { Connection } from "./connection.js";
import { tellEvents } from "./events.js";
import { FEW } from "./queues.js";
import type { CodePlace, RefusedCall, SessionReport } from "./report/reports.js";
import { Session } from "./session.js";
import type { Facade } from "./special.js";
import { earlier, VirtualClock, type ClockedHost } from "./virtualClock.js";

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
  /** Whether the clock stands still while a program runs. @default false */
  readonly isVirtual?: boolean;
  readonly listener: HostListener;
}

/** Functions of messages that no program calls; native/connection.c has the same numbers. */
const SAYS_HELLO = 0xffff;
const LISTENS = 0xfffe;
const CALLED_FROM = 0xfffc;
const POLLED = 0xfffb;
const NO_ANSWER = 0x8000;

/** Milliseconds until a message that waits for a receiver is tried again. */
const PAUSE = 1;
const POST_SEND = functions.findIndex(({ name }) => name === "post_send");
/** Messages that are handled before programs get the completions of them: fewer than the receive requests that are few. */
const TOGETHER = FEW / 2;

export class ExecHost {
  readonly loaded: LoadedScenario;
  readonly path: string;
  readonly #listener: HostListener;
  /** All devices, each with its clock. */
  readonly #boards: readonly Switchboard[];
  readonly #facade: Facade;
  /** Moves the clocks where the machine does not; null where it does. */
  readonly clock: VirtualClock | null;
  /** A process that has replaced its program may have two for a moment. */
  readonly #sessions = new Set<Session>();
  readonly #sockets = new Set<Socket>();
  readonly #attention = new Attention();
  readonly #ownFolder: string | null;
  #server: Server | null = null;

  private constructor(loaded: LoadedScenario, facade: Facade, options: HostOptions) {
    const { path, others = [], isVirtual = false, listener } = options;
    this.loaded = loaded;
    this.#facade = facade;
    this.#listener = listener;
    this.#ownFolder = path === undefined ? mkdtempSync(join(tmpdir(), "flowsteer-exec-")) : null;
    this.path = path ?? join(this.#ownFolder as string, "host.sock");
    this.#boards = [loaded, ...others].map((one) => new Switchboard(one, [], isVirtual));
    for (const { loaded: one } of this.#boards) one.device.realTime = true;
    this.clock = isVirtual ? new VirtualClock(this.#clocked()) : null;
  }

  #clocked(): ClockedHost {
    const devices = this.#boards.map(({ loaded: { device } }) => device);
    return {
      now: () => this.loaded.device.now(),
      deadline: () => devices.map((device) => device.nextDeadline()).reduce(earlier, null),
      advanceTo: (time) => this.#boards.forEach((board) => board.advanceTo(time)),
      flush: () => this.#flush(),
      programs: () => this.#sessions,
    };
  }

  /** Listens for programs. */
  static async open(loaded: LoadedScenario, options: HostOptions): Promise<ExecHost> {
    const [verbs, mlx5dv] = await Promise.all([import("../../verbs/index.js"), import("../../mlx5dv/index.js")]);
    const host = new ExecHost(loaded, { ...verbs, ...mlx5dv } as unknown as Facade, options);
    const server = createServer((socket) => host.#take(socket));
    await listenAt(server, host.path);
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
    for (const socket of this.#sockets) socket.destroy();
    for (const session of this.#sessions) this.#end(session);
    for (const board of this.#boards) board.end();
    this.clock?.end();
    this.#attention.end();
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
    this.#sockets.add(socket);
    const connection = new Connection(socket, (call, reader) => this.#message(connection, call, reader));
    socket.on("data", (chunk: Buffer) => {
      connection.take(chunk);
      this.#serve(connection);
      this.#attention.keep(this.#sessions.size);
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#sockets.delete(socket);
      connection.end();
      const { session, listens } = connection;
      if (session !== null && !listens) this.#guarded(() => this.#end(session));
    });
  }

  /** Handles the messages that have arrived, up to a send request for which a receiver has no room. */
  #serve(connection: Connection): void {
    const handled = this.#guarded(() => {
      for (let count = 0; connection.hasMessage; count++) {
        if (count % TOGETHER === 0) {
          this.#flush();
          this.#tick();
        }
        const pause = (connection.nextCall & ~NO_ANSWER) === POST_SEND ? this.#pauseOf(connection) : null;
        if (pause !== null) {
          this.#pause(connection, pause);
          return;
        }
        connection.handleOne();
      }
    });
    // Bytes that are no message end the program.
    if (!handled) connection.socket.destroy();
    this.clock?.heard();
  }

  #pause(connection: Connection, milliseconds: number): void {
    const serve = (): void => this.#serve(connection);
    const { session } = connection;
    if (this.clock === null || session === null || milliseconds === 0) connection.pause(milliseconds, serve);
    else this.clock.wait(session, connection.hold(serve));
  }

  /**
   * How long a request to send waits for another program, in milliseconds; null where it need not. What others had posted
   * before is handled first, and a program that has to read completions before it can post reads them.
   * MODEL: a device does not wait for programs. There each has processors of its own, as it has on another machine.
   */
  #pauseOf(connection: Connection): number | null {
    const { session: sender } = connection;
    const now = performance.now();
    let isLow = false;
    for (const session of this.#sessions) {
      if (session === sender) continue;
      if (connection.isFresh && session.isLate(now)) return 0;
      isLow ||= session.queues.isLow;
    }
    connection.isFresh = false;
    if (!isLow) return null;
    this.#flush();
    for (const session of this.#sessions) if (session !== sender && session.queues.isBehind(now)) return PAUSE;
    return null;
  }

  /** Works for one program: what fails is a defect where it is no refusal, and must not end the others. */
  #guarded(work: () => void): boolean {
    try {
      work();
      this.#flush();
      return true;
    } catch (error) {
      if (!(error instanceof SteeringError)) process.stderr.write(`flowsteer: a defect: ${String(error)}\n`);
      return false;
    }
  }

  #message(connection: Connection, call: number, reader: MessageReader): void {
    const { session } = connection;
    if (session === null) this.#greet(connection, call, reader);
    else if (call === CALLED_FROM) {
      session.handled++;
      connection.callersOf(placesIn(reader));
    } else if (call === POLLED) this.#polled(session, connection, reader.u32());
    else {
      const isAnswered = (call & NO_ANSWER) === 0;
      if (isAnswered) this.#tick();
      const answer = session.call(call & ~NO_ANSWER, reader);
      // Completions first: a program may poll as soon as it has its answer.
      if (isAnswered) {
        this.#flush();
        connection.send(answer);
      } else session.handled++;
      if (session.refused !== null) connection.waitForCallers(session, (told) => this.#listener.refused(told));
    }
  }

  /** A poll of a completion queue has found nothing: at this time, unless what it asks for has just come. */
  #polled(session: Session, connection: Connection, id: number): void {
    this.#flush();
    const cq = session.objectOf(id, "ibv_cq", "cq") as CompletionQueue;
    if (this.clock === null || session.queues.unreadOf(cq) > 0) connection.answerPoll();
    else this.clock.wait(session, () => connection.answerPoll());
  }

  /** The first message of a connection. */
  #greet(connection: Connection, call: number, reader: MessageReader): void {
    const hash = reader.u32();
    const pid = reader.u32();
    const number = Number(reader.u64());
    if (hash !== tableHash) connection.refuse("its C library is of another release of flowsteer");
    else if (call === LISTENS) this.#listen(connection, pid, number);
    else if (call === SAYS_HELLO) {
      try {
        // What the host wrote into its own memory would end all programs.
        if (existsSync(`/proc/self/task/${pid}`)) throw Object.assign(new Error("its own process"), { code: "EPERM" });
        const session = new Session(pid, this.#facade, this.#devices(), number);
        this.#sessions.add(session);
        session.onDestroy = (): void => this.#listener.destroying?.();
        this.#listener.started?.(pid);
        connection.accept(session, this.clock !== null);
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
    connection.accept(session, this.clock !== null);
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
    this.clock?.forget(session);
    this.#listener.ended(report);
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
