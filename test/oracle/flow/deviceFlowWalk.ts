// Reference of flows in device bytes, part 2: the path of one frame. Written from docs/flows.md
// ("Flows in device bytes", "Order of matching", "Sending"), docs/rules.md ("The path of a frame", "Order of
// execution") and docs/devx.md ("Flow tables").

import {
  FLOW_TABLES,
  type DeviceTable,
  type Entry,
  type FlowTable,
  type FlowWorld,
  type TableEnd,
  countersOf,
  endOf,
  queuesOf,
} from "./deviceFlows.js";
import { type Fields, termMatches } from "../walk/match.js";
import { type Registers, noRegisters } from "../act/modifyHeader.js";
import { PF, type Step, WIRE } from "../walk/pipeline.js";
import { type Origin, fieldsOf } from "../walk/pipelineFields.js";
import { type Frame, isDecapsulation, modified, reformatted } from "../act/rewrite.js";
import { MAX_RULES } from "../walk/pipelineWalk.js";
import { MAX_JUMPS } from "../walk/walk.js";

export interface Arrival {
  name: string;
  tag: number;
  bytes: Uint8Array;
}

export interface FlowOutcome {
  verdict: "deliver" | "transmit" | "drop" | "miss";
  reason: string | null;
  tag: number | null;
  registers: Record<string, number>;
  to: Arrival[];
  copies: Arrival[];
  /** Ids of the hits: for an entry the ids of all its flows. */
  rules: string[];
}

/** Called for each table that a frame enters, with the frame as it is there. */
export type Observer = (at: Place, fields: Fields, frame: Frame) => void;

/** A flow table type of a function, from a priority on; or a flow table of device commands. */
export type Place = { stage: FlowTable; vport: number; from: number } | { table: string };

interface Walk {
  world: FlowWorld;
  origin: Origin;
  observe: Observer;
  frame: Frame;
  registers: Registers;
  tag: number | null;
  /** The flow tables that follow if the frame misses. */
  behind: FlowTable[];
  hops: number;
  missed: boolean;
  looped: boolean;
  /** It leaves after the PF's own rules, which may keep it. */
  loops: boolean;
  copies: Arrival[];
  hits: number;
  rules: string[];
}

type FrameIn = Omit<Frame, "parser">;

const RECEIVED: FlowTable[] = ["RDMA_RX", "RDMA_TRANSPORT_RX", "NIC_RX"];
const SENT_BY_TRANSPORTS: FlowTable[] = ["RDMA_TRANSPORT_TX", "RDMA_TX"];

/** A frame received on a port. */
export function receiveDeviceFlows(world: FlowWorld, frame: FrameIn, observe: Observer): FlowOutcome {
  const walk = newWalk(world, frame, { vport: WIRE, port: frame.port, sqn: 0, metadata: 0 }, observe);
  return run(walk, stageAt(walk, ["FDB"], PF));
}

/** A frame sent by a queue of a function, or by a queue pair with its own transport. */
export function sendDeviceFlows(
  world: FlowWorld,
  frame: FrameIn,
  origin: Origin,
  observe: Observer,
  transport = false,
): FlowOutcome {
  const walk = newWalk(world, frame, origin, observe);
  walk.registers.values.set("A", BigInt(origin.metadata));
  const outcome = run(walk, stageAt(walk, [...(transport ? SENT_BY_TRANSPORTS : []), "NIC_TX"], origin.vport));
  return transport ? outcome : loopedBack(walk, outcome);
}

function newWalk(world: FlowWorld, frame: FrameIn, origin: Origin, observe: Observer): Walk {
  const none = {
    tag: null,
    behind: [],
    hops: 0,
    missed: false,
    looped: false,
    loops: false,
    hits: 0,
    copies: [],
    rules: [],
  };
  return { world, origin, observe, frame: { ...frame, parser: world.parser }, registers: noRegisters(), ...none };
}

/** Starts at the first of these stages; the others follow. */
function stageAt(walk: Walk, [stage, ...behind]: readonly FlowTable[], vport: number): Place {
  walk.behind = behind;
  return { stage: stage as FlowTable, vport, from: 0 };
}

function run(walk: Walk, first: Place): FlowOutcome {
  for (let at: Place | FlowOutcome = first; ;) {
    if ("verdict" in at) return at;
    if (walk.hops > MAX_JUMPS) return ended(walk, "drop", "hop_limit");
    at = "stage" in at ? flows(walk, at) : table(walk, at.table);
  }
}

function ended(
  { copies, rules, tag, registers }: Walk,
  verdict: FlowOutcome["verdict"],
  reason: string | null,
  to: Arrival[] = [],
): FlowOutcome {
  const { values, written } = registers;
  const held = Object.fromEntries([...written].map((name) => [name, Number(values.get(name))]));
  return { verdict, reason, tag, registers: held, to, copies, rules };
}

const asks = ({ terms }: Pick<Entry, "terms">, fields: Fields): boolean =>
  terms.every((term) => termMatches(fields, term));

/** By priority, then age of the mask, then age of the entry. */
const order = (a: Entry, b: Entry): number => a.priority - b.priority || a.mask.made - b.mask.made || a.made - b.made;

/** Whether the flows of such a table apply to a frame at all. */
export function comesTo({ type, port }: Pick<Entry, "type" | "port">, fields: Fields, { port: own }: Origin): boolean {
  const roce = fields.has("misc.bth_opcode");
  const { rdma, domain } = FLOW_TABLES[type];
  return (port === null || port === own) && (!rdma || domain !== "nic_rx" || roce);
}

/** One flow table. RDMA types apply to received RoCE frames; transport types apply to one port. */
function flows(walk: Walk, at: { stage: FlowTable; vport: number; from: number }): Place | FlowOutcome {
  const { world, origin, observe, frame, registers } = walk;
  const fields = fieldsOf(frame, registers, origin);
  observe(at, fields, frame);
  const [entry] = world.entries
    .filter((one) => one.type === at.stage && one.vport === at.vport && one.priority >= at.from)
    .filter((one) => comesTo(one, fields, origin) && asks(one, fields))
    .sort(order);
  return entry === undefined ? unwanted(walk, at) : act(walk, at, entry);
}

/** The next stage, or the default action of the domain for a missed frame. */
function unwanted(walk: Walk, { stage, vport }: { stage: FlowTable; vport: number }): Place | FlowOutcome {
  const [next, ...behind] = walk.behind;
  if (next !== undefined) {
    walk.behind = behind;
    return { stage: next, vport, from: 0 };
  }
  switch (FLOW_TABLES[stage].domain) {
    case "nic_rx":
      return ended(walk, "miss", walk.looped ? null : walk.missed ? "default_miss" : "no_rule");
    case "nic_tx":
      return crossed(walk, ["FDB"], PF);
    case "fdb":
      if (walk.origin.vport !== PF) return crossed(walk, RECEIVED, PF);
      walk.loops = true;
      return leaves(walk);
  }
}

/** Leaves by the port that it was sent on. */
function leaves(walk: Walk): FlowOutcome {
  const arrival = { name: `port:${walk.origin.port}`, tag: 0, bytes: walk.frame.bytes };
  return ended(walk, "transmit", null, [arrival]);
}

/**
 * Enters another domain: registers C0 and C1 are kept; the tag of the sender is not kept for the
 * receiver.
 */
function crossed(walk: Walk, stages: readonly FlowTable[], vport: number): Place {
  const { values, written } = walk.registers;
  const passes = (name: string): boolean => name === "C0" || name === "C1";
  walk.registers = {
    values: new Map([...values].filter(([name]) => passes(name))),
    written: new Set([...written].filter(passes)),
  };
  if (stages[0] !== "FDB") walk.tag = null;
  return stageAt(walk, stages, vport);
}

function count({ world, frame }: Walk, name: string): void {
  const { packets, bytes } = world.counters.get(name) ?? { packets: 0n, bytes: 0n };
  world.counters.set(name, { packets: packets + 1n, bytes: bytes + BigInt(frame.wireLength) });
}

const isInward = (step: Step): boolean => step.kind === "reformat" && isDecapsulation(step.reformat);
const isOutward = (step: Step): boolean => step.kind === "reformat" && !isDecapsulation(step.reformat);

/** Maximum number of entries that an outcome lists. */
function list(walk: Walk, ...rules: readonly string[]): void {
  if (walk.hits++ < MAX_RULES) walk.rules.push(...rules);
}

/** Runs the actions of an entry in the device's order. */
function act(walk: Walk, at: { stage: FlowTable; vport: number }, entry: Entry): Place | FlowOutcome {
  list(walk, ...entry.flows.map(({ id }) => id));
  const { domain } = FLOW_TABLES[at.stage];
  const steps = entry.changes.map(({ step }) => step);
  const counts = (): string | null => {
    for (const name of countersOf(entry)) count(walk, name);
    return null;
  };
  const tags = (): string | null => {
    if (entry.tag !== null) walk.tag = entry.tag;
    return null;
  };
  const change = (which: (step: Step) => boolean) => (): string | null => changes(walk, steps.filter(which));
  const received = domain === "nic_rx" || (domain === "fdb" && walk.origin.vport === WIRE);
  const modify = change(({ kind }) => kind === "modify");
  const middle = received ? [modify, counts] : [counts, modify];
  for (const run of [change(isInward), tags, ...middle, change(isOutward)]) {
    const lost = run();
    if (lost !== null) return ended(walk, "drop", lost);
  }
  if (entry.drop) return ended(walk, "drop", "drop_action");
  const end = endOf(entry);
  const { bytes } = walk.frame;
  const arrivals = queuesOf(entry).map((name) => ({ name: `qp:${name}`, tag: walk.tag ?? 0, bytes }));
  if (end === null) {
    if (arrivals.length > 0) return ended(walk, "deliver", null, arrivals);
    return domain === "nic_rx" ? ended(walk, "drop", "no_destination") : handOn(walk, at);
  }
  walk.copies.push(...arrivals);
  if (end.kind === "table") return jump(walk, { table: end.table });
  // SPEC: a frame passed on by an RDMA table did not request a miss.
  walk.missed ||= at.stage === "NIC_RX";
  return handOn(walk, at);
}

/** A flow passes the frame on: its tag is not kept for the next one. */
function handOn(walk: Walk, at: { stage: FlowTable; vport: number }): Place | FlowOutcome {
  if (walk.behind.length > 0) walk.tag = null;
  return unwanted(walk, at);
}

function jump(walk: Walk, to: Place): Place {
  walk.hops++;
  return to;
}

/**
 * Runs a list of header changes and reformats; returns the reason if the frame is lost, else null.
 */
function changes(walk: Walk, steps: readonly Step[]): string | null {
  for (const step of steps) {
    if (step.kind === "modify") walk.frame = modified(walk.frame, step.list, walk.registers);
    if (step.kind !== "reformat") continue;
    const frame = reformatted(walk.frame, step.reformat);
    if (typeof frame === "string") return frame;
    walk.frame = frame;
  }
  return null;
}

/** A flow table of device commands. */
function table(walk: Walk, name: string): Place | FlowOutcome {
  const { world, origin, observe, frame, registers } = walk;
  const here = world.tables.get(name);
  if (!here) throw new Error(`no table ${name}`);
  const fields = fieldsOf(frame, registers, origin);
  observe({ table: name }, fields, frame);
  const entry = here.entries.find((one) => asks(one, fields));
  if (entry === undefined) return here.miss === null ? byDefault(walk, here, "table_miss") : { table: here.miss };
  list(walk, entry.id);
  if (entry.tag !== 0) walk.tag = entry.tag;
  return goTo(walk, here, entry.end);
}

/** The default of a table: the next stage for RDMA types, else that of the domain. */
function byDefault(walk: Walk, { type, vport }: DeviceTable, why: string): Place | FlowOutcome {
  const { domain, rdma } = FLOW_TABLES[type];
  if (rdma) {
    walk.tag = null;
    walk.behind = behindOf(type);
    return unwanted(walk, { stage: type, vport });
  }
  if (domain === "nic_rx") return ended(walk, "drop", why);
  if (domain === "fdb") return crossed(walk, RECEIVED, PF);
  walk.behind = [];
  return unwanted(walk, { stage: "NIC_TX", vport });
}

function goTo(walk: Walk, here: DeviceTable, end: TableEnd): Place | FlowOutcome {
  switch (end.kind) {
    case "allow":
      return byDefault(walk, here, "no_destination");
    case "drop":
      return ended(walk, "drop", "drop_action");
    case "queue": {
      const arrival = { name: `qp:${end.queue}`, tag: walk.tag ?? 0, bytes: walk.frame.bytes };
      return ended(walk, "deliver", null, [arrival]);
    }
    case "table":
      return jump(walk, { table: end.table });
    case "anchor":
      walk.behind = behindOf(end.type);
      return jump(walk, { stage: end.type, vport: here.vport, from: end.priority });
    case "vport":
      if (end.vport !== WIRE) return crossed(walk, RECEIVED, end.vport);
      if (walk.origin.vport === WIRE) return ended(walk, "drop", "wire_to_wire");
      walk.loops = walk.origin.vport === PF && isMulticast(walk.frame);
      return leaves(walk);
  }
}

/** The stages that follow a flow table. */
function behindOf(type: FlowTable): FlowTable[] {
  const way = [RECEIVED, [...SENT_BY_TRANSPORTS, "NIC_TX" as const], ["FDB" as const]].find((one) =>
    one.includes(type),
  );
  return way?.slice(way.indexOf(type) + 1) ?? [];
}

/** The destination MAC of an Ethernet frame, as a number. */
export const macOf = (bytes: Uint8Array): bigint =>
  bytes.subarray(0, 6).reduce((mac, byte) => (mac << 8n) | BigInt(byte), 0n);

/** Whether the group bit of the destination MAC is set. */
const isMulticast = ({ bytes }: Frame): boolean => ((bytes[0] ?? 0) & 1) !== 0;

/**
 * docs/flows.md, Sending: a frame of the PF whose port no rule has chosen, and a multicast frame,
 * returns to the port's own stages. A frame delivered there does not leave, unless its group bit is set. A drop there does
 * not stop it from leaving.
 */
function loopedBack(walk: Walk, sent: FlowOutcome): FlowOutcome {
  const { world, origin, frame, observe } = walk;
  if (!walk.loops) return sent;
  const back = newWalk(world, frame, origin, observe);
  back.looped = true;
  const multicast = isMulticast(frame);
  // RoCE takes only frames for the port itself or for a group.
  const own = multicast || world.macs.get(origin.port) === macOf(frame.bytes);
  const looped = run(back, stageAt(back, own ? RECEIVED : ["NIC_RX"], PF));
  const copies = [...sent.copies, ...looped.copies];
  const rules = [...sent.rules, ...looped.rules];
  if (looped.verdict === "deliver" && !multicast) return { ...looped, copies, rules };
  return { ...sent, to: [...(looped.verdict === "deliver" ? looped.to : []), ...sent.to], copies, rules };
}
