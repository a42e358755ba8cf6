/**
 * A device with random flows in device bytes and entries of flow tables, created by the C-named
 * functions, and its reference. Every change is made to both; a change that one refuses must be
 * refused by the other with the same errno.
 */
import { expect } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import type { DevxFlowEntry } from "../../../src/model/devx/flowEntry.js";
import type { ParserOptions } from "../../../src/model/base/parser.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Tir } from "../../../src/model/queuePair/tir.js";
import * as v from "../../../src/verbs/index.js";
import { termText } from "../../assembly/support/core.js";
import {
  createDeviceFlow,
  destroyDeviceFlow,
  FLOW_TABLES,
  newFlowWorld,
  type Change,
  type DeviceFlow,
  type DeviceTable,
  type FlowTable,
  type TableEntry,
} from "../../oracle/flow/deviceFlows.js";
import { DECLARED, randomFrame, type Random } from "../../oracle/generate/frame.js";
import { randomModify, randomReshape } from "../../oracle/generate/actions.js";
import {
  drawBase,
  drawFlow,
  drawTableEntry,
  tableNames,
  type Draft,
  type Named,
  type Sender,
} from "../../oracle/generate/deviceFlow.js";
import { resized } from "./resized.js";
import { randomMasks } from "../../oracle/generate/pipeline.js";
import type { Term } from "../../oracle/walk/match.js";
import { noRegisters } from "../../oracle/act/modifyHeader.js";
import { fieldsOf } from "../../oracle/walk/pipelineFields.js";
import { WIRE, type DomainType, type Step } from "../../oracle/walk/pipeline.js";
import type { Frame } from "../../oracle/act/rewrite.js";
import { count } from "../../verbs/support/flowWorld.js";
import { counted, DROPS, inTable, MISSES, ofPort, tagged } from "./createFlow.js";
import { created } from "./devx.js";
import { refused } from "./directRules.js";

const VPORTS = 1;
/** For the two ports. */
const MACS = ["02:00:00:00:00:01", "66:11:22:33:44:55"];
const BULK = 4;
/** Rows of a flow table. */
const LOG_SIZE = 4;
const BASES = 14;

/** Each belongs to a function and sends from a port. */
const QUEUES: readonly (readonly [name: string, vport: number, port: number])[] = [
  ["a", 0, 1],
  ["b", 0, 2],
  ["c", 0, 1],
  ["x", 1, 1],
  ["y", 1, 2],
];

const TYPES = Object.keys(FLOW_TABLES) as FlowTable[];
const DEVICE_TYPES: Record<FlowTable, number> = {
  NIC_RX: dv.FS_FT_NIC_RX,
  NIC_TX: dv.FS_FT_NIC_TX,
  FDB: dv.FS_FT_FDB,
  RDMA_RX: dv.FS_FT_RDMA_RX,
  RDMA_TX: dv.FS_FT_RDMA_TX,
  RDMA_TRANSPORT_RX: dv.FS_FT_RDMA_TRANSPORT_RX,
  RDMA_TRANSPORT_TX: dv.FS_FT_RDMA_TRANSPORT_TX,
};
const FLOW_TYPES: Record<DomainType, number> = { nic_rx: 0, nic_tx: 1, fdb: 2 };

/** Its group covers all of it, with the masks of the draft. */
interface MadeTable {
  table: dv.DevxObject;
  groupId: number;
  context: Context;
  entries: (DevxFlowEntry | null)[];
}

export interface CreateFlowWorld extends Draft {
  device: Device;
  contexts: readonly Context[];
  queues: Map<string, QueuePair>;
  senders: readonly Omit<Sender, "metadata" | "transport">[];
  tirs: Map<string, Tir>;
  changes: Map<string, dv.FlowAction>;
  bulk: ReturnType<typeof bulkOf>;
  counters: Map<string, v.Counters>;
  anchors: Map<string, dv.SteeringAnchor>;
  tables: Map<string, MadeTable>;
  flowsMade: Map<string, { flow: dv.DeviceFlow; matcher: dv.FlowMatcher }>;
  names: Map<object, string>;
  tally: Map<string, number>;
  /** Memory before the objects of flows and entries were created. */
  empty: number;
}

const bulkOf = (context: Context) => created(context, dv.allocFlowCounterCommand(Math.log2(BULK)));

/** Creates the objects that flows and entries can name. */
export async function makeCreateFlowWorld(random: Random, tally: Map<string, number>): Promise<CreateFlowWorld> {
  const device = await createDevice({ macs: MACS, ports: 2, vports: VPORTS, parser: DECLARED as ParserOptions });
  const contexts = [0, 1].map((vport) =>
    dv.mlx5dv_open_device(device.function(vport), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX }),
  );
  const [pf, vf] = contexts as [Context, Context];
  const queues = new Map(
    QUEUES.map(([name, vport, port]) => [name, createSink([pf, vf][vport] as Context, name, port)]),
  );
  const empty = device.memoryUsed;
  const vportOf = (queue: QueuePair): number => queue.context.function.vport;
  const tirs = new Map(
    [...queues].map(([name, queue]) => [
      name,
      created(queue.context, dv.createTirCommand({ inline_rqn: queue.qp_num })),
    ]),
  );
  const counters = new Map([0, 1].map((n) => [`i${n}`, points(pf)]));
  const anchors = anchorsOf(contexts);
  const { pool, changes } = changesOf(random, contexts);
  const named: Named = {
    queues: new Map([...queues].map(([name, queue]) => [name, vportOf(queue)])),
    counters: [...Array.from({ length: BULK }, (_, n) => `c${n}`), ...counters.keys()],
    changes: pool,
    anchors: [...anchors].map(([key]) => {
      const [vport, type, priority] = key.split(" ");
      return { vport: Number(vport), type: type as FlowTable, priority: Number(priority) };
    }),
    vports: VPORTS,
  };
  const macs = new Map(MACS.map((mac, i) => [i + 1, BigInt(`0x${mac.replaceAll(":", "")}`)]));
  const draft: Draft = { random, world: newFlowWorld(DECLARED, macs), named, bases: [], masks: new Map(), made: 0 };
  for (const name of named.counters) draft.world.counters.set(name, { packets: 0n, bytes: 0n });
  const senders = QUEUES.map(([queue, vport, port]) => ({
    queue,
    vport,
    port,
    sqn: queues.get(queue)?.qp_num ?? 0,
  }));
  const tables = tablesOf(draft, contexts);
  const bulk = bulkOf(pf);
  const world: CreateFlowWorld = {
    ...draft,
    device,
    contexts,
    queues,
    senders,
    tirs,
    changes,
    bulk,
    counters,
    anchors,
    tables,
    tally,
    flowsMade: new Map(),
    names: new Map(),
    empty,
  };
  world.bases = randomBases(world, BASES);
  return world;
}

export const randomBases = (world: CreateFlowWorld, length: number): Draft["bases"] =>
  Array.from({ length }, () => drawBase(world.random, world.senders, world.world.macs));

function points(context: Context): v.Counters {
  const made = v.ibv_create_counters(context, { comp_mask: 0 });
  for (const counter_desc of [v.IBV_COUNTER_PACKETS, v.IBV_COUNTER_BYTES]) {
    v.ibv_attach_counters_point_flow(made, { counter_desc, index: counter_desc }, null);
  }
  return made;
}

function anchorsOf([pf, vf]: readonly Context[]): Map<string, dv.SteeringAnchor> {
  const places = [
    ...(["NIC_RX", "NIC_TX", "FDB", "RDMA_RX", "RDMA_TX"] as const).map((type) => [0, pf, type] as const),
    ...(["NIC_RX", "NIC_TX"] as const).map((type) => [1, vf, type] as const),
  ];
  return new Map(
    places.flatMap(([vport, context, type]) =>
      [1, 2].map((priority) => {
        const attr = { ft_type: TYPES.indexOf(type), priority };
        return [`${vport} ${type} ${priority}`, dv.mlx5dv_create_steering_anchor(context as Context, attr)] as const;
      }),
    ),
  );
}

/** Flow actions of each domain and function: header changes, and a reformat of each kind. */
function changesOf(random: Random, contexts: readonly Context[]) {
  const pool = new Map<string, Change[]>();
  const changes = new Map<string, dv.FlowAction>();
  const frame: Frame = { ...randomFrame(random), parser: DECLARED };
  for (const [vport, context] of contexts.entries()) {
    for (const domain of ["nic_rx", "nic_tx", "fdb"] as const) {
      if (domain === "fdb" && vport !== 0) continue;
      const steps: Step[] = [0, 1].map(() => ({ kind: "modify", list: randomModify(random, frame, { domain }) }));
      while (steps.length < 4) {
        const step = randomReshape(random, frame);
        if (step.kind === "reformat") steps.push(step);
      }
      const list = steps.map((step, i) => ({ name: `${domain} ${vport} ${i}`, step }));
      pool.set(`${domain} ${vport}`, list);
      for (const { name, step } of list) changes.set(name, makeChange(context, FLOW_TYPES[domain], step));
    }
  }
  return { pool, changes };
}

function makeChange(context: Context, ft_type: number, step: Step): dv.FlowAction {
  if (step.kind === "modify") return dv.mlx5dv_create_flow_action_modify_header(context, undefined, step.list, ft_type);
  if (step.kind !== "reformat") throw new Error("no flow action");
  const { type, data } = step.reformat;
  const bytes = data.length === 0 ? null : data;
  return dv.mlx5dv_create_flow_action_packet_reformat(context, bytes === null ? 0 : data.length, bytes, type, ft_type);
}

/** Two flow tables of each type of each function; some send missed frames to the second. */
function tablesOf(draft: Draft, contexts: readonly Context[]): Map<string, MadeTable> {
  const tables = new Map<string, MadeTable>();
  for (const [vport, context] of contexts.entries()) {
    for (const type of TYPES) {
      if (type === "FDB" && vport !== 0) continue;
      const [first, second] = tableNames(type, vport);
      const behind = makeTable(draft, context, { type, vport, entries: [], miss: null });
      const miss = draft.random.chance(0.5) ? second : null;
      draft.masks.set(second, behind.terms);
      draft.world.tables.set(second, behind.reference);
      tables.set(second, behind.made);
      const before = makeTable(draft, context, { type, vport, entries: [], miss }, behind.made.table.id);
      draft.masks.set(first, before.terms);
      draft.world.tables.set(first, before.reference);
      tables.set(first, before.made);
    }
  }
  return tables;
}

/** A flow table, and a group that covers all of it, with masks for fields of a frame. */
function makeTable({ random }: Draft, context: Context, reference: DeviceTable, behind = 0) {
  const type = DEVICE_TYPES[reference.type];
  const miss = reference.miss === null ? {} : { table_miss_action: 1, table_miss_id: behind };
  const table = created(context, dv.createFlowTableCommand(type, { level: 1, log_size: LOG_SIZE, ...miss }));
  const frame: Frame = { ...randomFrame(random), parser: DECLARED };
  const fields = fieldsOf(frame, noRegisters(), { vport: WIRE, port: 1, sqn: 0, metadata: 0 });
  const masks = randomMasks(random, fields).filter(({ field }) => !field.endsWith("ip_version"));
  const terms = masks.map(({ field, mask }) => ({ field, mask, value: 0n }));
  const range = { table_type: type, table_id: table.id, start_flow_index: 0, end_flow_index: 2 ** LOG_SIZE - 1 };
  const { match_criteria_enable, mask } = matchOf(terms);
  const group = { ...range, match_criteria_enable, match_criteria: mask.match_buf };
  const groupId = created(context, dv.createFlowGroupCommand(group)).id;
  const entries: MadeTable["entries"] = Array.from({ length: 2 ** LOG_SIZE }, () => null);
  return { reference, terms, made: { table, groupId, context, entries } };
}

const matchOf = (terms: readonly Term[]): dv.DeviceMatch =>
  dv.matchParameters(Object.fromEntries(terms.map((term) => [term.field, termText(term)])), { root: true });

/** A round of additions. */
export function addSome(world: CreateFlowWorld): void {
  for (let n = 0; n < 14; n++) {
    const flow = drawFlow(world);
    if (flow !== null) makeFlow(world, flow);
  }
  for (let n = 0; n < 12; n++) addEntry(world);
}

/** In both, or in neither. */
function makeFlow(world: CreateFlowWorld, flow: DeviceFlow): void {
  const { contexts, random, device, flowsMade, names, tally } = world;
  const { match_criteria_enable, ...whole } = matchOf(flow.terms);
  const [mask, value] = [resized(random, whole.mask), resized(random, whole.value)];
  const type = TYPES.indexOf(flow.type);
  const place =
    flow.port !== null
      ? ofPort(type, flow.port)
      : type < 2 && random.chance(0.3)
        ? { flags: flagsOf(flow) }
        : inTable(type);
  const attr = { match_mask: mask, match_criteria_enable, priority: flow.priority, ...place };
  const alike = [...flowsMade].find(([id]) => alikeMask(world.world.flows.get(id) as DeviceFlow, flow));
  const own = alike === undefined || random.chance(0.4);
  const matcher = own ? dv.mlx5dv_create_flow_matcher(contexts[flow.vport] as Context, attr) : alike[1].matcher;
  const actions = shuffled(random, actionsOf(world, flow));
  const before = device.memoryUsed;
  const make = (): dv.DeviceFlow => dv.mlx5dv_create_flow(matcher, value, actions.length, actions);
  const why = createDeviceFlow(world.world, flow);
  count(tally, `${flow.type} ${why ?? "made"}`);
  if (why !== null) {
    expect(refused(make)?.code).toBe(why);
    expect(device.memoryUsed).toBe(before);
    if (own) dv.mlx5dv_destroy_flow_matcher(matcher);
    return;
  }
  const made = make();
  flowsMade.set(flow.id, { flow: made, matcher });
  names.set(made, flow.id);
  for (const { type: used } of actions) count(tally, `action ${used}`);
}

/** Flow actions keep their order, which matters. */
function shuffled(random: Random, list: readonly dv.FlowActionAttr[]): dv.FlowActionAttr[] {
  const changes = list.filter(({ action }) => action !== undefined);
  return random.shuffle(list).map((one) => (one.action === undefined ? one : (changes.shift() as dv.FlowActionAttr)));
}

const flagsOf = ({ type }: DeviceFlow): number => (type === "NIC_TX" ? v.IBV_FLOW_ATTR_FLAGS_EGRESS : 0);

const maskText = ({ vport, type, port, priority, terms }: DeviceFlow): string =>
  [vport, type, port, priority, ...terms.map(({ field, mask }) => `${field}/${mask}`)].join(" ");
const alikeMask = (a: DeviceFlow, b: DeviceFlow): boolean => maskText(a) === maskText(b);

function actionsOf(world: CreateFlowWorld, flow: DeviceFlow): dv.FlowActionAttr[] {
  const { random, queues, tirs, tables, bulk, counters } = world;
  const { type, end, tag, counter, changes } = flow;
  const list: dv.FlowActionAttr[] = changes.map(({ name }) => ({
    type: dv.MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION,
    action: world.changes.get(name),
  }));
  if (tag !== null) list.push(tagged(tag));
  if (counter !== null) {
    const offset = Number(counter.slice(1));
    if (counter.startsWith("c")) list.push(offset === 0 && random.chance(0.5) ? counted(bulk) : counted(bulk, offset));
    else list.push({ type: dv.MLX5DV_FLOW_ACTION_IBV_COUNTER, counter: counters.get(counter) });
  }
  // RDMA tables do not allow a TIR as destination.
  switch (end?.kind) {
    case "queue":
      return random.chance(0.4) && !FLOW_TABLES[type].rdma
        ? [...list, { type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: tirs.get(end.queue) }]
        : [...list, { type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: queues.get(end.queue) }];
    case "table":
      return [...list, { type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: tables.get(end.table)?.table }];
    case "miss":
      return [...list, MISSES];
    case "drop":
      return [...list, DROPS];
    default:
      return list;
  }
}

function addEntry(world: CreateFlowWorld): void {
  const drawn = drawTableEntry(world);
  if (drawn === null) return;
  const { random, tables, names, tally } = world;
  const { context, table, groupId, entries } = tables.get(drawn.table) as MadeTable;
  const free = entries.flatMap((one, i) => (one === null ? [i] : []));
  if (free.length === 0) return;
  const flow_index = random.pick(free);
  const here = world.world.tables.get(drawn.table) as DeviceTable;
  const entry = created(
    context,
    dv.setFlowTableEntryCommand({
      table_type: DEVICE_TYPES[here.type],
      table_id: table.id,
      flow_index,
      group_id: groupId,
      match_value: matchOf(drawn.entry.terms).value.match_buf,
      flow_tag: drawn.entry.tag,
      ...endOfEntry(world, here, drawn.entry),
    }),
  );
  entries[flow_index] = entry;
  names.set(entry, drawn.entry.id);
  const order = (one: TableEntry): number => entries.findIndex((made) => made !== null && names.get(made) === one.id);
  here.entries = [...here.entries, drawn.entry].sort((a, b) => order(a) - order(b));
  count(tally, `entry ${drawn.entry.end.kind}`);
  count(tally, `entry of ${here.type} ${drawn.entry.end.kind}`);
}

function endOfEntry(
  { tables, tirs, anchors }: CreateFlowWorld,
  { vport }: DeviceTable,
  { end }: TableEntry,
): Pick<dv.FlowEntryFields, "action" | "destinations" | "ignore_flow_level"> {
  const to = (destination_type: number, destination_id = 0) => ({
    action: dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST,
    ignore_flow_level: true,
    destinations: [{ destination_type, destination_id }],
  });
  switch (end.kind) {
    case "allow":
      return { action: dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW };
    case "drop":
      return { action: dv.MLX5_FLOW_CONTEXT_ACTION_DROP };
    case "queue":
      return to(dv.MLX5_FLOW_DESTINATION_TYPE_TIR, tirs.get(end.queue)?.id);
    case "table":
      return to(dv.MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE, tables.get(end.table)?.table.id);
    case "anchor":
      return to(dv.MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE, anchors.get(`${vport} ${end.type} ${end.priority}`)?.id);
    case "vport":
      return end.vport === WIRE
        ? to(dv.MLX5_FLOW_DESTINATION_TYPE_UPLINK)
        : to(dv.MLX5_FLOW_DESTINATION_TYPE_VPORT, end.vport);
  }
}

/** Removes some, or all. */
export function removeSome(world: CreateFlowWorld, chance = 0.3): void {
  const { random, flowsMade } = world;
  for (const [id, { flow, matcher }] of random.shuffle([...flowsMade])) {
    if (!random.chance(chance)) continue;
    expect(v.ibv_destroy_flow(flow)).toBe(0);
    destroyDeviceFlow(world.world, id);
    flowsMade.delete(id);
    const used = [...flowsMade.values()].some((other) => other.matcher === matcher);
    if (used) expect(refused(() => dv.mlx5dv_destroy_flow_matcher(matcher))?.code).toBe("EBUSY");
    else expect(dv.mlx5dv_destroy_flow_matcher(matcher)).toBe(0);
  }
  for (const [name, { entries }] of world.tables) {
    const here = world.world.tables.get(name) as DeviceTable;
    for (const [i, entry] of entries.entries()) {
      if (entry === null || !random.chance(chance)) continue;
      expect(dv.mlx5dv_devx_obj_destroy(entry)).toBe(0);
      here.entries = here.entries.filter(({ id }) => id !== world.names.get(entry));
      entries[i] = null;
    }
  }
}

/** Removes everything, and the objects that it names. */
export function removeAll(world: CreateFlowWorld): void {
  const { tables, anchors, changes, tirs, bulk, counters } = world;
  removeSome(world, 1);
  const groups = [...tables.values()].map(({ context, groupId }) => context.numbered.at("flow_group", groupId));
  // The first sends its misses to the second, which was created earlier.
  const made = [...tables.values()].map(({ table }) => table).reverse();
  for (const one of [...groups, ...made, ...tirs.values(), bulk]) dv.mlx5dv_devx_obj_destroy(one as dv.DevxObject);
  for (const one of anchors.values()) dv.mlx5dv_destroy_steering_anchor(one);
  for (const one of changes.values()) v.ibv_destroy_flow_action(one);
  for (const one of counters.values()) v.ibv_destroy_counters(one);
}

export function compareCounters({ world, bulk, counters }: CreateFlowWorld): void {
  for (const [name, wanted] of world.counters) {
    const values = new BigUint64Array(2);
    const points = counters.get(name);
    if (points === undefined) Object.assign(values, Object.values(bulk.read(Number(name.slice(1)))));
    else v.ibv_read_counters(points, values, undefined, 0);
    expect([name, ...values]).toEqual([name, wanted.packets, wanted.bytes]);
  }
}
