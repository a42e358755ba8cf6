/** Messages to the control of `flowsteer serve`, without its sockets. */
import { expect } from "vitest";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { methodsOf } from "../../../src/cli/control/methods.js";
import { RpcServer } from "../../../src/cli/control/rpc.js";
import { Sessions } from "../../../src/cli/control/sessions.js";
import { Switchboard } from "../../../src/cli/serve/switchboard.js";
import { badMessages } from "../../cli/serve/support/badMessages.js";
import type { Random } from "../../oracle/generate/random.js";
import { textsIn } from "../files.js";
import type { Target } from "../target.js";
import { brokenDocument, brokenText } from "./support/broken.js";

const MESSAGES = 30;
const INTERNAL = -32603;
const FRAME = "020000000001020000000002080045000028000100004006".padEnd(120, "0");

export const control: Target = {
  name: "control",
  about:
    "JSON-RPC messages, right, wrong and broken: each is answered by a result or an error that is no defect, and messages " +
    "that are wrong change nothing",
  unit: "messages",
  guide: "host",
  open: () => {
    const text = servedText();
    return Promise.resolve(async (random) => {
      const loaded = await loadScenario(text, { countHits: true });
      const { board, server } = await controlOf(loaded);
      const bad = badMessages((below) => random.below(below));
      const before = stateOf(loaded);
      for (let n = 0; n < MESSAGES; n++) await answered(server, random.pick(bad)());
      expect(stateOf(loaded)).toBe(before);
      for (let n = 0; n < MESSAGES; n++) await answered(server, drawnMessage(random));
      board.end();
      loaded.device.users = 0;
      loaded.device.close();
      return 2 * MESSAGES;
    });
  },
};

/** The document of the device that is controlled. */
export function servedText(): string {
  return textsIn("examples", /^serve-switch\.json$/)[0]?.text ?? "";
}

/** What answers messages about a device. */
export async function controlOf(loaded: LoadedScenario): Promise<{ board: Switchboard; server: RpcServer }> {
  const board = new Switchboard(loaded, []);
  const methods = methodsOf(board, (await Sessions.open(loaded)).begin().methods());
  return { board, server: new RpcServer((name) => methods.get(name)) };
}

function stateOf({ device, rules }: LoadedScenario): string {
  const { time: _time, ...metrics } = device.metrics();
  return JSON.stringify([metrics, [...rules.keys()]], (_, one: unknown) =>
    typeof one === "bigint" ? String(one) : one,
  );
}

/** A right message, or one with faults. */
export function drawnMessage(random: Random): string {
  const name = random.pick(["a", "b", "all", "no telnet"]);
  const rule = { name, table: "switch", match: { "outer.tcp_dport": random.below(70_000) }, actions: ["drop"] };
  const calls: [string, object][] = [
    ["mlx5dv_dr_rule_create", rule],
    ["mlx5dv_dr_rule_destroy", { rule: name }],
    ["receive", { frame: FRAME }],
    ["send", { frame: FRAME, queue: "vm1", metadata: random.word() }],
    ["trace", { frame: FRAME, queue: "vm1" }],
    ["why", { frame: FRAME, queue: "vm1", target: { rule: name } }],
    ["counters", {}],
    ["prometheus", {}],
    ["tables", {}],
  ];
  const [method, params] = random.pick(calls);
  const message = { jsonrpc: "2.0", id: 1, method, params };
  if (random.chance(0.4)) return JSON.stringify(message);
  if (random.chance(0.6)) return JSON.stringify(brokenDocument(message, random));
  return brokenText(JSON.stringify(message), JSON.stringify(rule), random);
}

/** The error of an answer; `data` is a refusal of the device or the scenario. */
export interface AnsweredError {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly code: string; readonly call: string };
}

/** Sends a message. @returns the errors of its answer @throws Error one of them is a defect */
export async function answered(server: RpcServer, message: string): Promise<AnsweredError[]> {
  const text = await server.answer(message);
  if (text === null) return [];
  const answer: unknown = JSON.parse(text);
  const all = (Array.isArray(answer) ? answer : [answer]) as { error?: AnsweredError }[];
  const errors = all.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const defect = errors.find(({ code }) => code === INTERNAL);
  if (defect !== undefined) throw new Error(`${defect.message}\nfor ${message}`);
  return errors;
}
