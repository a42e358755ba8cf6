/** The functions with C names as methods: `{ "args": [...] }`, with values as docs/replay.md writes them. */
import { DESTROYERS, destroyAll, MAKERS, type HandleName } from "../../calls/index.js";
import {
  fromJson,
  KINDS,
  KnownObjects,
  toJson,
  viewAs,
  writtenTo,
  type Json,
  type ValueKind,
  type ValueKinds,
} from "../../replay/index.js";
import { destroyRule, type LoadedScenario } from "../../scenario/index.js";
import { SteeringError } from "../../index.js";
import { bad, bytesParam, intParam, only } from "./params.js";
import { ERRORS, refusalData, RpcError, type Call, type Params } from "./rpc.js";

const C_NAME = /^(ibv|mlx5dv)_/;
/** Objects that a session names at once. */
const MAX_OBJECTS = 100_000;
/** Bytes of memory that all sessions have at once. */
const MAX_MEMORY = 64 << 20;

/** Events of a session that may wait for their acknowledgement. */
const MAX_TAKEN = 1000;

/** Memory of clients stays where it is: they read it with `memory_read`. */
const IN_PLACE = { memory: true };

type Callable = (...args: unknown[]) => unknown;

/** An object of a device, as far as it counts what uses it. */
interface InUse {
  users: number;
}

/** What a session holds. */
export interface SessionSum {
  readonly session: number;
  /** Calls by C names. */
  readonly calls: number;
  /** Bytes of memory. */
  readonly memory: number;
  /** How many objects of each kind. */
  readonly objects: Readonly<Partial<Record<HandleName, number>>>;
}

/** What sessions share. */
export interface Shared {
  readonly loaded: LoadedScenario;
  /** What the modules with C names export. */
  readonly exported: Readonly<Record<string, unknown>>;
  /** Bytes of memory of all sessions. */
  readonly memory: number;
  sums(): SessionSum[];
  /** Makes a call of a session that cannot destroy the objects of others. */
  guarded<T>(session: Session, run: () => T): T;
}

/** What a connection calls by C names: its objects, numbers and memory are its own, and end with it. */
export class Session {
  readonly #sessions: Shared;
  readonly #number: number;
  readonly #loaded: LoadedScenario;
  readonly #known = new KnownObjects();
  readonly #kinds: ValueKinds;
  /** The objects that its calls made, in their order. */
  readonly #owned = new Map<object, HandleName>();
  /** What acknowledges the events that it has taken: an object with one cannot be destroyed. */
  readonly #taken: (() => unknown)[] = [];
  #memory = 0;
  #calls = 0;

  constructor(sessions: Shared, number: number) {
    this.#sessions = sessions;
    this.#number = number;
    this.#loaded = sessions.loaded;
    this.#kinds = { ...KINDS, ...this.#ownKinds() };
  }

  /** Bytes of its memory. */
  get memory(): number {
    return this.#memory;
  }

  /** What it holds. */
  sum(): SessionSum {
    const objects: Partial<Record<HandleName, number>> = {};
    for (const kind of this.#owned.values()) objects[kind] = (objects[kind] ?? 0) + 1;
    return { session: this.#number, calls: this.#calls, memory: this.#memory, objects };
  }

  /** Destroys its objects, and forgets its numbers and memory. */
  end(): void {
    for (const acknowledge of this.#taken) {
      try {
        acknowledge();
      } catch (error) {
        // It has been acknowledged, or its object is destroyed.
        if (!(error instanceof SteeringError)) throw error;
      }
    }
    destroyAll(this.#owned, this.#sessions.exported);
    this.#owned.clear();
    this.#memory = 0;
  }

  /** Makes a call while nobody can destroy what this session made with device commands. */
  guarded<T>(run: () => T): T {
    const made = [...this.#owned].flatMap(([object, kind]) => (kind === "mlx5dv_devx_obj" ? [object as InUse] : []));
    for (const object of made) object.users++;
    try {
      return run();
    } finally {
      for (const object of made) object.users--;
    }
  }

  /** All methods, by name. */
  methods(): Readonly<Record<string, Call>> {
    const own: Record<string, Call> = {
      memory: (params) => this.#allocate(params),
      memory_read: (params) => this.#read(params),
      memory_write: (params) => this.#write(params),
      fields: (params) => this.#fields(params),
      release: (params) => this.#release(params),
      sessions: (params) => {
        only(params, []);
        return { session: this.#number, sessions: this.#sessions.sums() };
      },
    };
    for (const [name, run] of Object.entries(this.#sessions.exported)) {
      if (C_NAME.test(name) && isFunction(run)) own[name] = (params) => this.#call(name, run, params);
    }
    return own;
  }

  #call(name: string, run: Callable, params: Params): Json {
    only(params, ["args"]);
    const { args = [] } = params;
    if (!isList(args)) throw bad("args", "a list of the arguments in the order of C");
    if (this.#known.count >= MAX_OBJECTS)
      throw bad("args", `${MAX_OBJECTS} objects have numbers: release some of them`);
    this.#calls++;
    const values = this.#arguments(name, args);
    const [first] = values;
    if (name === "ibv_close_device" && first === this.#loaded.context)
      throw bad("args[0]", "the context of the scenario is everybody's: close those of ibv_open_device");
    const named =
      name === "mlx5dv_dr_rule_destroy" ? [...this.#loaded.rules].find(([, rule]) => rule === first) : undefined;
    if (named !== undefined) {
      // A rule of the scenario loses its name too.
      destroyRule(this.#loaded, named[0]);
      return 0;
    }
    const before = toJson(this.#known, values, IN_PLACE);
    const written = (): { readonly out?: Json } => writtenTo(this.#known, before, values, IN_PLACE);
    try {
      const made = this.#made(name, () => run(...values));
      this.#noteEvent(name, made === 0 ? values[1] : made);
      if (DESTROYERS.has(name)) this.#owned.delete(first as object);
      const { out } = written();
      const result = toJson(this.#known, made, IN_PLACE);
      return out === undefined ? result : { result, out };
    } catch (error) {
      if (error instanceof SteeringError)
        throw new RpcError(ERRORS.refused, error.message, { ...refusalData(error), ...written() });
      // The checks of arguments name the call; what does not is a defect.
      if (error instanceof TypeError && error.message.startsWith(`${name}: `)) throw badArgument(error);
      throw error;
    }
  }

  /** Makes a call, whose object is the session's. */
  #made(name: string, run: () => unknown): unknown {
    // Device commands name objects by numbers, which sessions cannot hide from each other.
    const result = name === "mlx5dv_devx_general_cmd" ? this.#sessions.guarded(this, run) : run();
    const kind = MAKERS.get(name);
    if (kind !== undefined) this.#owned.set(result as object, kind);
    return result;
  }

  #noteEvent(name: string, event: unknown): void {
    const { ibv_ack_async_event, ibv_ack_cq_events } = this.#sessions.exported as Readonly<Record<string, Callable>>;
    if (name === "ibv_get_async_event") this.#taken.push(() => ibv_ack_async_event?.(event));
    if (name === "ibv_get_cq_event") this.#taken.push(() => ibv_ack_cq_events?.((event as { cq: object }).cq, 1));
    if (this.#taken.length > MAX_TAKEN) this.#taken.shift();
  }

  #arguments(name: string, args: readonly Json[]): unknown[] {
    try {
      return args.map((one, i) => fromJson(this.#known, name, `args[${i}]`, one, this.#kinds));
    } catch (error) {
      throw error instanceof SteeringError ? badArgument(error, refusalData(error)) : error;
    }
  }

  #allocate(params: Params): Json {
    only(params, ["bytes"]);
    const size = intParam(params, "bytes", 1, MAX_MEMORY, 0);
    if (this.#sessions.memory + size > MAX_MEMORY)
      throw bad("bytes", `clients have ${MAX_MEMORY} bytes at once: release some`);
    this.#memory += size;
    return toJson(this.#known, new ArrayBuffer(size));
  }

  #read(params: Params): object {
    only(params, ["id", "at", "length"]);
    return { hex: Buffer.from(this.#view(params)).toString("hex") };
  }

  #write(params: Params): void {
    only(params, ["id", "at", "hex"]);
    const bytes = bytesParam(params, "hex");
    this.#view({ ...params, length: bytes.length }).set(bytes);
  }

  #view(
    params: Params,
    wrongId = (): never => {
      throw bad("id", "the number of memory");
    },
  ): Uint8Array<ArrayBuffer> {
    const { id } = params;
    const buffer = typeof id === "number" ? this.#known.find(id) : undefined;
    if (!(buffer instanceof ArrayBuffer)) return wrongId();
    const at = intParam(params, "at", 0, buffer.byteLength, 0);
    const most = buffer.byteLength - at;
    return new Uint8Array(buffer, at, intParam(params, "length", 0, most, most));
  }

  /** The members of an object that are numbers, text and truth values: `qp_num`, `lkey`. */
  #fields(params: Params): Json {
    only(params, ["id"]);
    const object = this.#known.find(intParam(params, "id", 1, Number.MAX_SAFE_INTEGER, 0)) as
      Readonly<Record<string, unknown>> | undefined;
    if (object === undefined) throw bad("id", "no object has this number");
    const names = new Set(Object.keys(object));
    for (
      let at: unknown = Object.getPrototypeOf(object);
      at !== Object.prototype && at !== null;
      at = Object.getPrototypeOf(at)
    ) {
      for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(at)))
        if ("get" in descriptor && descriptor.get !== undefined) names.add(name);
    }
    const pairs = [...names].filter((name) => /^[a-z]/.test(name)).map((name) => [name, object[name]] as const);
    return toJson(this.#known, Object.fromEntries(pairs.filter(([, value]) => isPlain(value))));
  }

  #release(params: Params): void {
    only(params, ["id"]);
    const id = intParam(params, "id", 1, Number.MAX_SAFE_INTEGER, 0);
    const found = this.#known.find(id);
    if (!this.#known.forget(id)) throw bad("id", "no object has this number");
    if (found instanceof ArrayBuffer) this.#memory -= found.byteLength;
  }

  /** Values by which clients name memory, constants, and objects of the scenario. */
  #ownKinds(): ValueKinds {
    const loaded = this.#loaded;
    const named = (kind: string, all: () => ReadonlyMap<string, object>): ValueKind => ({
      members: ["name"],
      read: (_, { name = null }, bad) =>
        (typeof name === "string" ? all().get(name) : undefined) ?? bad(`there is no ${kind} ${JSON.stringify(name)}`),
    });
    const bytes = KINDS["bytes"] as ValueKind;
    return {
      bytes: {
        ...bytes,
        read: (known, value, bad) =>
          value["id"] === undefined ? bytes.read(known, value, bad) : bad("memory of an earlier call is { $: memory }"),
      },
      memory: {
        members: ["id", "at", "length", "type"],
        read: (_, { type, ...value }, bad) =>
          viewAs(
            type,
            this.#view(value, () => bad("id: the number of memory")),
            bad,
          ),
      },
      constant: { members: ["name"], read: (_, { name }, bad) => this.#constant(name, bad) },
      device: { members: [], read: () => loaded.device },
      context: { members: [], read: () => loaded.context },
      queue: named("queue", () => new Map([...loaded.queues].map(([name, { queue }]) => [name, queue]))),
      counter: named("counter", () => loaded.counters),
      table: named("table", () => loaded.tables),
      matcher: named("matcher", () => loaded.matchers),
      rule: named("rule", () => loaded.rules),
      flow: named("flow", () => loaded.flows),
    };
  }

  /** Flags by their names: `IBV_QP_STATE|IBV_QP_PORT`. */
  #constant(names: Json | undefined, bad: (hint: string) => never): number {
    if (typeof names !== "string") return bad("name: constants of C, joined by |");
    const { exported } = this.#sessions;
    let sum = 0;
    for (const name of names.split("|")) {
      const value = Object.hasOwn(exported, name) ? exported[name] : undefined;
      if (typeof value !== "number") return bad(`there is no constant ${JSON.stringify(name)}`);
      sum |= value;
    }
    return sum >>> 0;
  }
}

function badArgument({ message }: Error, data?: object): RpcError {
  return new RpcError(ERRORS.params, message, data);
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

function isFunction(value: unknown): value is Callable {
  return typeof value === "function";
}

function isPlain(value: unknown): boolean {
  return ["number", "string", "boolean", "bigint"].includes(typeof value);
}
