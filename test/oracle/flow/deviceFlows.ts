// The second opinion on flows in device bytes, part 1: those that live on a device, and which of them are one entry. Written
// from mlx5dv_create_flow(3) and docs/flows.md ("Flows in device bytes"). What becomes of a frame is in deviceFlowWalk.ts.

import { type Term } from "../walk/match.js";
import { type DomainType, type Step } from "../walk/pipeline.js";
import { type ParserOptions } from "../wire/packet.js";
import { type Counter } from "../walk/walk.js";

/** Types of tables that flows stand in. */
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

/** A flow action: the same one is the same name. */
export interface Change {
  name: string;
  step: Step;
}

/** Where a flow ends: at a queue (by itself or by a TIR), in a flow table, behind its table, or dropped. */
export type FlowEnd =
  { kind: "queue"; queue: string } | { kind: "table"; table: string } | { kind: "miss" } | { kind: "drop" };

export interface DeviceFlow {
  id: string;
  vport: number;
  type: FlowTable;
  /** Of transport tables. */
  port: number | null;
  priority: number;
  terms: Term[];
  end: FlowEnd | null;
  tag: number | null;
  counter: string | null;
  changes: Change[];
}

/** One mask at one priority of one table is as old as the first entry that it had, while there is one. */
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

/** What an entry of a flow table of device commands does. */
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
  domain: DomainType;
  vport: number;
  /** In the order of their indexes. */
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

/** mlx5dv_create_flow of flows that could stand alone: null, or why not. */
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

/** Where the frames of an entry go on to, besides its queues. */
export function endOf({ flows }: Pick<Entry, "flows">): FlowEnd | null {
  return flows.map(({ end }) => end).find((end) => end?.kind === "table" || end?.kind === "miss") ?? null;
}

/** Each queue once. */
export function queuesOf({ flows }: Entry): string[] {
  return [...new Set(flows.flatMap(({ end }) => (end?.kind === "queue" ? end.queue : [])))];
}

/** Each counter once. */
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

/** They both drop or neither does, the newcomer brings no other tag, changes the same, and goes on where the others do. */
function agrees(entry: Entry, flow: DeviceFlow): boolean {
  const [here, there] = [endOf({ flows: [flow] }), endOf(entry)];
  return (
    entry.drop === (flow.end?.kind === "drop") &&
    (flow.tag === null || flow.tag === (entry.tag ?? 0)) &&
    text(entry.changes.map(({ name }) => name)) === text(flow.changes.map(({ name }) => name)) &&
    (here === null || there === null || text(here) === text(there))
  );
}
