/**
 * Rows of the page rules-coverage.md. A case asserts the effect of a function under one profile,
 * and its assertions form its row. Rows have no other source.
 */
import { createDevice, createSink, ERRNO, type Device, type DeviceOptions, type Outcome } from "../../../../src/index.js";
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Action } from "../../../../src/model/action/action.js";
import type { Context } from "../../../../src/model/base/context.js";
import type { FlowCounter } from "../../../../src/model/action/counter.js";
import type { SyndromeName } from "../../../../src/model/devx/syndromes.js";
import type { Domain, Table } from "../../../../src/model/table/domain.js";
import type { Matcher } from "../../../../src/model/table/matcher.js";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import type { Rule } from "../../../../src/model/rule/rule.js";
import * as v from "../../../../src/verbs/index.js";
import { outcomeText } from "../../../verbs/support/flows.js";
import { PROFILES, same, type Profile } from "../../../verbs/coverage/support/record.js";
import { criteriaOf, deviceBytes, ones, row } from "../../support/deviceBytes.js";
import { answer, refusal } from "../../support/devx.js";
import { refused } from "../../support/directRules.js";

export { PROFILES, same };

/** The assertions; a row has at least one of the first four. */
export type Result = "destination" | "bytes" | "register" | `errno ${string}` | "tag" | "counter" | "memory";

export type Run = (probe: Probe) => void | Promise<void>;

export interface Case {
  /** The C name, without a leading mlx5dv_dr_. */
  readonly call: string;
  readonly what: string;
  readonly run: Run;
}

export const nameOf = ({ call, what }: Omit<Case, "run">): string => `${call} ${what}`;

export const casesOf = (call: string, runs: Readonly<Record<string, Run>>): Case[] =>
  Object.entries(runs).map(([what, run]) => ({ call, what, run }));

const rows = new Map<string, Promise<readonly Result[]>>();

/** The row of a case, which runs once. */
export function rowOf(one: Case, profile: Profile): Promise<readonly Result[]> {
  const test = `${profile} ${nameOf(one)}`;
  let found = rows.get(test);
  if (found === undefined) rows.set(test, (found = record(one, profile, test)));
  return found;
}

async function record({ run }: Case, profile: Profile, test: string): Promise<readonly Result[]> {
  const results = new Set<Result>();
  try {
    await run(await Probe.open(profile, results));
  } catch (cause) {
    throw new Error(`${test}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  return [...results].sort(byKind);
}

const KINDS: readonly Result[] = ["destination", "bytes", "register", "tag", "counter", "memory"];
/** Refusals last. */
const rankOf = (one: Result): number => (KINDS.indexOf(one) + KINDS.length + 1) % (KINDS.length + 1);
const byKind = (a: Result, b: Result): number => rankOf(a) - rankOf(b) || (a < b ? -1 : 1);

/** Fields in device bytes, each with its value under a full mask. */
export type Fields = Readonly<Record<string, number>>;

const everyBit = (fields: Fields): Record<string, bigint> =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, ones(row(name))]));

/** A device of a profile with two ports and two VFs, whose assertions are recorded. */
export class Probe {
  readonly device: Device;
  readonly #profile: Profile;
  readonly #results: Set<Result>;
  readonly #contexts = new Map<number, Context>();
  readonly #domains = new Map<string, Domain>();
  readonly #queues = new Map<string, QueuePair>();
  readonly #entries = new Map<Domain, Table>();

  private constructor(profile: Profile, device: Device, results: Set<Result>) {
    this.#profile = profile;
    this.device = device;
    this.#results = results;
  }

  static async open(profile: Profile, results: Set<Result>, options: DeviceOptions = {}): Promise<Probe> {
    return new Probe(profile, await createDevice({ profile, vports: 2, ports: 2, ...options }), results);
  }

  /** Another device of the profile, for the same row. */
  another(options: DeviceOptions = {}): Promise<Probe> {
    return Probe.open(this.#profile, this.#results, options);
  }

  get manual(): boolean {
    return this.#profile === "manual";
  }

  /** ConnectX-5. */
  get older(): boolean {
    return this.#profile === "connectx5";
  }

  /** The steering format of the device. */
  get format(): number {
    return { manual: 2, connectx5: 0, connectx6dx: 1, connectx7: 2, connectx8: 3 }[this.#profile];
  }

  /** A context on a function. */
  context(vport = 0): Context {
    const known = this.#contexts.get(vport);
    if (known !== undefined) return known;
    const made = dv.mlx5dv_open_device(this.device.function(vport), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    this.#contexts.set(vport, made);
    return made;
  }

  /** The domain of this type on a function. */
  domain(type: number, vport = 0): Domain {
    const key = `${type} ${vport}`;
    const known = this.#domains.get(key);
    if (known !== undefined) return known;
    const made = dv.mlx5dv_dr_domain_create(this.context(vport), type);
    this.#domains.set(key, made);
    return made;
  }

  get rx(): Domain {
    return this.domain(dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  }

  get tx(): Domain {
    return this.domain(dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX);
  }

  get fdb(): Domain {
    return this.domain(dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  }

  table(domain: Domain, level = 1): Table {
    return dv.mlx5dv_dr_table_create(domain, level);
  }

  /** A table of level 1 that all frames of the domain enter. */
  entry(domain: Domain): Table {
    const known = this.#entries.get(domain);
    if (known !== undefined) return known;
    const table = this.table(domain);
    this.rule(this.table(domain, 0), [dv.mlx5dv_dr_action_create_dest_table(table)], {}, 9);
    this.#entries.set(domain, table);
    return table;
  }

  /** A matcher with full masks, except for fields in `mask`. */
  matcher(table: Table, fields: Fields = {}, priority = 0, mask: Fields = {}): Matcher {
    const bytes = deviceBytes({ ...everyBit(fields), ...mask });
    return dv.mlx5dv_dr_matcher_create(table, priority, criteriaOf(fields), bytes);
  }

  ruleOf(matcher: Matcher, actions: readonly Action[], fields: Fields = {}): Rule {
    return dv.mlx5dv_dr_rule_create(matcher, deviceBytes(fields), actions.length, actions);
  }

  /** A rule with its own matcher, for all frames unless `fields` restricts it. */
  rule(table: Table, actions: readonly Action[], fields: Fields = {}, priority = 0): Rule {
    return this.ruleOf(this.matcher(table, fields, priority), actions, fields);
  }

  /** The queue pair with this name, which consists of letters; it accepts every frame. */
  queue(name: string, vport = 0): QueuePair {
    let queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, (queue = createSink(this.context(vport), name)));
    return queue;
  }

  toQueue(name: string, vport = 0): Action {
    return dv.mlx5dv_dr_action_create_dest_ibv_qp(this.queue(name, vport));
  }

  /** Frames for a function reach its queue. */
  listen(name: string, vport: number): void {
    const domain = this.domain(dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX, vport);
    this.rule(this.table(domain, 0), [this.toQueue(name, vport)], {}, 15);
  }

  counters(log = 0): FlowCounter {
    const input = dv.allocFlowCounterCommand(log);
    return dv.mlx5dv_devx_obj_create(this.context(), input, undefined, new Uint8Array(16), undefined);
  }

  received(frame: Uint8Array, port = 1): Outcome {
    return this.device.receive(port, frame);
  }

  /** Sent by a queue pair of a function, from port 1. */
  sent(frame: Uint8Array, vport = 0, metadata = 0): Outcome {
    return this.device.send(this.queue(`s${vport}`, vport), frame, { metadata });
  }

  /** Recipients of a frame: "a5" is queue a with tag 5; then the verdict. */
  gets(outcome: Outcome, expected: string): void {
    same(outcomeText(outcome), expected, "outcome");
    for (const word of expected.split(" ")) {
      // A miss or a drop is a condition of the row, not its content.
      if (/^(miss|drop|deliver|transmit|forward)$/.test(word)) return;
      this.#results.add("destination");
      if (/^[a-z]+\d+$/.test(word)) this.#results.add("tag");
    }
  }

  /** The bytes that arrive at each destination. */
  bytes(outcome: Outcome, ...expected: readonly Uint8Array[]): void {
    const text = (frames: readonly Uint8Array[]): string => frames.map(hex).join(" | ");
    same(text(outcome.to.map(({ frame }) => frame)), text(expected), "bytes");
    this.#results.add("bytes");
  }

  /** Output of the device: the given bytes are not 0, all others are 0. */
  says(output: Uint8Array, expected: Readonly<Record<number, number>>): void {
    const found = Object.fromEntries([...output.entries()].filter(([, byte]) => byte !== 0));
    same(JSON.stringify(found), JSON.stringify(expected), "bytes of the answer");
    this.#results.add("bytes");
  }

  /** The text of a dump. */
  writes(text: string, expected: readonly string[]): void {
    same(text, expected.map((line) => `${line}\n`).join(""), "text");
    this.#results.add("bytes");
  }

  /** Registers that rules have written, and their values. */
  registers(outcome: Outcome, expected: Readonly<Record<string, number>>): void {
    same(JSON.stringify(outcome.registers), JSON.stringify(expected), "registers");
    this.#results.add("register");
  }

  /**
   * The value that a rule of a table matches in a metadata register; the value with its lowest bit
   * inverted does not match.
   */
  finds(table: Table, register: string, value: number, send: () => Outcome): void {
    const name = `misc2.metadata_reg_${register}`;
    const matcher = this.matcher(table, { [name]: 0 }, 7);
    for (const [one, hits] of [[value, true] as const, [value ^ 1, false] as const]) {
      const rule = this.ruleOf(matcher, [], { [name]: one });
      same(send().rules.includes(rule), hits, `${name} is ${one}`);
      dv.mlx5dv_dr_rule_destroy(rule);
    }
    dv.mlx5dv_dr_matcher_destroy(matcher);
    this.#results.add("register");
  }

  counts(counter: FlowCounter, packets: number, bytes: number, offset = 0): void {
    const output = new Uint8Array(32);
    const input = dv.queryFlowCounterCommand(counter.id + offset, 1, false);
    dv.mlx5dv_devx_obj_query(counter, input, undefined, output, undefined);
    const view = new DataView(output.buffer);
    same(`${view.getBigUint64(16)},${view.getBigUint64(24)}`, `${packets},${bytes}`, "packets and bytes");
    this.#results.add("counter");
  }

  /** The increase of memory in use is the expected one. */
  memory(before: number, expected: "as before" | "more"): void {
    const now = this.device.memoryUsed > before ? "more" : this.device.memoryUsed < before ? "less" : "as before";
    same(now, expected, "memory");
    this.#results.add("memory");
  }

  /** The call is refused, and takes no memory. */
  refuses(code: string, call: () => unknown): void {
    const before = this.device.memoryUsed;
    same(refused(call)?.code, code, "errno");
    same(this.device.memoryUsed, before, `memory behind ${code}`);
    this.#results.add(`errno ${code}`);
  }

  /** The device refuses a command, and reports it in the output. */
  fails(cause: SyndromeName, command: (output: Uint8Array) => unknown): void {
    same(JSON.stringify(answer(command)), JSON.stringify(refusal(cause)), "errno, status, syndrome");
    this.#results.add("errno EREMOTEIO");
  }

  /** A call that returns its error as a negative number instead of throwing. */
  returns(code: keyof typeof ERRNO, returned: number): void {
    same(returned, -ERRNO[code], "returned");
    this.#results.add(`errno ${code}`);
  }

  /** A flow of a queue with flow actions. */
  flow(name: string, actions: readonly object[], flags = 0): unknown {
    const specs = actions.map((action) => ({ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action }));
    const attr = { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, flags, specs: specs as v.FlowSpec[] };
    return v.ibv_create_flow(this.queue(name), attr);
  }
}

const hex = (frame: Uint8Array): string => Array.from(frame, (byte) => byte.toString(16).padStart(2, "0")).join("");
