// The second opinion on direct rules in all domains, part 1: what there is. Written from docs/rules.md and the manual page
// mlx5dv_dr(3). What becomes of a frame is in pipelineWalk.ts.

import { type ReferenceRule, type Term } from "./match.js";
import { type Modify } from "../act/modifyFields.js";
import { type ParserOptions } from "../wire/packet.js";
import { type PipelineState, type StateStep, newState } from "./pipelineState.js";
import { type Reformat } from "../act/rewrite.js";
import { type Counter } from "./walk.js";

/** The vport of the wire, and of the function that manages the eSwitch. */
export const WIRE = 0xffff;
export const PF = 0;

export type DomainType = "nic_rx" | "nic_tx" | "fdb";

/** Where a rule, or a member of an array, sends a frame. */
export type Destination =
  | { kind: "defaultMiss" }
  | { kind: "qp"; qp: string }
  | { kind: "table"; table: string }
  | { kind: "vport"; vport: number }
  | { kind: "port"; port: number };

/** A copy of its own, or one more count. */
export interface Member {
  reformat?: Reformat;
  dest: Destination | { kind: "counter"; counter: string };
}

/** Every frame goes on in a table, with register C0 set where that is asked; some send a copy elsewhere first. */
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
  /** A colour into a register C, then a table. */
  | { kind: "flowMeter"; meter: string; start: number; register: number; table: string }
  /** A queue of the host: of its rules alone. */
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
  /** The function that it is on. */
  vport: number;
  root: boolean;
  rules: PipelineRule[];
}

/** A rule of one of the host's applications on a function; `made` says how old it is. */
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
  /** What it sends on. */
  port: number;
  number: number;
  /** Why it takes no frame; null where it takes all. */
  refuses: string | null;
}

export interface Pipeline {
  parser: ParserOptions;
  /** By name; those of root tables are `rootName`. */
  tables: Map<string, PipelineTable>;
  hostRules: HostRule[];
  queues: Map<string, Queue>;
  counters: Map<string, Counter>;
  /** How often branches ended for each reason, and copies that were not made. */
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
