/**
 * Rows of the page flow-coverage.md. A case asserts the effect of one field or action under one
 * profile, and its assertions form its row. Rows have no other source.
 */
import type { DeviceOptions } from "../../../../src/index.js";
import type { Context } from "../../../../src/model/base/context.js";
import type { Counters } from "../../../../src/model/flow/counters.js";
import type { VerbsFlow } from "../../../../src/model/flow/verbsFlow.js";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import * as v from "../../../../src/verbs/index.js";
import { refused } from "../../../mlx5dv/support/directRules.js";
import { attr, FlowBench, outcomeText, valuesOf } from "../../support/flows.js";

export const PROFILES = ["manual", "connectx5", "connectx6dx", "connectx7", "connectx8"] as const;
export type Profile = (typeof PROFILES)[number];

/** The assertions: recipients of a frame and their tag, counts, errors of calls. */
export type Result = "tag" | "destination" | "counter" | `errno ${string}`;

export type Run = (probe: Probe) => void | Promise<void>;

export interface Case {
  /** Without IBV_FLOW_SPEC_; or another part of a flow. */
  readonly spec: string;
  readonly field: string;
  /** null if there are no levels. */
  readonly level: "outer" | "inner" | null;
  /** Runs the assertions. */
  readonly run: Run;
}

export interface Row {
  readonly spec: string;
  readonly field: string;
  readonly level: Case["level"];
  readonly profile: Profile;
  readonly results: readonly Result[];
  /** The name of the test, for `vitest -t`. */
  readonly test: string;
}

export function nameOf({ spec, field, level }: Omit<Case, "run">): string {
  return level === null ? `${spec} ${field}` : `${spec} ${field} ${level}`;
}

export const casesOf = (spec: string, level: Case["level"], runs: Readonly<Record<string, Run>>): Case[] =>
  Object.entries(runs).map(([field, run]) => ({ spec, field, level, run }));

/** A spec of the inner packet. */
export const inner = <T extends { type: number }>(spec: T): T => ({ ...spec, type: spec.type | v.IBV_FLOW_SPEC_INNER });

/** Result of a frame that matches no flow. */
export const MISS = "miss no_rule";

const rows = new Map<string, Promise<Row>>();

/** The row of a case, which runs once. */
export function rowOf(one: Case, profile: Profile): Promise<Row> {
  const test = `${profile} ${nameOf(one)}`;
  let row = rows.get(test);
  if (row === undefined) rows.set(test, (row = record(one, profile, test)));
  return row;
}

async function record({ spec, field, level, run }: Case, profile: Profile, test: string): Promise<Row> {
  const results = new Set<Result>();
  try {
    await run(await Probe.open(profile, results));
  } catch (cause) {
    throw new Error(`${test}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  return { spec, field, level, profile, results: [...results].sort(byKind), test };
}

const KINDS = ["destination", "tag", "counter"];
/** Refusals last. */
const byKind = (a: Result, b: Result): number => ((KINDS.indexOf(a) + 4) % 4) - ((KINDS.indexOf(b) + 4) % 4);

/** A device of a profile, whose assertions are recorded. */
export class Probe {
  readonly profile: Profile;
  readonly bench: FlowBench;
  readonly #results: Set<Result>;

  private constructor(profile: Profile, bench: FlowBench, results: Set<Result>) {
    this.profile = profile;
    this.bench = bench;
    this.#results = results;
  }

  static async open(
    profile: Profile,
    results: Set<Result>,
    options: DeviceOptions = {},
    capabilities: v.Capabilities = {},
  ): Promise<Probe> {
    return new Probe(profile, await FlowBench.open({ profile, ...options }, capabilities), results);
  }

  /** Another device of the profile, for the same row. */
  another(options: DeviceOptions = {}, capabilities: v.Capabilities = {}): Promise<Probe> {
    return Probe.open(this.profile, this.#results, options, capabilities);
  }

  get context(): Context {
    return this.bench.context;
  }

  /** Whether it has the refusals of the mlx5 stack. */
  get connectx(): boolean {
    return this.profile !== "manual";
  }

  /** A flow of a queue, whose name consists of letters. */
  flow(name: string, specs: readonly object[], over: Partial<v.FlowAttr> = {}): VerbsFlow {
    return this.bench.flow(name, specs, over);
  }

  /** The same, given as the bytes of the C structs. */
  flowOfBytes(name: string, specs: readonly object[], over: Partial<v.FlowAttr> = {}): VerbsFlow {
    const handleOf = (object: object): number => (object as { handle: number }).handle;
    return v.ibv_create_flow(this.bench.qp(name), v.flowAttrBytes(attr(specs, over), handleOf));
  }

  /** Recipients of a frame: "a5" is queue a with tag 5, a copy is in brackets; then the verdict. */
  gets(frame: Uint8Array, expected: string, port = 1): void {
    this.#outcome(this.bench.received(frame, port), expected);
  }

  /** The same for a frame that leaves through port 1. */
  sends(frame: Uint8Array, expected: string, tag: number | null = null): void {
    const outcome = this.bench.sent(frame);
    same(outcome.tag, tag, "tag of the sent frame");
    if (tag !== null) this.#results.add("tag");
    this.#outcome(outcomeText(outcome).replace("port:1 ", ""), expected);
  }

  /** The same for a frame that a queue sends to its own port. */
  loops(frame: Uint8Array, from: string, expected: string): void {
    this.#outcome(outcomeText(this.bench.looped(frame, from)), expected);
  }

  #outcome(actual: string, expected: string): void {
    same(actual, expected, "outcome");
    for (const word of expected.split(" ")) {
      // A miss or a drop is a condition of the row, not its content.
      if (/^(miss|drop|deliver|transmit)$/.test(word)) return;
      this.#results.add(/^\(?[a-z]+\d+\)?$/.test(word) ? "tag" : "destination");
    }
  }

  counts(counters: Counters, packets: number, bytes: number): void {
    same(valuesOf(counters).join(), `${packets},${bytes}`, "packets and bytes");
    this.#results.add("counter");
  }

  /** The flow is refused, and has changed nothing. */
  refuses(code: string, specs: readonly object[], over: Partial<v.FlowAttr> = {}): void {
    this.#refusal(this.bench.refused("x", specs, over), code);
  }

  /** A flow of this queue pair is refused. */
  refusesQp(code: string, qp: QueuePair, specs: readonly object[], over: Partial<v.FlowAttr> = {}): void {
    this.refusesCall(code, () => v.ibv_create_flow(qp, attr(specs, over)));
  }

  refusesCall(code: string, call: () => unknown): void {
    this.#refusal(refused(call)?.code, code);
  }

  #refusal(actual: string | undefined, code: string): void {
    same(actual, code, "errno");
    this.#results.add(`errno ${code}`);
  }
}

/** Works without the test runner, because the script makes rows too. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new Error(`${what}: ${String(actual)}, not ${String(expected)}`);
}
