/** Every function of the facades through the control, and through record, save and replay: the same as a direct call. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { written, type Call } from "../../../src/cli/control/rpc.js";
import { Sessions } from "../../../src/cli/control/sessions.js";
import { SteeringError } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { errorJson, KnownObjects, recordTo, replay, toJson, writtenTo, type Json } from "../../../src/replay/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import * as v from "../../../src/verbs/index.js";
import { MISSING_MLX5DV } from "../../../src/mlx5dv/missing.js";
import { MISSING_VERBS } from "../../../src/verbs/missing.js";
import { everyCall as everyDirectCall } from "../../mlx5dv/support/everyCall.js";
import type { Calls } from "../../support/everyCall.js";
import { everyCall as everyVerb } from "../../verbs/support/everyCall.js";
import { scratch } from "../support/command.js";

type Run = (...args: unknown[]) => unknown;
type Functions = Readonly<Record<string, Run>>;

/** Functions without a call here, and why. */
const REASONS: Readonly<Record<string, RegExp>> = {
  "refuses every call": new RegExp(
    `^(${[...Object.values(MISSING_VERBS), ...Object.values(MISSING_MLX5DV)].flat().join("|")})$`,
  ),
  "refuses these operations, or needs a completion that is being polled":
    /^ibv_(wc_read|wr_(atomic|bind|flush|local|rdma|send_(inv|tso)|set_xrc)|start_poll|next_poll|end_poll)/,
  "needs an event that waits, and takes the event itself": /^ibv_(get_(async|cq)_event|ack_)/,
  "takes the array itself that another call returned": /^ibv_free_device_list$/,
  "tells of the other devices of the process": /^ibv_get_device_(list|index)$/,
  "takes a function that answers": /^flowAttr(From)?Bytes$/,
};

const C_NAME = /^(ibv|mlx5dv)_/;

/** What a call returned, wrote or refused. */
type Effect = { readonly result?: Json; readonly out?: Json; readonly error?: unknown };

/** Effects without the numbers of objects and buffers, which depend on what was numbered before. */
function plain(effect: Effect): unknown {
  return JSON.parse(
    JSON.stringify(effect, (key, one: unknown) => (["id", "at", "of"].includes(key) ? undefined : one)),
  );
}

function reasonOf(name: string): string | undefined {
  return Object.keys(REASONS).find((reason) => REASONS[reason]?.test(name));
}

/** Text of a dump is an out parameter: the file is one. */
function filed(calls: Calls): Calls {
  const pairs = Object.entries(calls).map(([name, args]) => [
    name,
    name.startsWith("mlx5dv_dump") ? [null, ...args.slice(1)] : args,
  ]);
  return Object.fromEntries(pairs) as Calls;
}

describe.each([
  ["verbs", v as unknown as Functions, (memory: Uint8Array<ArrayBuffer>) => everyVerb({ seed: 7 }, memory)],
  [
    "mlx5dv",
    dv as unknown as Functions,
    (_: Uint8Array<ArrayBuffer>) => everyDirectCall({ seed: 7 }) as Promise<Calls>,
  ],
])("%s", (_name, facade, make) => {
  const names = Object.keys(facade).filter((name) => isCall(facade[name]));

  /** The calls that are made, with their arguments, in their order. */
  const drawn = (calls: Calls): [string, readonly unknown[]][] =>
    Object.entries(filed(calls)).filter(([name]) => reasonOf(name) === undefined);

  async function direct(): Promise<Map<string, Effect>> {
    const known = new KnownObjects();
    const effects = new Map<string, Effect>();
    for (const [name, args] of drawn(await make(new Uint8Array(4096)))) {
      let text = "";
      const list = name.startsWith("mlx5dv_dump") ? [(more: string) => (text += more), ...args.slice(1)] : args;
      const before = toJson(known, list);
      let effect: Effect;
      try {
        const result = toJson(known, facade[name]?.(...list));
        effect = { result, ...writtenTo(known, before, list, {}) };
      } catch (error) {
        effect = { error: errorJson(error), ...writtenTo(known, before, list, {}) };
      }
      effects.set(name, text === "" ? effect : { ...effect, out: { 0: { $: "text", text } } });
    }
    return effects;
  }

  it("has a call or a reason for each function", async () => {
    const calls = await make(new Uint8Array(4096));
    expect(names.filter((name) => !(name in calls) && reasonOf(name) === undefined)).toEqual([]);
    expect(Object.keys(calls).filter((name) => !names.includes(name))).toEqual([]);
    expect(drawn(calls).length).toBeGreaterThan(85);
  });

  it("does the same through the control", async () => {
    const sessions = await Sessions.open(await loadScenario({ flowsteer: 1 }));
    let memory = new Uint8Array();
    let calls: Calls = {};
    // Objects that no client of the control has: the session learns them as results of a call.
    Object.assign(sessions.exported, {
      ibv_test_memory: (view: Uint8Array) => void (memory = view as Uint8Array<ArrayBuffer>),
      ibv_test_calls: () => calls,
    });
    const methods: Readonly<Record<string, Call>> = sessions.begin().methods();
    const call = async (name: string, args: Json): Promise<Json> =>
      JSON.parse(written((await methods[name]?.({ args: JSON.parse(written(args)) as Json })) ?? null)) as Json;
    const { id } = (await methods["memory"]?.({ bytes: 4096 })) as { id: number };
    await call("ibv_test_memory", [{ $: "memory", id }]);
    calls = filed(await make(memory));
    const args = (await call("ibv_test_calls", [])) as Readonly<Record<string, Json[]>>;
    const expected = await direct();
    const found: string[] = [];
    for (const [name] of drawn(calls)) {
      if (!C_NAME.test(name)) {
        // No method of the control, but later calls show what it made.
        facade[name]?.(...(calls[name] ?? []));
        continue;
      }
      const list = args[name] ?? [];
      if (name.startsWith("mlx5dv_dump")) list[0] = { $: "text" };
      let got: Effect;
      try {
        const result = await call(name, list);
        got = isOut(result) ? (result as Effect) : { result };
      } catch (error) {
        got = { error: String(error) };
      }
      const [is, due] = [plain(got), plain(expected.get(name) ?? {})].map((one) => JSON.stringify(one));
      if (is !== due) found.push(`${name}: ${is}, not ${due}`);
    }
    expect(found).toEqual([]);
  });

  it("does the same through record, save and replay", async () => {
    const lines: string[] = [];
    const recorder = recordTo((line) => lines.push(line));
    const world = {
      make: async (bytes: Uint8Array<ArrayBuffer>): Promise<Calls> => Object.fromEntries(drawn(await make(bytes))),
    };
    const memory = new Uint8Array(4096);
    const calls = await recorder.functions(world).make(memory);
    const recorded = recorder.functions(facade);
    const expected = await direct();
    const found: string[] = [];
    for (const [name, args] of drawn(calls)) {
      const list = name.startsWith("mlx5dv_dump") ? [() => undefined, ...args.slice(1)] : args;
      try {
        recorded[name]?.(...list);
      } catch (error) {
        if (!(error instanceof SteeringError)) throw error;
      }
      const {
        n: _n,
        on: _on,
        call: _call,
        args: _args,
        ...got
      } = JSON.parse(lines.at(-1) ?? "") as Effect & Record<string, Json>;
      const [is, due] = [plain(got), plain(expected.get(name) ?? {})].map((one) => JSON.stringify(one));
      if (is !== due) found.push(`${name}: ${is}, not ${due}`);
    }
    expect(found).toEqual([]);
    const saved = scratch(`every-${_name}.jsonl`, lines.map((line) => `${line}\n`).join(""));
    const log = readFileSync(saved, "utf8").trimEnd().split("\n");
    expect(await replay(log, [world, facade])).toEqual({ calls: lines.length, difference: null });
  });
});

function isCall(value: unknown): boolean {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}

function isOut(result: Json): boolean {
  return typeof result === "object" && result !== null && "out" in result && "result" in result;
}
