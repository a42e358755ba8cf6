/**
 * A scenario as what a program creates: objects in the order in which libibverbs and libmlx5 take
 * them. Lists refer to each other by index. The writers of C and of TypeScript print it.
 *
 *     queues, counters  ->  domains  ->  tables  ->  actions  ->  matchers  ->  rules  ->  flows
 */
import type { FlowRequest } from "../../model/match/flowSpec.js";

export interface ProgramQueue {
  readonly name: string;
  readonly port: number;
  readonly type: "raw_packet" | "ud";
}

export interface ProgramCounter {
  readonly name: string;
  /** Of the size of a bulk; 0 is one counter. */
  readonly bulkLog: number;
}

export interface ProgramTable {
  readonly name: string;
  readonly domain: number;
  readonly level: number;
}

/** An action; the fields are the parameters of the call that creates it. */
export type ProgramAction = { readonly comment: string } & (
  | { readonly kind: "drop" | "default_miss" | "pop_vlan" }
  | { readonly kind: "tag"; readonly tag: number }
  | { readonly kind: "dest_ibv_qp"; readonly queue: number }
  | { readonly kind: "dest_table"; readonly table: number }
  | { readonly kind: "dest_root_table"; readonly table: number; readonly priority: number }
  | { readonly kind: "flow_counter"; readonly counter: number; readonly offset: number }
  | { readonly kind: "dest_vport"; readonly domain: number; readonly vport: number }
  | { readonly kind: "dest_ib_port"; readonly domain: number; readonly port: number }
  | { readonly kind: "push_vlan"; readonly domain: number; readonly header: number }
  | {
      readonly kind: "packet_reformat";
      readonly domain: number;
      readonly root: boolean;
      readonly type: number;
      readonly data: Uint8Array;
    }
  | {
      readonly kind: "modify_header";
      readonly domain: number;
      readonly root: boolean;
      readonly words: readonly bigint[];
    }
  | { readonly kind: "dest_array"; readonly domain: number; readonly members: readonly ProgramMember[] }
);

/** A destination of an array, and the action that encapsulates its copy; -1 for none. */
export interface ProgramMember {
  readonly dest: number;
  readonly reformat: number;
}

/** Match parameters: bytes up to the last group that is used, and what they say. */
export interface ProgramBytes {
  readonly bytes: Uint8Array;
  readonly fields: readonly ProgramField[];
}

export interface ProgramField {
  /** First byte, and how many of them. */
  readonly at: number;
  readonly size: number;
  readonly text: string;
}

export interface ProgramMatcher {
  readonly name: string;
  readonly table: number;
  readonly priority: number;
  readonly criteria: number;
  readonly mask: ProgramBytes;
}

export interface ProgramRule {
  readonly name: string;
  /** Of the scenario's rule. */
  readonly path: string;
  readonly matcher: number;
  readonly value: ProgramBytes;
  readonly actions: readonly number[];
}

export interface ProgramFlowCounter {
  readonly name: string;
  readonly points: readonly { readonly index: number; readonly counts: "packets" | "bytes" }[];
}

/** A flow: counters in its specs are indices of `flowCounters`. */
export interface ProgramFlow {
  readonly name: string;
  readonly queue: number;
  readonly request: FlowRequest;
}

export interface Program {
  readonly title: string;
  readonly queues: readonly ProgramQueue[];
  readonly counters: readonly ProgramCounter[];
  readonly domains: readonly ("nic_rx" | "nic_tx" | "fdb")[];
  readonly tables: readonly ProgramTable[];
  readonly actions: readonly ProgramAction[];
  readonly matchers: readonly ProgramMatcher[];
  readonly rules: readonly ProgramRule[];
  readonly flowCounters: readonly ProgramFlowCounter[];
  readonly flows: readonly ProgramFlow[];
}
