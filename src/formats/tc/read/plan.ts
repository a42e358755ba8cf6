/** Filters as tables and rules of the eSwitch: a table for each chain, and more where the order of actions asks for it. */
import { madeName } from "../../../drivers/madeRules.js";
import type { Draft, Endpoint } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { attempt } from "../../text/refusal.js";
import { usesContinue } from "./actions/actions.js";
import { TUNNEL_FIELDS, type Devices, type NetDevice, type Tunnel } from "./devices.js";
import { tableOf, type Filter } from "./filter.js";
import { RuleWriter, type Ways } from "./writer.js";

type Match = Readonly<Record<string, string | number>>;

/** The last priority of a table: what no filter took. */
const LAST = 65535;
const TUNNELS = "tunnels";
const ROOT_PRIORITY = 1;

/** The tables of a chain: more than one where filters send frames on to those after them. */
interface Segment {
  readonly table: string;
  readonly level: number;
  readonly filters: readonly Filter[];
}

export class Plan {
  readonly #writer: RuleWriter;
  #toTunnels = false;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly devices: Devices,
  ) {
    this.#writer = new RuleWriter(draft, findings);
  }

  build(filters: ReadonlyMap<string, readonly Filter[]>, blocks: ReadonlyMap<string, readonly string[]>): void {
    const owners = [...filters].filter(([, list]) => list.length > 0);
    if (owners.length === 0) return;
    this.#neededFor(owners.flatMap(([, list]) => list));
    const root = this.draft.root("fdb");
    const tunnels = owners.flatMap(([owner, list]) => {
      return this.#membersOf(owner, blocks).flatMap((one) => ("tunnel" in one ? [{ ...one, owner, list }] : []));
    });
    this.#toTunnels = tunnels.length > 0;
    if (this.#toTunnels) this.draft.once("tables", { name: TUNNELS, domain: "fdb", level: 1 });
    for (const { name, tunnel, owner, list } of tunnels) {
      this.#neededFor(list);
      this.#enterTunnel(name, tunnel, owner);
    }
    for (const [owner, list] of owners) {
      this.#neededFor(list);
      const members = this.#membersOf(owner, blocks);
      this.#chains(owner, list, members);
      this.#neededFor(list);
      for (const one of members) if ("endpoint" in one) this.#enterPort(root, one.name, one.endpoint, owner);
    }
    if (!this.#toTunnels) return;
    const match = { "misc.source_port": "uplink" };
    this.#neededFor(owners.flatMap(([, list]) => list));
    this.draft.push("rules", {
      name: this.draft.freeName("rules", madeName("uplink")),
      table: root,
      priority: ROOT_PRIORITY + 1,
      match,
      actions: [{ table: TUNNELS }],
    });
  }

  /** What is added for several filters is needed for the first of them. */
  #neededFor([first]: readonly Filter[]): void {
    if (first !== undefined) this.draft.neededFor(first.origin);
  }

  #membersOf(owner: string, blocks: ReadonlyMap<string, readonly string[]>): NetDevice[] {
    const place = { line: 1, column: 1 };
    const names = owner.startsWith("block ") ? (blocks.get(owner) ?? []) : [owner];
    return names.map((text) => this.devices.of({ text, place }));
  }

  #enterPort(root: string, name: string, endpoint: Endpoint, owner: string): void {
    const match = sourceOf(endpoint, this.draft.ports);
    const actions = [{ table: tableOf(owner, 0) }];
    this.draft.push("rules", {
      name: this.draft.freeName("rules", madeName(`from ${name}`)),
      table: root,
      priority: ROOT_PRIORITY,
      match,
      actions,
    });
  }

  /** Frames of a tunnel that no filter of the uplink took. */
  #enterTunnel(name: string, tunnel: Tunnel, owner: string): void {
    // Devices of other ports have other frames.
    const port = tunnel.kind === "vxlan" && tunnel.isAssumed !== true && this.draft.vxlanPorts.length > 1;
    const match: Match =
      tunnel.kind === "gre" && tunnel.key === undefined
        ? { "misc.gre_protocol": 0x6558 }
        : { ...(port ? { "outer.udp_dport": tunnel.port } : {}), [TUNNEL_FIELDS[tunnel.kind]]: tunnel.key ?? "any" };
    this.draft.push("rules", {
      name: this.draft.freeName("rules", madeName(`to ${name}`)),
      table: TUNNELS,
      match,
      actions: [{ table: tableOf(owner, 0) }],
    });
  }

  #chains(owner: string, list: readonly Filter[], members: readonly NetDevice[]): void {
    const numbers = new Set([0]);
    for (const { chain, steps } of list) {
      numbers.add(chain);
      for (const target of gotos(steps)) numbers.add(target);
    }
    const chains = new Map<number, Filter[]>();
    for (const filter of list) {
      const own = chains.get(filter.chain);
      if (own === undefined) chains.set(filter.chain, [filter]);
      else own.push(filter);
    }
    const onTunnel = members.some((one) => "tunnel" in one);
    const fromWire = members.some((one) => "endpoint" in one && "port" in one.endpoint);
    const pass = fromWire && this.#toTunnels ? TUNNELS : undefined;
    [...numbers]
      .sort((a, b) => a - b)
      .forEach((chain, rank) => {
        const own = (chains.get(chain) ?? []).toSorted((a, b) => a.prio - b.prio);
        const segments = segmentsOf(tableOf(owner, chain), rank * LEVELS + 1, own);
        this.#segments(segments, { owner, pass, onTunnel, next: undefined });
      });
  }

  #segments(segments: readonly Segment[], ways: Ways): void {
    for (const { table, level, filters } of segments) {
      this.#neededFor(filters);
      this.draft.push("tables", { name: table, domain: "fdb", level });
    }
    segments.forEach(({ table, level, filters }, n) => {
      const next = segments[n + 1]?.table;
      const ranks = ranksOf(filters);
      for (const filter of filters) this.#filter(filter, table, level, ranks.get(filter) as number, { ...ways, next });
      const otherwise = next ?? ways.pass;
      if (otherwise === undefined) return;
      this.#neededFor(filters);
      const name = this.draft.freeName("rules", madeName(`${table}: no filter`));
      this.draft.push("rules", { name, table, priority: LAST, actions: [{ table: otherwise }] });
    });
  }

  #filter(filter: Filter, table: string, level: number, priority: number, ways: Ways): void {
    this.findings.file = filter.origin.file;
    this.draft.origin = filter.origin;
    const chain = filter.chain === 0 ? "" : ` chain ${filter.chain}`;
    const handle = filter.handle === undefined ? "" : ` handle 0x${filter.handle.toString(16)}`;
    const name = this.#writer.nameOf(`${filter.owner}${chain} prio ${filter.prio}${handle}`);
    if (priority >= LAST) {
      this.findings.refuse(filter.place, filter.origin.text, `a table has ${LAST} priorities for rules`, name);
      return;
    }
    attempt(
      () => this.#writer.write({ table, level, priority, name, match: filter.match.terms }, filter, ways),
      ({ word, reason }) => this.findings.refuse(word.place, word.text, reason, name),
    );
  }
}

/** Levels between the tables of two chains, for the tables that filters add. */
const LEVELS = 64;

/** What a rule asks of the source of frames. */
export function sourceOf(endpoint: Endpoint, ports: number): Match {
  if ("vport" in endpoint) return { "misc.source_port": endpoint.vport };
  return { "misc.source_port": "uplink", ...(ports === 1 ? {} : { "ext.port": endpoint.port }) };
}

function* gotos(steps: Filter["steps"]): Generator<number> {
  for (const step of steps) {
    const verdicts = step.kind === "end" ? [step.verdict] : step.kind === "police" ? [step.exceed, step.conform] : [];
    for (const verdict of verdicts) if (verdict.kind === "goto") yield verdict.chain;
  }
}

/** Parts the filters of a chain after each priority of which one continues. */
function segmentsOf(table: string, level: number, filters: readonly Filter[]): Segment[] {
  const segments: { table: string; level: number; filters: Filter[] }[] = [{ table, level, filters: [] }];
  let cut = false;
  let prio = -1;
  for (const filter of filters) {
    if (cut && filter.prio !== prio) {
      segments.push({ table: `${table} after prio ${prio}`, level: level + segments.length, filters: [] });
      cut = false;
    }
    segments.at(-1)?.filters.push(filter);
    prio = filter.prio;
    cut ||= usesContinue(filter.steps);
  }
  return segments;
}

/**
 * The priority of each filter in its table: that of tc, unless filters of one priority have several
 * masks. Of these the mask that came first is looked at first.
 */
function ranksOf(filters: readonly Filter[]): Map<Filter, number> {
  if (filters.length > LAST && new Set(filters.map(({ prio }) => prio)).size > LAST) return sharedRanks(filters);
  const masks = new Map<string, number>();
  const ranks = new Map<Filter, number>();
  for (const filter of filters) {
    const key = `${filter.prio} ${filter.match.maskKey}`;
    const rank = masks.get(key) ?? masks.size;
    masks.set(key, rank);
    ranks.set(filter, rank);
  }
  const prios = new Set(filters.map(({ prio }) => prio));
  if (masks.size === prios.size && !prios.has(LAST)) for (const filter of filters) ranks.set(filter, filter.prio);
  return ranks;
}

/**
 * Of a chain of nftables with more rules than a table has priorities. Neighbours that compare the same bits with
 * different values match different frames: they share one.
 */
function sharedRanks(filters: readonly Filter[]): Map<Filter, number> {
  const ranks = new Map<Filter, number>();
  const values = new Set<string>();
  let mask: string | undefined;
  let rank = -1;
  for (const filter of filters) {
    const { terms, maskKey } = filter.match;
    const value = JSON.stringify(terms);
    if (maskKey !== mask || values.has(value)) {
      rank++;
      mask = maskKey;
      values.clear();
    }
    values.add(value);
    ranks.set(filter, rank);
  }
  return ranks;
}
