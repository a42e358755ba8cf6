/** Recording: calls go through the recorder, which writes each with its result as a line of JSON. */
import { keptText } from "./textFile.js";
import { errorJson, KnownObjects, toJson, writtenTo, type Json } from "./values.js";

/** A recorded call. */
export interface CallRecord {
  /** From 1 on. */
  readonly n: number;
  /** The number of the object whose method was called; null for a function. */
  readonly on: number | null;
  readonly call: string;
  readonly args: Json;
  /** What it returned; missing where it threw. */
  readonly result?: Json;
  readonly error?: Json;
  /** What the call wrote into its arguments, by their places from 0 on; missing where it wrote nothing. */
  readonly out?: Json;
}

type Head = Pick<CallRecord, "n" | "on" | "call" | "args">;

/** Takes the lines of a log, each without its end. */
export type RecordSink = (line: string) => void;

/** Records calls. */
export interface Recorder {
  /**
   * A module whose functions are recorded: `flowsteer`, `flowsteer/verbs`, `flowsteer/mlx5dv`.
   * @example
   *     const v = recorder.functions(await import("flowsteer/verbs"));
   */
  functions<T extends object>(module: T): T;
  /**
   * An object whose methods are recorded, such as a device. Pass it to recorded functions as the object itself.
   * @example
   *     const nic = recorder.methods(await createDevice());
   *     nic.receive(1, frame);
   */
  methods<T extends object>(object: T): T;
  /** Calls that were written. */
  readonly count: number;
}

/**
 * Records the calls of a run. What goes through the recorder is in the log: functions of modules, methods of objects, frames
 * and memory as the calls see them. Calls that a listener makes inside of another call are not recorded: a replay has the
 * listener's device do the same, but not the listener.
 *
 * @param sink takes the log, a line for each call
 * @example
 *     const lines: string[] = [];
 *     const recorder = recordTo((line) => lines.push(line));
 */
export function recordTo(sink: RecordSink): Recorder {
  return new CallRecorder(sink);
}

/** Calls whose first argument is a file, which they write to. */
const FILE_FIRST = /^mlx5dv_dump_dr_/;

type Callable = (...args: unknown[]) => unknown;

class CallRecorder implements Recorder {
  readonly #sink: RecordSink;
  readonly #known = new KnownObjects();
  /** The objects behind recorded ones. */
  readonly #behind = new WeakMap<object, object>();
  #count = 0;
  #depth = 0;

  constructor(sink: RecordSink) {
    this.#sink = sink;
  }

  get count(): number {
    return this.#count;
  }

  functions<T extends object>(module: T): T {
    const pairs = Object.entries(module).map(([name, one]: [string, unknown]) => [
      name,
      isFunction(one) ? (...args: unknown[]) => this.#call(null, name, one, undefined, args) : one,
    ]);
    return Object.fromEntries(pairs) as T;
  }

  methods<T extends object>(object: T): T {
    const proxy = new Proxy(object, {
      get: (target, name) => {
        const found: unknown = Reflect.get(target, name, target);
        if (typeof name !== "string" || typeof found !== "function" || name === "constructor") return found;
        return (...args: unknown[]) => this.#call(target, name, found as Callable, target, args);
      },
    });
    this.#behind.set(proxy, object);
    return proxy;
  }

  #call(on: object | null, call: string, run: Callable, self: unknown, given: readonly unknown[]): unknown {
    const own = given.map((one) => this.#behind.get(one as object) ?? one);
    if (this.#depth > 0) return run.apply(self, own);
    const args = FILE_FIRST.test(call) ? own.with(0, keptText(own[0])) : own;
    const head = {
      n: ++this.#count,
      on: on === null ? null : this.#known.numberOf(on),
      call,
      args: toJson(this.#known, args, { buffers: true }),
    };
    const written = (): Pick<CallRecord, "out"> => writtenTo(this.#known, head.args, args, { buffers: true });
    this.#depth++;
    try {
      const result = run.apply(self, args);
      const out = written();
      if (result instanceof Promise)
        return result.then(
          (one: unknown) => this.#write(head, one, out),
          (error: unknown) => this.#fail(head, error, out),
        );
      return this.#write(head, result, out);
    } catch (error) {
      return this.#fail(head, error, written());
    } finally {
      this.#depth--;
    }
  }

  #write<T>(head: Head, result: T, out: Pick<CallRecord, "out">): T {
    this.#sink(JSON.stringify({ ...head, result: toJson(this.#known, result), ...out } satisfies CallRecord));
    return result;
  }

  #fail(head: Head, error: unknown, out: Pick<CallRecord, "out">): never {
    this.#sink(JSON.stringify({ ...head, error: errorJson(error), ...out } satisfies CallRecord));
    throw error;
  }
}

/** Functions of a module; classes are not called. */
function isFunction(value: unknown): value is Callable {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}
