/** Replaying: the calls of a log are made again, and their results and what they write compared with the log. */
import { parseJson } from "../base/json.js";
import { refuse } from "../errors.js";
import type { CallRecord } from "./record.js";
import { errorJson, fromJson, KnownObjects, toJson, writtenTo, type Json } from "./values.js";

/** What a replay found. */
export interface Replayed {
  /** Calls that were made. */
  readonly calls: number;
  /** The first call with another result; null where all are the same. The calls after it were not made. */
  readonly difference: Difference | null;
}

/** A call whose result, or what it wrote into its arguments, is not that of the log. */
export interface Difference {
  /** Its number, from 1 on. */
  readonly n: number;
  readonly call: string;
  readonly expected: Json;
  readonly got: Json;
}

type Callable = (...args: unknown[]) => unknown;

/**
 * Makes the calls of a log again, on new devices.
 *
 * @param log the lines that `recordTo` wrote
 * @param modules where its functions are: those that were recorded
 * @throws SteeringError EINVAL: a line is no call, or a function is in no module
 * @example
 *     const { difference } = await replay(lines, [flowsteer, verbs, mlx5dv]);
 *     if (difference !== null) console.log(`call ${difference.n}, ${difference.call}`);
 */
export async function replay(log: Iterable<string>, modules: readonly object[]): Promise<Replayed> {
  const known = new KnownObjects();
  let calls = 0;
  for (const line of log) {
    const record = recordOf(line, ++calls);
    const { n, call, result = null, error, out } = record;
    const got = await again(known, modules, record, `log[${calls - 1}]`);
    const expected = { ...(error === undefined ? { result } : { error }), ...(out === undefined ? {} : { out }) };
    if (JSON.stringify(got) !== JSON.stringify(expected)) return { calls, difference: { n, call, expected, got } };
  }
  return { calls, difference: null };
}

function recordOf(line: string, number: number): CallRecord {
  let record: unknown;
  try {
    record = parseJson(line);
  } catch {
    record = null;
  }
  const { on, call, args } = (record ?? {}) as Partial<CallRecord>;
  if (typeof call === "string" && Array.isArray(args) && (on === null || typeof on === "number")) {
    return record as CallRecord;
  }
  return refuse({
    code: "EINVAL",
    call: "replay",
    reason: "bad_object",
    path: `log[${number - 1}]`,
    hint: "a line of recordTo",
  });
}

async function again(
  known: KnownObjects,
  modules: readonly object[],
  { on, call, args }: CallRecord,
  path: string,
): Promise<Json> {
  const self = on === null ? null : selfOf(known, on, `${path}.on`);
  const run = self === null ? functionOf(modules, call) : methodOf(self, call, `${path}.call`);
  let values: readonly unknown[] = [];
  let before: Json = [];
  let out: { readonly out?: Json } | null = null;
  const written = (): { readonly out?: Json } => (out ??= writtenTo(known, before, values, { buffers: true }));
  try {
    values = fromJson(known, "replay", "args", args) as unknown[];
    // The buffers of the log have their numbers before the objects of the result get theirs.
    before = toJson(known, values, { buffers: true });
    const returned = run.apply(self, values as unknown[]);
    written();
    return { result: toJson(known, await returned), ...written() };
  } catch (error) {
    return { error: errorJson(error), ...written() };
  }
}

/** The object whose method a call is; a line may be damaged. */
function selfOf(known: KnownObjects, on: number, path: string): object {
  const hint = "no object has this number";
  return known.find(on) ?? refuse({ code: "EINVAL", call: "replay", reason: "bad_object", path, value: on, hint });
}

function methodOf(self: object, call: string, path: string): Callable {
  const found: unknown = (self as Record<string, unknown>)[call];
  if (typeof found === "function") return found as Callable;
  const hint = `a ${self.constructor.name} has no method ${call}`;
  return refuse({ code: "EINVAL", call: "replay", reason: "unknown_name", path, value: call, hint });
}

function functionOf(modules: readonly object[], call: string): Callable {
  for (const module of modules) {
    const found: unknown = (module as Record<string, unknown>)[call];
    if (typeof found === "function") return found as Callable;
  }
  const hint = `no module has ${call}: give those that were recorded`;
  return refuse({ code: "EINVAL", call: "replay", reason: "unknown_name", path: "modules", value: call, hint });
}
