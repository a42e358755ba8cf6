/** The methods of the control. None reads or writes a file. */
import { prometheusText, type Outcome } from "../../index.js";
import { createRule, destroyRule, outcomeRecord, type OutcomeRecord } from "../../scenario/index.js";
import type { Target } from "../../explain/index.js";
import type { ChosenFrame } from "../input/chosenFrame.js";
import { explanationOf, traceOf } from "../commands/explainCalls.js";
import { snapshotBytes } from "../serve/snapshotFile.js";
import { wireSums } from "../serve/summary.js";
import type { SendingQueue } from "../serve/places.js";
import type { Switchboard } from "../serve/switchboard.js";
import { clockMethods } from "./clock.js";
import { bad, bytesParam, intParam, oneOf, only, textParam } from "./params.js";
import type { Call, Params } from "./rpc.js";

/** The longest frame that a device takes. */
const MAX_LENGTH = 262_144;
const MAX_U32 = 0xffff_ffff;
const ETHERNET = 1;
const TARGETS = ["rule", "flow", "table", "queue"] as const;

/** @param facade the functions with C names */
export function methodsOf(board: Switchboard, facade: Readonly<Record<string, Call>>): ReadonlyMap<string, Call> {
  const { loaded } = board;
  const { device } = loaded;
  const methods: Record<string, Call> = {
    ...facade,
    ...clockMethods(board),
    methods: (params) => {
      only(params, []);
      return { methods: Object.keys(methods).concat("subscribe", "unsubscribe") };
    },
    rules: (params) => {
      only(params, []);
      const rules = loaded.rulesByRank();
      return { rules: rules.map((rule) => ({ name: rule.name, table: rule.matcher.table.name, ...rule.hits() })) };
    },
    tables: (params) => {
      only(params, []);
      const rows = [...loaded.tables].map(([name, table]) => {
        const { domain, level } = table;
        return { name, domain: domain.type, function: domain.context.function.vport, level, ...table.hits() };
      });
      return { tables: rows };
    },
    counters: (params) => {
      only(params, []);
      return { counters: [...loaded.counters].map(([name, counter]) => ({ name, ...counter.read() })) };
    },
    wires: (params) => {
      only(params, []);
      board.settle();
      const wires = wireSums(board).map((sum, i) => ({ ...sum, connected: board.places[i]?.wire.connected }));
      return { wires, dropped: Object.fromEntries(board.dropped) };
    },
    metrics: (params) => {
      only(params, []);
      return device.metrics();
    },
    prometheus: (params) => {
      only(params, []);
      return { text: prometheusText([device.metrics()]) };
    },
    snapshot: (params) => {
      only(params, []);
      return { base64: Buffer.from(snapshotBytes(loaded)).toString("base64") };
    },
    mlx5dv_dr_rule_create: (params) =>
      isCall(params) ? facade["mlx5dv_dr_rule_create"]?.(params) : { name: createRule(loaded, params).name },
    mlx5dv_dr_rule_destroy: (params) => {
      if (isCall(params)) return facade["mlx5dv_dr_rule_destroy"]?.(params);
      only(params, ["rule"]);
      destroyRule(loaded, textParam(params, "rule"));
      return null;
    },
    receive: (params) => {
      only(params, ["port", "frame"]);
      const { port, bytes } = frameOf(board, params);
      return steered(board, `port:${port}`, bytes, device.receive(port, bytes));
    },
    send: (params) => {
      only(params, ["queue", "frame", "metadata"]);
      const { queue, bytes, metadata } = frameOf(board, params);
      if (queue === null) throw bad("queue", "the queue that sends it");
      return steered(board, queue.label, bytes, device.send(queue, bytes, { metadata }));
    },
    trace: async (params) => {
      only(params, ["port", "queue", "frame", "metadata"]);
      return { trace: await traceOf(loaded, frameOf(board, params)) };
    },
    why: async (params) => {
      only(params, ["port", "queue", "frame", "metadata", "target"]);
      return { explanation: await explanationOf(loaded, frameOf(board, params), targetOf(params)) };
    },
  };
  return new Map(Object.entries(methods));
}

/** Whether params are those of C, and not a rule of a document. */
function isCall(params: Params): boolean {
  return params["args"] !== undefined;
}

/** Frames of the control go on to the wires as others do. */
function steered(board: Switchboard, place: string, bytes: Uint8Array, outcome: Outcome): OutcomeRecord {
  board.deliver({ place, bytes, linkType: ETHERNET }, outcome);
  return outcomeRecord(1, { bytes }, outcome);
}

function frameOf({ loaded }: Switchboard, params: Params): ChosenFrame {
  const bytes = bytesParam(params, "frame");
  if (bytes.length > MAX_LENGTH) throw bad("frame", `at most ${MAX_LENGTH} bytes`);
  const port = intParam(params, "port", 1, loaded.device.ports, 1);
  const metadata = intParam(params, "metadata", 0, MAX_U32, 0);
  const frame = { number: null, bytes, linkType: 1, wireLength: bytes.length, time: null, port, metadata };
  if (params["queue"] === undefined) return { ...frame, queue: null };
  if (params["port"] !== undefined) throw bad("queue", "port and queue cannot be used together");
  const { queue } = oneOf(params, "queue", loaded.queues);
  if (!("qp_num" in queue)) throw bad("queue", "a work queue sends nothing");
  return { ...frame, queue: queue satisfies SendingQueue };
}

/** `{ "rule": "http" }`; left out, the end of the frame. */
function targetOf(params: Params): Target {
  const { target } = params;
  if (target === undefined) return { kind: "end" };
  const [entry, more] = typeof target === "object" && target !== null ? Object.entries(target) : [];
  const kind = TARGETS.find((one) => one === entry?.[0]);
  const name: unknown = entry?.[1];
  if (kind === undefined || more !== undefined || typeof name !== "string")
    throw bad("target", `one of ${TARGETS.join(", ")} with its name: { "rule": "http" }`);
  return { kind, name };
}
