/** Random scenarios as documents, for comparisons of two of them. */
import { SteeringError } from "../../../../src/index.js";
import { loadScenario, type LoadedScenario } from "../../../../src/scenario/index.js";
import type { Random } from "../../../oracle/generate/random.js";

export interface DocumentRule {
  name: string;
  table: string;
  priority: number;
  match: Record<string, number | string>;
  actions: unknown[];
}

export interface RulesDocument {
  flowsteer: 1;
  queues: { name: string }[];
  counters: { name: string }[];
  tables: { name: string; level: number }[];
  rules: DocumentRule[];
}

/** Levels between two tables of a document: changes put tables there. */
export const LEVELS = 10;
/** Priorities between two rules of a table: changes put rules there. */
export const PRIORITIES = 16;

type Term = (random: Random) => DocumentRule["match"];

const IPV4_PREFIXES = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3", "192.168.0.0/16", "192.168.0.0/17"];

const TERMS: readonly Term[] = [
  (random) => ({ "outer.ipv4_dst": random.pick(IPV4_PREFIXES) }),
  (random) => ({ "outer.ipv4_src": random.pick(IPV4_PREFIXES) }),
  (random) => ({ "outer.tcp_dport": random.pick([80, 443, "0-1023", "80-95", "0x50/0xfff0"]) }),
  (random) => ({ "outer.udp_dport": random.pick([53, 4789, "1024-65535", "0x35/0xff"]) }),
  (random) => ({ "outer.ip_protocol": random.pick(["tcp", "udp", "icmp"]) }),
  (random) => ({ "outer.ip_version": random.pick([4, 6]) }),
  (random) => ({ "outer.first_vid": random.pick([1, 2, "0/0xff0"]) }),
  (random) => ({ "outer.ip_dscp": random.pick([0, 10, "0-7"]) }),
  (random) => ({ "outer.dmac": random.pick(["02:00:00:00:00:01", "01:00:00:00:00:00/01:00:00:00:00:00"]) }),
  (random) => ({ "misc.vxlan_vni": random.pick([7, "0x100/0xffff00"]) }),
];

/** @returns one to three terms about different fields; a rule has at most two ranges */
export function drawMatch(random: Random): DocumentRule["match"] {
  return Object.assign(
    {},
    ...random
      .shuffle(TERMS)
      .slice(0, random.pick([1, 1, 2, 2, 3]))
      .map((term) => term(random)),
  );
}

const CHANGES: readonly ((random: Random) => unknown)[] = [
  (random) => ({ set: "outer.ip_dscp", to: random.between(0, 63) }),
  () => ({ add: "outer.ip_ttl_hoplimit", by: -1 }),
  (random) => ({ set: "outer.dmac", to: `02:00:00:00:00:0${random.between(0, 9)}` }),
  (random) => ({ set: "misc2.metadata_reg_c_0", to: random.between(0, 3) }),
  (random) => ({ set: "outer.udp_dport", to: random.between(1, 9) }),
  () => ({ copy: "outer.ipv4_src", into: "outer.ipv4_dst" }),
];

/** What a rule does before the end: in the order that the device accepts. */
export function drawSteps(random: Random, decapsulates = 0): unknown[] {
  return [
    ...(random.chance(decapsulates) ? [{ reformat: { type: "l2_tunnel_to_l2" } }] : []),
    ...(random.chance(0.1) ? [{ tag: random.between(1, 3) }] : []),
    ...(random.chance(0.15) ? ["pop_vlan"] : []),
    ...(random.chance(0.3) ? [{ modify: [random.pick(CHANGES)(random)] }] : []),
    ...(random.chance(0.2) ? [{ count: random.pick(["c1", "c2"]) }] : []),
  ];
}

/** What can be drawn besides: shares of rules. */
export interface Shares {
  /** Those that remove a tunnel. */
  readonly decapsulates?: number;
  /** Of those with a later table the ones that copy their frames to a queue which gets nothing else. */
  readonly copies?: number;
  /** Of those with a later table the ones that split their frames, which may reach a queue twice, in any order. */
  readonly splits?: number;
}

function drawEnd(random: Random, later: readonly string[], { copies = 0, splits = 0 }: Shares): unknown {
  if (later.length > 0 && copies > 0 && random.chance(copies))
    return { array: random.shuffle([{ table: random.pick(later) }, { queue: "copies" }]) };
  if (later.length > 0 && splits > 0 && random.chance(splits)) {
    const others = [...later.map((table) => ({ table })), ...["a", "b", "c"].map((queue) => ({ queue }))];
    const members = [{ table: random.pick(later) }, ...random.shuffle(others).slice(0, random.between(1, 2))];
    return { array: random.shuffle(members) };
  }
  if (later.length > 0 && random.chance(0.35)) return { table: random.pick(later) };
  return random.chance(0.25) ? "drop" : { queue: random.pick(["a", "b", "c"]) };
}

/** @param size of its tables */
export function drawDocument(random: Random, size: number, shares: Shares = {}): RulesDocument {
  const tables = Array.from({ length: random.between(1, 4) }, (_, n) => ({ name: `t${n}`, level: LEVELS * n }));
  const rules = tables.flatMap(({ name: table }, n) => {
    const later = tables.slice(n + 1).map(({ name }) => name);
    const count = random.between(2, size);
    const hasLast = random.chance(0.6);
    return Array.from({ length: count }, (_, i): DocumentRule => {
      const actions = [...drawSteps(random, shares.decapsulates), drawEnd(random, later, shares)];
      const match = hasLast && i === count - 1 ? {} : drawMatch(random);
      return { name: `${table}r${i}`, table, priority: PRIORITIES * (i + 1), match, actions };
    });
  });
  return {
    flowsteer: 1,
    queues: ["a", "b", "c", "copies"].map((name) => ({ name })),
    counters: ["c1", "c2"].map((name) => ({ name })),
    tables,
    rules,
  };
}

/** Null for a document that the model refuses. */
export async function loaded(document: RulesDocument): Promise<LoadedScenario | null> {
  try {
    return await loadScenario(document);
  } catch (error) {
    if (error instanceof SteeringError) return null;
    throw error;
  }
}
