// Reference of flows, part 2: the flows of a device, and how they merge into entries. Written from
// the manual page ibv_create_flow(3) and docs/flows.md. The path of a frame is in walk.ts.

import { type FlowSpec, SPEC, merged, specsAreValid, termsOf } from "./spec.js";
import { type Range, type Term } from "../walk/match.js";
import { type Action, type Counter, type Table } from "../walk/walk.js";

/** enum ibv_flow_attr_type, enum ibv_flow_flags. */
export const TYPE = { NORMAL: 0, ALL_DEFAULT: 1, MC_DEFAULT: 2, SNIFFER: 3 } as const;
export const FLAG = { ALLOW_LOOP_BACK: 1, DONT_TRAP: 2, EGRESS: 4 } as const;

/** struct ibv_flow_attr */
export interface FlowAttr {
  type: number;
  priority: number;
  port: number;
  flags: number;
  specs: readonly FlowSpec[];
}

export interface Flow extends FlowAttr {
  id: string;
  qp: string;
}

/**
 * The age of entries with one priority, one DONT_TRAP bit and one mask, on any port, is that of the
 * first of them.
 */
export interface Mask {
  name: string;
  made: number;
  entries: number;
}

export type Stage = "sniffer" | "normal" | "egress" | "default";

/** Identical flows share one entry. */
export interface Entry {
  stage: Stage;
  port: number;
  priority: number;
  dontTrap: boolean;
  terms: Term[];
  mask: Mask;
  made: number;
  drop: boolean;
  /** SPEC: the tag of the first flow; later flows have the same tag or none. */
  tag: number | null;
  flows: Flow[];
}

/**
 * A rule of a DR root table. `matcher` and `made` are the creation times of its matcher and of the
 * rule, on the scale of `Mask.made`.
 */
export interface RootRule {
  id: string;
  priority: number;
  matcher: number;
  made: number;
  terms: Term[];
  ranges: Range[];
  actions: Action[];
}

/** A rule of a host application; `made` is its creation time. */
export interface HostRule {
  id: string;
  application: "ethtool" | "tc" | "nic";
  priority: number;
  made: number;
  terms: Term[];
  actions: Action[];
}

export interface FlowState {
  ports: number;
  flows: Map<string, Flow>;
  entries: Entry[];
  masks: Map<string, Mask>;
  rootRules: RootRule[];
  hostRules: HostRule[];
  /** DR tables that are not root, by name. */
  tables: Map<string, Table>;
  counters: Map<string, Counter>;
  /** The counter that gives creation times. */
  made: number;
}

export function newState(ports: number): FlowState {
  const none = { rootRules: [], hostRules: [], tables: new Map(), counters: new Map() };
  return { ports, flows: new Map(), entries: [], masks: new Map(), made: 0, ...none };
}

/** Limits of QPs and of counters objects of one entry. */
const MAX_QPS = 60;
const MAX_COUNTERS = 60;

export type Refused = "EINVAL" | "EEXIST" | "ENOMEM";

/** ibv_create_flow under the profile `manual`: null, or the error. */
export function createFlow(state: FlowState, flow: Flow): Refused | null {
  if (!isValid(state, flow)) return "EINVAL";
  const wanted = entriesOf(flow);
  const joined = wanted.map((entry) => state.entries.find((one) => identity(one) === identity(entry)));
  for (const [i, entry] of wanted.entries()) if (joined[i] && conflict(joined[i], entry)) return "EEXIST";
  if (joined.some((entry) => entry && delivers(entry) && qpsOf([...entry.flows, flow]).length > MAX_QPS)) {
    return "ENOMEM";
  }
  if (joined.some((entry) => entry && countersOf([...entry.flows, flow]).length > MAX_COUNTERS)) return "ENOMEM";
  for (const [i, entry] of wanted.entries()) {
    // The two entries of ALL_DEFAULT start with one list.
    if (joined[i]) joined[i].flows = [...joined[i].flows, flow];
    else state.entries.push({ ...entry, mask: enter(state, entry), made: state.made++ });
  }
  state.flows.set(flow.id, flow);
  return null;
}

/** ibv_destroy_flow. */
export function destroyFlow(state: FlowState, id: string): void {
  const flow = state.flows.get(id);
  if (!flow) throw new Error(`no flow ${id}`);
  state.flows.delete(id);
  for (const entry of state.entries) entry.flows = entry.flows.filter((one) => one !== flow);
  for (const { mask } of state.entries.filter(({ flows }) => flows.length === 0)) {
    if (--mask.entries === 0) state.masks.delete(mask.name);
  }
  state.entries = state.entries.filter(({ flows }) => flows.length > 0);
}

/**
 * ibv_attach_counters_point_flow with a flow: the flow counts on the object from now on, if it did
 * not already.
 */
export function attachCounters(state: FlowState, id: string, counters: string): Refused | null {
  const flow = state.flows.get(id);
  if (!flow) throw new Error(`no flow ${id}`);
  const own = countersOf([flow]);
  if (own.includes(counters)) return null;
  if (own.length > 0) return "EINVAL";
  const more = { ...flow, specs: [...flow.specs, { type: SPEC.ACTION_COUNT, counters }] };
  const entries = state.entries.filter(({ flows }) => flows.includes(flow));
  if (entries.some(({ flows }) => countersOf([...flows, more]).length > MAX_COUNTERS)) return "ENOMEM";
  flow.specs = more.specs;
  return null;
}

function isValid(state: FlowState, { type, port, flags, specs }: FlowAttr): boolean {
  if (!(Object.values(TYPE) as number[]).includes(type) || flags > 7) return false;
  if (type !== TYPE.NORMAL && (flags & (FLAG.DONT_TRAP | FLAG.EGRESS)) !== 0) return false;
  return port >= 1 && port <= state.ports && specsAreValid(specs);
}

/** The group bit of the destination MAC: set in multicast frames. */
const GROUP_BIT = 1n << 40n;
const group = (value: bigint): Term[] => [{ field: "outer.dmac", mask: GROUP_BIT, value }];

/** The entries of a flow alone: ALL_DEFAULT has two. */
function entriesOf(flow: Flow): Entry[] {
  const { type, port, flags, specs } = flow;
  const tag = specs.find((spec) => spec.type === SPEC.ACTION_TAG)?.tag_id ?? null;
  const drop = specs.some((spec) => spec.type === SPEC.ACTION_DROP);
  const mask: Mask = { name: "", made: 0, entries: 0 };
  // Specs and priority are ignored unless the type is NORMAL.
  const one = { port, priority: 0, dontTrap: false, mask, made: 0, drop, tag, flows: [flow] };
  switch (type) {
    case TYPE.SNIFFER:
      return [{ ...one, stage: "sniffer", terms: [] }];
    case TYPE.MC_DEFAULT:
      return [{ ...one, stage: "default", terms: group(GROUP_BIT) }];
    case TYPE.ALL_DEFAULT:
      return [group(GROUP_BIT), group(0n)].map((terms) => ({ ...one, stage: "default", terms }));
    default: {
      const stage = (flags & FLAG.EGRESS) !== 0 ? "egress" : "normal";
      const dontTrap = (flags & FLAG.DONT_TRAP) !== 0;
      return [{ ...one, stage, priority: flow.priority, dontTrap, terms: merged(termsOf(specs)) ?? [] }];
    }
  }
}

const hex = (value: bigint): string => value.toString(16);

/** The common part of identical flows. */
function identity(entry: Entry): string {
  const values = entry.terms.map(({ value }) => hex(value));
  return [entry.port, maskName(entry), ...values].join(" ");
}

function maskName({ stage, priority, dontTrap, terms }: Entry): string {
  return [stage, priority, dontTrap, ...terms.map(({ field, mask }) => `${field}/${hex(mask)}`)].join(" ");
}

function enter(state: FlowState, entry: Entry): Mask {
  const name = maskName(entry);
  const mask = state.masks.get(name) ?? { name, made: state.made++, entries: 0 };
  mask.entries++;
  state.masks.set(name, mask);
  return mask;
}

/** A conflict: drop against delivery, or a tag other than that of the entry. */
function conflict(entry: Entry, added: Entry): boolean {
  return entry.drop !== added.drop || (added.tag !== null && added.tag !== (entry.tag ?? 0));
}

export const delivers = ({ drop, stage }: Entry): boolean => !drop && stage !== "egress";

/** Distinct QPs. */
export function qpsOf(flows: readonly Flow[]): string[] {
  return [...new Set(flows.map(({ qp }) => qp))];
}

/** Distinct counters objects. */
export function countersOf(flows: readonly Flow[]): string[] {
  const named = flows.flatMap(({ specs }) => specs.flatMap(({ counters }) => counters ?? []));
  return [...new Set(named)];
}
