// Reference of direct rules in all domains, part 1: the objects of a device. Written from
// docs/rules.md and the manual page mlx5dv_dr(3). The path of a frame is in pipelineWalk.ts.

import { type ReferenceRule, type Term } from "./match.js";
import { type Modify } from "../act/modifyFields.js";
import { type ParserOptions } from "../wire/packet.js";
import { type PipelineState, type StateStep, newState } from "./pipelineState.js";
import { type Reformat } from "../act/rewrite.js";
import { type Counter } from "./walk.js";

/** The vports of the wire and of the eSwitch manager. */
export const WIRE = 0xffff;
export const PF = 0;

export type DomainType = "nic_rx" | "nic_tx" | "fdb";

/** Destination of a rule or of an array member. */
export type Destination =
  | { kind: "defaultMiss" }
  | { kind: "qp"; qp: string }
  | { kind: "table"; table: string }
  | { kind: "vport"; vport: number }
  | { kind: "port"; port: number };

/** A separate copy, or one more count. */
export interface Member {
  reformat?: Reformat;
  dest: Destination | { kind: "counter"; counter: string };
}

/**
 * Each frame continues in a table, with register C0 set if given; a sampled frame first sends a
 * copy elsewhere.
 */
export interface Sampler {
  kind: "sampler";
  number: bigint;
  ratio: number;
  sample: { tag?: number; counter?: string; dest: Destination };
  set: Modify | null;
  table: string;
}

export type Terminal =
  | Destination
  | { kind: "drop" }
  | { kind: "rootTable"; priority: number }
  | { kind: "array"; members: Member[] }
  | Sampler
  /** Writes a colour into a register C, then continues in a table. */
  | { kind: "flowMeter"; meter: string; start: number; register: number; table: string }
  /** A queue of the host; for host rules only. */
  | { kind: "host"; queue: number };

export type Step =
  | StateStep
  | { kind: "tag"; value: number }
  | { kind: "counter"; counter: string }
  | { kind: "modify"; list: Modify[] }
  | { kind: "popVlan" }
  /** TPID and TCI. */
  | { kind: "pushVlan"; header: number }
  | { kind: "reformat"; reformat: Reformat };

export type PipelineAction = Step | Terminal;
export type PipelineRule = ReferenceRule<PipelineAction>;

export interface PipelineTable {
  domain: DomainType;
  /** The function of the queue. */
  vport: number;
  root: boolean;
  rules: PipelineRule[];
}

/** A rule of a host application on a function; `made` is its creation time. */
export interface HostRule {
  id: string;
  vport: number;
  application: "ethtool" | "tc" | "nic";
  priority: number;
  made: number;
  terms: Term[];
  actions: PipelineAction[];
}

export interface Queue {
  vport: number;
  /** The port that it sends on. */
  port: number;
  number: number;
  /** The reason why it accepts no frame; null if it accepts all. */
  refuses: string | null;
}

export interface Pipeline {
  parser: ParserOptions;
  /** By name; root tables are named by `rootName`. */
  tables: Map<string, PipelineTable>;
  hostRules: HostRule[];
  queues: Map<string, Queue>;
  counters: Map<string, Counter>;
  /** Number of branches that ended for each reason, and of copies that were not made. */
  reasons: Map<string, bigint>;
  state: PipelineState;
}

/** All domains of a type on a function share one root table. */
export function rootName(domain: DomainType, vport: number): string {
  return `${domain}:${vport}`;
}

/** `vports` are VFs, besides the PF. */
export function newPipeline(vports: number, parser: ParserOptions = {}): Pipeline {
  const tables = new Map<string, PipelineTable>();
  const root = (domain: DomainType, vport: number): void => {
    tables.set(rootName(domain, vport), { domain, vport, root: true, rules: [] });
  };
  root("fdb", PF);
  for (let vport = 0; vport <= vports; vport++) {
    root("nic_rx", vport);
    root("nic_tx", vport);
  }
  return {
    parser,
    tables,
    hostRules: [],
    queues: new Map(),
    counters: new Map(),
    reasons: new Map(),
    state: newState(),
  };
}

export function tableNamed({ tables }: Pipeline, name: string): PipelineTable {
  const table = tables.get(name);
  if (!table) throw new Error(`no table ${name}`);
  return table;
}

export function count({ counters }: Pipeline, name: string, wireLength: number): void {
  const { packets, bytes } = counters.get(name) ?? { packets: 0n, bytes: 0n };
  counters.set(name, { packets: packets + 1n, bytes: bytes + BigInt(wireLength) });
}

export function noteReason({ reasons }: Pipeline, reason: string | null): void {
  if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0n) + 1n);
}
