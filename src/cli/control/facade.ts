/** The functions with C names as methods: `{ "args": [...] }`, with values as docs/replay.md writes them. */
import { fromJson, KnownObjects, toJson, type Json } from "../../replay/index.js";
import { destroyRule, type LoadedScenario } from "../../scenario/index.js";
import { bad, bytesParam, intParam, only } from "./params.js";
import { isObject } from "../../base/checks.js";
import type { Call, Params } from "./rpc.js";

const C_NAME = /^(ibv|mlx5dv)_/;
/** Objects that the control names at once. */
const MAX_OBJECTS = 100_000;
/** Bytes of memory that clients have at once. */
const MAX_MEMORY = 64 << 20;

type Callable = (...args: unknown[]) => unknown;

/** Calls by C name, and the memory that they work on. */
export class FacadeCalls {
  readonly #loaded: LoadedScenario;
  /** What the modules with C names export. */
  readonly #exported: Readonly<Record<string, unknown>>;
  readonly #known = new KnownObjects();
  #memory = 0;

  private constructor(loaded: LoadedScenario, exported: Readonly<Record<string, unknown>>) {
    this.#loaded = loaded;
    this.#exported = exported;
  }

  /** Loads the modules with C names. */
  static async open(loaded: LoadedScenario): Promise<FacadeCalls> {
    const [verbs, mlx5dv] = await Promise.all([import("../../verbs/index.js"), import("../../mlx5dv/index.js")]);
    return new FacadeCalls(loaded, { ...verbs, ...mlx5dv });
  }

  /** All methods, by name. */
  methods(): Readonly<Record<string, Call>> {
    const own: Record<string, Call> = {
      memory: (params) => this.#allocate(params),
      memory_read: (params) => this.#read(params),
      memory_write: (params) => this.#write(params),
      fields: (params) => this.#fields(params),
      release: (params) => this.#release(params),
    };
    for (const [name, run] of Object.entries(this.#exported)) {
      if (C_NAME.test(name) && isFunction(run)) own[name] = (params) => this.#call(name, run, params);
    }
    return own;
  }

  #call(name: string, run: Callable, params: Params): Json {
    only(params, ["args"]);
    const { args = [] } = params;
    if (!Array.isArray(args)) throw bad("args", "a list of the arguments in the order of C");
    if (this.#known.count >= MAX_OBJECTS)
      throw bad("args", `${MAX_OBJECTS} objects have numbers: release some of them`);
    const values = args.map((one: Json, i) => this.#value(name, `args[${i}]`, one));
    const [first] = values;
    const named =
      name === "mlx5dv_dr_rule_destroy" ? [...this.#loaded.rules].find(([, rule]) => rule === first) : undefined;
    if (named === undefined) return toJson(this.#known, run(...values));
    // A rule of the scenario loses its name too.
    destroyRule(this.#loaded, named[0]);
    return 0;
  }

  /** Reads an argument. Clients name buffers, and objects of the scenario, by forms of their own. */
  #value(call: string, path: string, value: Json): unknown {
    if (Array.isArray(value)) return value.map((one: Json, i) => this.#value(call, `${path}[${i}]`, one));
    if (!isObject(value)) return value;
    const { $: kind, id } = value;
    if (kind === undefined)
      return Object.fromEntries(
        Object.entries(value as Record<string, Json>).map(([key, one]) => [
          key,
          this.#value(call, `${path}.${key}`, one),
        ]),
      );
    if (kind === "memory") return this.#view(path, value);
    if (kind === "constant") return this.#constant(path, value["name"]);
    if (kind === "bytes" && id !== undefined) throw bad(path, "memory of an earlier call is { $: memory }");
    return this.#named(path, kind, value["name"]) ?? fromJson(this.#known, call, path, value);
  }

  /** An object of the scenario by its name; null for other kinds. */
  #named(path: string, kind: unknown, name: unknown): object | null {
    const { device, context, queues, counters, tables, matchers, rules, flows } = this.#loaded;
    if (kind === "device") return device;
    if (kind === "context") return context;
    const lists: Readonly<Record<string, ReadonlyMap<string, object>>> = {
      counter: counters,
      table: tables,
      matcher: matchers,
      rule: rules,
      flow: flows,
      queue: new Map([...queues].map(([one, { queue }]) => [one, queue])),
    };
    if (typeof kind !== "string" || !Object.hasOwn(lists, kind)) return null;
    const found = typeof name === "string" ? lists[kind]?.get(name) : undefined;
    if (found === undefined) throw bad(path, `there is no ${kind} ${JSON.stringify(name)}`);
    return found;
  }

  #allocate(params: Params): Json {
    only(params, ["bytes"]);
    const size = intParam(params, "bytes", 1, MAX_MEMORY, 0);
    if (this.#memory + size > MAX_MEMORY) throw bad("bytes", `clients have ${MAX_MEMORY} bytes at once: release some`);
    this.#memory += size;
    return toJson(this.#known, new ArrayBuffer(size));
  }

  #read(params: Params): object {
    only(params, ["id", "at", "length"]);
    return { hex: Buffer.from(this.#view("id", params)).toString("hex") };
  }

  #write(params: Params): void {
    only(params, ["id", "at", "hex"]);
    const bytes = bytesParam(params, "hex");
    this.#view("id", { ...params, length: bytes.length }).set(bytes);
  }

  #view(path: string, params: Params): Uint8Array {
    const { id } = params;
    const buffer = typeof id === "number" ? this.#known.find(id) : undefined;
    if (!(buffer instanceof ArrayBuffer)) throw bad(path, "the number of memory");
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

  /** Flags by their names: `IBV_QP_STATE|IBV_QP_PORT`. */
  #constant(path: string, names: unknown): number {
    if (typeof names !== "string") throw bad(path, "name: constants of C, joined by |");
    let sum = 0;
    for (const name of names.split("|")) {
      const value = Object.hasOwn(this.#exported, name) ? this.#exported[name] : undefined;
      if (typeof value !== "number") throw bad(path, `there is no constant ${JSON.stringify(name)}`);
      sum |= value;
    }
    return sum >>> 0;
  }
}

function isFunction(value: unknown): value is Callable {
  return typeof value === "function";
}

function isPlain(value: unknown): boolean {
  return ["number", "string", "boolean", "bigint"].includes(typeof value);
}
