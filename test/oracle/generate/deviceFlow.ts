// Random flows in device bytes, and entries of flow tables, in the types of the reference. Each is
// made for a frame at a point of its path, from the fields that the frame has there: most match the
// frame, others miss it by one bit.

import {
  FLOW_TABLES,
  type Change,
  type DeviceFlow,
  type DeviceTable,
  type FlowEnd,
  type FlowTable,
  type FlowWorld,
  type TableEnd,
  type TableEntry,
} from "../flow/deviceFlows.js";
import {
  type FlowOutcome,
  type Observer,
  type Place,
  receiveDeviceFlows,
  sendDeviceFlows,
} from "../flow/deviceFlowWalk.js";
import { be } from "./draw.js";
import { type GeneratedFrame, randomFrame, randomFrameOf } from "./frame.js";
import { flipOne, randomMasks } from "./pipeline.js";
import { type Fields, type Term } from "../walk/match.js";
import { WIRE } from "../walk/pipeline.js";
import { type Random } from "./random.js";

/** A frame and its sender; null: it is received on its port. */
export interface Base {
  frame: GeneratedFrame;
  sender: Sender | null;
}

export interface Sender {
  queue: string;
  vport: number;
  port: number;
  sqn: number;
  metadata: number;
  /** It builds packets from the data that it sends. */
  transport: boolean;
}

/** Objects that flows can name. */
export interface Named {
  /** By function. */
  queues: ReadonlyMap<string, number>;
  counters: readonly string[];
  changes: ReadonlyMap<string, readonly Change[]>;
  anchors: readonly { vport: number; type: FlowTable; priority: number }[];
  vports: number;
}

export interface Draft {
  random: Random;
  world: FlowWorld;
  named: Named;
  bases: Base[];
  /** Masks of the groups of flow tables. */
  masks: Map<string, Term[]>;
  made: number;
}

const PRIORITIES = [0, 1, 2, 3];

/** Some of the sent frames are addressed to the port itself. */
export function drawBase(
  random: Random,
  senders: readonly Omit<Sender, "metadata" | "transport">[],
  macs: ReadonlyMap<number, bigint>,
): Base {
  const frame = random.chance(0.4) ? randomFrameOf(random, "bth") : randomFrame(random);
  if (random.chance(0.5) || frame.linkType !== 1 || frame.bytes.length < 14) return { frame, sender: null };
  const transport = random.chance(0.5);
  const metadata = transport || random.chance(0.5) ? 0 : random.word();
  const sender = { ...random.pick(senders), metadata, transport };
  if (random.chance(0.3)) frame.bytes.set(be(macs.get(sender.port) ?? 0n, 6));
  return { frame: { ...frame, port: sender.port, wireLength: frame.bytes.length }, sender };
}

/** The reference's answer. */
export function walkBase(world: FlowWorld, { frame, sender }: Base, observe: Observer = () => undefined): FlowOutcome {
  if (sender === null) return receiveDeviceFlows(world, frame, observe);
  const { vport, sqn, metadata, transport } = sender;
  return sendDeviceFlows(world, frame, { vport, port: frame.port, sqn, metadata }, observe, transport);
}

interface Visit {
  at: Place;
  fields: Fields;
}

/** The points that a frame passes. Counters do not change. */
function visitsOf({ world, bases, random }: Draft): Visit[] {
  const visits: Visit[] = [];
  walkBase({ ...world, counters: new Map() }, random.pick(bases), (at, fields) => visits.push({ at, fields }));
  return visits;
}

/** Terms that match the fields, or miss them by one bit. */
function termsFor(random: Random, masks: readonly Pick<Term, "field" | "mask">[], fields: Fields): Term[] {
  const terms = masks.map(({ field, mask }) => ({ field, mask, value: (fields.get(field) ?? 0n) & mask }));
  if (random.chance(0.35)) flipOne(random, terms);
  return terms;
}

/** In device bytes, fields of one IP version cannot appear with another `ip_version`. */
function isVersionOf(fields: Fields, { field, value }: Term): boolean {
  return !field.endsWith("ip_version") || fields.get(field) === value;
}

/** Often with the mask, or the whole match, of an existing flow. */
export function drawFlow(draft: Draft): DeviceFlow | null {
  const { random, world } = draft;
  const stages = visitsOf(draft).flatMap(({ at, fields }) => ("stage" in at ? { ...at, fields } : []));
  if (stages.length === 0) return null;
  const { stage: type, vport, fields } = random.pick(stages);
  const others = [...world.flows.values()].filter((one) => {
    return one.type === type && one.vport === vport && one.terms.every((term) => isVersionOf(fields, term));
  });
  const like = others.length > 0 && random.chance(0.4) ? random.pick(others) : null;
  const terms =
    like !== null && random.chance(0.4)
      ? like.terms
      : termsFor(random, like?.terms ?? randomMasks(random, fields), fields);
  const { transport } = FLOW_TABLES[type];
  const port = transport ? (like?.port ?? random.between(1, 2)) : null;
  const priority = like?.priority ?? random.pick(PRIORITIES);
  return { id: `f${draft.made++}`, vport, type, port, priority, terms, ...does(draft, type, vport, like) };
}

/** Actions of a flow: often those of a flow that may be identical. */
function does(
  { random, named }: Draft,
  type: FlowTable,
  vport: number,
  like: DeviceFlow | null,
): Pick<DeviceFlow, "end" | "tag" | "counter" | "changes"> {
  const { domain, rdma } = FLOW_TABLES[type];
  const same = like !== null && random.chance(0.7);
  const pool = rdma ? [] : (named.changes.get(`${domain} ${vport}`) ?? []);
  const changes = pool.filter(() => random.chance(0.12));
  return {
    end: same && like.end?.kind === "drop" ? like.end : randomEnd(random, named, type, vport),
    tag: same ? like.tag : domain !== "fdb" && random.chance(0.4) ? random.below(2 ** 24) : null,
    counter: random.chance(0.4) ? random.pick(named.counters) : null,
    changes: same ? like.changes : random.shuffle(changes),
  };
}

/** The two flow tables of a type on a function. */
export const tableNames = (type: FlowTable, vport: number): [string, string] => [
  `${type} ${vport} a`,
  `${type} ${vport} b`,
];

const OF_DOMAIN = { nic_rx: "NIC_RX", nic_tx: "NIC_TX", fdb: "FDB" } as const satisfies Record<string, FlowTable>;

function randomEnd(random: Random, { queues }: Named, type: FlowTable, vport: number): FlowEnd | null {
  const { domain, rdma } = FLOW_TABLES[type];
  const roll = random.below(100);
  if (roll < 12) return { kind: "drop" };
  // Frames are to reach the later RDMA types too.
  if (roll < (rdma ? 40 : 30)) return { kind: "miss" };
  const of = random.chance(0.8) ? type : OF_DOMAIN[domain];
  if (roll < (rdma ? 82 : 52)) return { kind: "table", table: random.pick(tableNames(of, vport)) };
  if (roll < (rdma ? 85 : 60) || domain !== "nic_rx") return null;
  return { kind: "queue", queue: random.pick(queuesOf(queues, vport)) };
}

const queuesOf = (queues: ReadonlyMap<string, number>, vport: number): string[] =>
  [...queues].filter(([, of]) => of === vport).map(([name]) => name);

/** An entry of one of the flow tables, for a frame that reaches it; null if none does. */
export function drawTableEntry(draft: Draft): { table: string; entry: TableEntry } | null {
  const { random, world, named, masks } = draft;
  const visits = visitsOf(draft).flatMap(({ at, fields }) => ("table" in at ? { ...at, fields } : []));
  if (visits.length === 0) return null;
  const { table, fields } = random.pick(visits);
  const here = world.tables.get(table) as DeviceTable;
  const terms = termsFor(random, masks.get(table) ?? [], fields);
  const tag = FLOW_TABLES[here.type].domain === "nic_rx" && random.chance(0.3) ? random.between(1, 2 ** 24 - 1) : 0;
  return { table, entry: { id: `e${draft.made++}`, terms, end: randomTableEnd(random, named, here), tag } };
}

function randomTableEnd(random: Random, named: Named, { type, vport }: DeviceTable): TableEnd {
  const { domain, rdma } = FLOW_TABLES[type];
  const roll = random.below(100);
  if (roll < 12) return { kind: "drop" };
  if (roll < (rdma ? 36 : 24)) return { kind: "allow" };
  if (roll < (rdma ? 55 : 40)) return { kind: "table", table: random.pick(tableNames(type, vport)) };
  const anchors = named.anchors.filter((one) => one.vport === vport && FLOW_TABLES[one.type].domain === domain);
  if (roll < (rdma ? 70 : 62) && anchors.length > 0) {
    const { type, priority } = random.pick(anchors);
    return { kind: "anchor", type, priority };
  }
  if (domain === "nic_rx") return { kind: "queue", queue: random.pick(queuesOf(named.queues, vport)) };
  if (domain === "nic_tx") return { kind: "allow" };
  return { kind: "vport", vport: random.pick([WIRE, ...Array.from({ length: named.vports + 1 }, (_, n) => n)]) };
}
