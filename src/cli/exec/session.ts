/** A process at the host: its objects, which end with it, and its calls. */
import {
  readArguments,
  writeAnswer,
  destroyAll,
  type HandleName,
  MessageWriter,
  type MessageReader,
  functions,
  type CFunction,
} from "../../calls/index.js";
import { readFileSync } from "node:fs";
import { ERRNO, inCall, refuse, SteeringError } from "../../errors.js";
import { Queues } from "./queues.js";
import { ProcessMemory } from "./processMemory.js";
import type { MadeRule, Refused, SessionReport } from "./report/reports.js";
import { POSTS, SPECIAL, type Caller, type Facade } from "./special.js";

/** Objects that a session may have at once. */
const MAX_OBJECTS = 1_000_000;

/** Milliseconds that the host waits for messages that the process says it has sent. */
const PATIENCE = 1000;

interface Owned {
  readonly object: object;
  readonly kind: HandleName;
  /** The call that made it. */
  readonly call: string;
}

/** An object that counts the frames which it took. */
interface Counting {
  readonly name?: string;
  hits(): Hits;
}

interface Hits {
  readonly packets: bigint;
  readonly bytes: bigint;
}

export class Session implements Caller {
  readonly pid: number;
  readonly facade: Facade;
  /** What `ibv_get_device_list` shows: devices and their virtual functions. */
  readonly devices: readonly object[];
  readonly memory: ProcessMemory;
  readonly queues: Queues;
  readonly #command: string;
  readonly #objects = new Map<number, Owned>();
  readonly #numbers = new Map<object, number>();
  readonly #rules: MadeRule[] = [];
  #last = 0;
  #calls = 0;
  /** Called before a rule or a flow is destroyed. */
  onDestroy: (() => void) | null = null;
  /** The refusal whose callers have not come yet. */
  refused: Refused | null = null;

  /** Messages without an answer that were handled. */
  handled = 0;
  /** Where the process counts those that it has sent. */
  readonly #posted: number;
  readonly #word = new Uint32Array(1);
  #late = { handled: -1, since: 0 };

  /** @throws an error of the system: the kernel does not let the host read the memory of the process */
  constructor(pid: number, facade: Facade, devices: readonly object[], posted: number) {
    this.#posted = posted;
    this.pid = pid;
    this.facade = facade;
    this.devices = devices;
    this.memory = new ProcessMemory(pid);
    this.queues = new Queues(this.memory, (refused) => (this.refused = refused));
    this.queues.addressOf = (id) => (id === 0 ? null : this.objectOf(id, "ibv_ah", "wr.ud.ah"));
    this.#command = commandOf(pid);
  }

  /**
   * Whether it has posted requests that have not been handled yet. Their messages are on their way: if none is handled for
   * a while, they are not.
   * @param now in milliseconds
   */
  isLate(now: number): boolean {
    if (!this.memory.read(this.#posted, new Uint8Array(this.#word.buffer))) return false;
    if ((((this.#word[0] as number) - this.handled) | 0) <= 0) return false;
    if (this.#late.handled !== this.handled) this.#late = { handled: this.handled, since: now };
    return now - this.#late.since < PATIENCE;
  }

  /** Makes a call. @returns the answer, also for messages whose senders do not wait for one */
  call(number: number, reader: MessageReader): Uint8Array {
    this.#calls++;
    this.refused = null;
    const one = functions[number];
    if (one === undefined) return errorAnswer(ERRNO.EOPNOTSUPP);
    const name = one.name.replace(/^post_/, "ibv_post_");
    try {
      const post = POSTS[one.name];
      if (post === undefined) return inCall(name, () => this.#made(one, reader)).framed();
      inCall(name, () => {
        const queue = this.objectOf(reader.u32(), post.queue, post.queue);
        post.requests(this.queues, queue, reader.raw(reader.u32()));
      });
      return POSTED;
    } catch (error) {
      const refused = refusalOf(name, error);
      if (!ANSWERS.has(refused.code)) this.refused = refused;
      return errorAnswer(error instanceof SteeringError ? error.errno : ERRNO.EINVAL);
    }
  }

  #made(one: CFunction, reader: MessageReader): MessageWriter {
    const { name, returns, parameters } = one;
    const args = readArguments(one, reader, (id, kind, path) => this.objectOf(id, kind, path));
    const freed = parameters.findIndex(({ direction }) => direction === "free");
    const owned = freed < 0 ? null : this.#ownedOf(args[freed] as object);
    // Counted before the call: a destroyed rule counts no more.
    const before = owned === null ? null : hitsOf(owned);
    if (before !== null) this.onDestroy?.();
    const special = SPECIAL[name];
    const result = special === undefined ? this.facade[name]?.(...args) : special(this, args);
    if (result instanceof MessageWriter) return result;
    if (owned !== null) this.#forget(owned, before);
    const number = typeof returns === "object" ? this.#keep(result as object, returns.handle, name) : 0;
    return writeAnswer(one, result, number, args);
  }

  /** @throws SteeringError EINVAL: the session has no such object */
  objectOf(id: number, kind: HandleName, path: string): object {
    const found = this.#objects.get(id);
    if (found?.kind === kind) return found.object;
    const hint = `it was never made, or destroyed already; ${kind} ${id}`;
    return refuse({ code: "EINVAL", reason: "bad_object", path, value: id, hint });
  }

  /** The object of a number in the bytes of a flow. */
  anyObject(id: bigint): object | null {
    return this.#objects.get(Number(id))?.object ?? null;
  }

  #keep(object: object, kind: HandleName, call: string): number {
    if (this.#objects.size >= MAX_OBJECTS)
      refuse({ code: "ENOMEM", reason: "out_of_range", path: kind, hint: `at most ${MAX_OBJECTS} objects` });
    this.#objects.set(++this.#last, { object, kind, call });
    this.#numbers.set(object, this.#last);
    return this.#last;
  }

  #ownedOf(object: object): Owned | null {
    const id = this.#numbers.get(object);
    return id === undefined ? null : (this.#objects.get(id) ?? null);
  }

  #forget(owned: Owned, hits: Hits | null): void {
    const { object } = owned;
    this.#objects.delete(this.#numbers.get(object) as number);
    this.#numbers.delete(object);
    if (hits !== null) this.#rules.push(madeRule(owned, hits, true));
    this.queues.forget(object);
  }

  /** What it made, and what it never destroyed. */
  report(): SessionReport {
    const leaks = new Map<string, number>();
    const rules = [...this.#rules];
    for (const owned of this.#objects.values()) {
      const { kind } = owned;
      const hits = hitsOf(owned);
      if (hits !== null) rules.push(madeRule(owned, hits, false));
      if (kind === "ibv_context") continue;
      leaks.set(kind, (leaks.get(kind) ?? 0) + 1);
    }
    return { pid: this.pid, command: this.#command, calls: this.#calls, rules, leaks };
  }

  /** Destroys its objects, users before what they use, as the kernel does when a process ends. */
  end(): void {
    this.queues.end();
    destroyAll(
      [...this.#objects.values()].map(({ object, kind }) => [object, kind]),
      this.facade,
    );
    this.#objects.clear();
    this.memory.close();
  }
}

const COUNTED: ReadonlySet<HandleName> = new Set(["mlx5dv_dr_rule", "ibv_flow"]);

function hitsOf({ object, kind }: Owned): Hits | null {
  return COUNTED.has(kind) ? (object as Counting).hits() : null;
}

function madeRule({ object, kind, call }: Owned, hits: Hits, destroyed: boolean): MadeRule {
  const name = (object as Counting).name ?? "";
  return { kind: kind === "ibv_flow" ? "flow" : "rule", name, call, ...hits, destroyed };
}

/** The answer to what is posted, for which nothing waits. */
const POSTED = errorAnswer(0);

function errorAnswer(errno: number): Uint8Array {
  const writer = new MessageWriter();
  writer.u32(errno);
  return writer.framed();
}

/** Errors that answer a question: no such entry, nothing there yet. */
const ANSWERS: ReadonlySet<string> = new Set(["EAGAIN", "ENODATA", "ENOENT"]);

/** The refusal in words, as one of the C function. A wrong type is a wrong argument of C. */
function refusalOf(name: string, error: unknown): Refused {
  if (!(error instanceof SteeringError) && !(error instanceof TypeError)) throw error;
  const [, call = name] = /^((?:ibv|mlx5dv)_\w+): /.exec(error.message) ?? [];
  if (!(error instanceof SteeringError)) return { call, code: "EINVAL", message: error.message };
  return { call, code: error.code, message: call + error.message.slice(error.call.length) };
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .split("\0")
      .filter((one) => one !== "")
      .join(" ");
  } catch {
    return `process ${pid}`;
  }
}
