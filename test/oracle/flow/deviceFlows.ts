// Reference of flows in device bytes, part 1: the flows of a device, and how they merge into
// entries. Written from mlx5dv_create_flow(3) and docs/flows.md ("Flows in device bytes"). The path
// of a frame is in deviceFlowWalk.ts.

import { type Term } from "../walk/match.js";
import { type DomainType, type Step } from "../walk/pipeline.js";
import { type ParserOptions } from "../wire/packet.js";
import { type Counter } from "../walk/walk.js";

/** Types of flow tables. */
export const FLOW_TABLES = {
  NIC_RX: { domain: "nic_rx", rdma: false, transport: false },
  NIC_TX: { domain: "nic_tx", rdma: false, transport: false },
  FDB: { domain: "fdb", rdma: false, transport: false },
  RDMA_RX: { domain: "nic_rx", rdma: true, transport: false },
  RDMA_TX: { domain: "nic_tx", rdma: true, transport: false },
  RDMA_TRANSPORT_RX: { domain: "nic_rx", rdma: true, transport: true },
  RDMA_TRANSPORT_TX: { domain: "nic_tx", rdma: true, transport: true },
} as const satisfies Record<string, { domain: DomainType; rdma: boolean; transport: boolean }>;
export type FlowTable = keyof typeof FLOW_TABLES;

/** A flow action; equal names mean the same action. */
export interface Change {
  name: string;
  step: Step;
}

/**
 * Destination of a flow: a queue (directly or through a TIR), a flow table, the miss of its table,
 * or drop.
 */
export type FlowEnd =
  { kind: "queue"; queue: string } | { kind: "table"; table: string } | { kind: "miss" } | { kind: "drop" };

export interface DeviceFlow {
  id: string;
  vport: number;
  type: FlowTable;
  /** For transport tables. */
  port: number | null;
  priority: number;
  terms: Term[];
  end: FlowEnd | null;
  tag: number | null;
  counter: string | null;
  changes: Change[];
}

/**
 * The age of one mask at one priority of one table is that of its first entry, while it has any.
 */
interface Mask {
  made: number;
  entries: number;
}

/** Identical flows. */
export interface Entry extends Pick<DeviceFlow, "vport" | "type" | "port" | "priority" | "terms" | "changes"> {
  name: string;
  maskName: string;
  mask: Mask;
  made: number;
  drop: boolean;
  tag: number | null;
  flows: DeviceFlow[];
}

/** Destination of an entry of a flow table of device commands. */
export type TableEnd =
  | { kind: "allow" }
  | { kind: "drop" }
  | { kind: "queue"; queue: string }
  | { kind: "table"; table: string }
  /** To the first flow of a priority. */
  | { kind: "anchor"; type: FlowTable; priority: number }
  | { kind: "vport"; vport: number };

export interface TableEntry {
  id: string;
  terms: Term[];
  end: TableEnd;
  tag: number;
}

export interface DeviceTable {
  type: FlowTable;
  vport: number;
  /** In order of index. */
  entries: TableEntry[];
  miss: string | null;
}

export interface FlowWorld {
  parser: ParserOptions;
  /** By port. */
  macs: ReadonlyMap<number, bigint>;
  flows: Map<string, DeviceFlow>;
  entries: Entry[];
  tables: Map<string, DeviceTable>;
  counters: Map<string, Counter>;
  made: number;
}

export function newFlowWorld(parser: ParserOptions, macs: ReadonlyMap<number, bigint>): FlowWorld {
  return { parser, macs, flows: new Map(), entries: [], tables: new Map(), counters: new Map(), made: 0 };
}

/** mlx5dv_create_flow of flows that are valid alone: null, or the error. */
export function createDeviceFlow(world: FlowWorld, flow: DeviceFlow): "EEXIST" | null {
  const names = namesOf(flow);
  const there = world.entries.find(({ name }) => name === names.name);
  if (there !== undefined && !agrees(there, flow)) return "EEXIST";
  world.flows.set(flow.id, flow);
  if (there !== undefined) {
    there.flows.push(flow);
    return null;
  }
  const mask = world.entries.find(({ maskName }) => maskName === names.maskName)?.mask ?? {
    made: world.made++,
    entries: 0,
  };
  mask.entries++;
  const { vport, type, port, priority, terms, changes, tag } = flow;
  const drop = flow.end?.kind === "drop";
  const entry = { vport, type, port, priority, terms, changes, tag, drop, mask, made: world.made++, flows: [flow] };
  world.entries.push({ ...entry, ...names });
  return null;
}

/** ibv_destroy_flow. */
export function destroyDeviceFlow(world: FlowWorld, id: string): void {
  const flow = world.flows.get(id);
  if (!flow) throw new Error(`no flow ${id}`);
  world.flows.delete(id);
  for (const entry of world.entries) entry.flows = entry.flows.filter((one) => one !== flow);
  world.entries = world.entries.filter(({ flows }) => flows.length > 0);
}

/** The next destination of an entry, besides its queues. */
export function endOf({ flows }: Pick<Entry, "flows">): FlowEnd | null {
  return flows.map(({ end }) => end).find((end) => end?.kind === "table" || end?.kind === "miss") ?? null;
}

/** Distinct queues. */
export function queuesOf({ flows }: Entry): string[] {
  return [...new Set(flows.flatMap(({ end }) => (end?.kind === "queue" ? end.queue : [])))];
}

/** Distinct counters. */
export function countersOf({ flows }: Entry): string[] {
  return [...new Set(flows.flatMap(({ counter }) => counter ?? []))];
}

const hex = (value: bigint): string => value.toString(16);

function namesOf({ vport, type, port, priority, terms }: DeviceFlow): Pick<Entry, "name" | "maskName"> {
  const sorted = [...terms].sort((a, b) => (a.field < b.field ? -1 : 1)).filter(({ mask }) => mask !== 0n);
  const maskName = [vport, type, priority, ...sorted.map(({ field, mask }) => `${field}/${hex(mask)}`)].join(" ");
  return { maskName, name: [maskName, port, ...sorted.map(({ mask, value }) => hex(value & mask))].join(" ") };
}

const text = (value: unknown): string => JSON.stringify(value);

/**
 * Whether a new flow can join an entry: both drop or neither does; the new flow brings no other
 * tag, the same changes and the same next destination.
 */
function agrees(entry: Entry, flow: DeviceFlow): boolean {
  const [here, there] = [endOf({ flows: [flow] }), endOf(entry)];
  return (
    entry.drop === (flow.end?.kind === "drop") &&
    (flow.tag === null || flow.tag === (entry.tag ?? 0)) &&
    text(entry.changes.map(({ name }) => name)) === text(flow.changes.map(({ name }) => name)) &&
    (here === null || there === null || text(here) === text(there))
  );
}
