/** The flows of one bridge, or of several that patch ports connect, as rules. */
import { ALL_ESTABLISHED } from "../../../text/connection.js";
import type { Draft } from "../../../reading/draft.js";
import type { Findings } from "../../../reading/findings.js";
import { attempt } from "../../../text/refusal.js";
import { withoutConjunctions } from "../conjunction.js";
import { tracks, withoutTracking } from "../connection.js";
import type { Meter } from "../meters.js";
import { Pipeline } from "../pipeline/pipeline.js";
import type { Group } from "../pipeline/state.js";
import { Places } from "../places.js";
import type { Act, Flow } from "../steps.js";
import type { NamedOptions, Neighbors } from "../tunnels.js";
import type { Interfaces } from "./interfaces.js";
import { Ports } from "./ports.js";
import { Scope, tableTitle, type Contents } from "./scope.js";

export interface Around {
  readonly draft: Draft;
  readonly findings: Findings;
  readonly interfaces: Interfaces;
  readonly neighbors: Neighbors;
  readonly options: NamedOptions;
}

/** @param bridges those that have flows, by name; "" if the text names none */
export function steer(bridges: readonly (readonly [string, Contents])[], around: Around): void {
  const { draft, findings, interfaces } = around;
  const [[name, contents]] = bridges as [readonly [string, Contents]];
  const home = name === "" ? unnamed(contents, around) : name;
  const ports = new Ports(draft, interfaces, {
    home,
    all: new Set(bridges.flatMap(([bridge]) => (bridge === "" ? (home ?? []) : bridge))),
  });
  const groups = new Map<string, Group>(contents.groups);
  const meters = new Map<string, Meter>(contents.meters);
  const flows = [...contents.flows.values()];
  for (const [bridge, others] of bridges.slice(1)) {
    const scope = new Scope(bridge, ports);
    for (const flow of others.flows.values()) flows.push(scope.flow(flow));
    for (const [id, group] of others.groups) groups.set(scope.name(id), scope.group(group));
    for (const [id, meter] of others.meters) meters.set(scope.name(id), meter);
  }
  const whole = wholeOf(flows, findings);
  for (const flow of whole) usePorts(flow, groups, ports);
  ports.choose((place, text, reason) => findings.assume(place, text, reason));
  const tables = tablesOf(whole);
  if (tables.size === 0) return;
  const firsts = new Map(
    bridges.flatMap(([bridge]) => {
      const first = firstOf(bridge === name ? "" : `${bridge}:`, tables, findings);
      return first === undefined ? [] : [[bridge === name ? undefined : bridge, first] as const];
    }),
  );
  const buckets = [...groups.values()].flatMap((group) => group.buckets);
  const places = new Places(draft, whole, buckets);
  const { neighbors, options } = around;
  new Pipeline(draft, findings, ports, places, { tables, groups, meters, neighbors, options, firsts }).run();
}

/** The bridge of flows of which the text does not say it: the one that ports are added to. */
function unnamed({ flows }: Contents, { interfaces, findings }: Around): string | undefined {
  const [first, ...others] = new Set(interfaces.all.flatMap(({ bridge }) => bridge ?? []));
  const [flow] = flows.values();
  if (first !== undefined && others.length > 0 && flow !== undefined)
    findings.assume(flow.place, flow.text, `the text does not name the bridge of the flows; assumed: ${first}`);
  return first;
}

/** The flows as the pipeline takes them: without conjunctions, and without states where nothing is tracked. */
function wholeOf(all: readonly Flow[], findings: Findings): Flow[] {
  const refuse = ({ place, text }: Flow, reason: string): void => findings.refuse(place, text, reason);
  const flows = withoutConjunctions(all, refuse);
  const tracking = flows.find(({ acts }) => tracks(acts));
  if (tracking !== undefined) {
    const { place, text } = tracking;
    findings.assume(place, text, ALL_ESTABLISHED);
    return flows;
  }
  return flows.flatMap((flow) =>
    attempt(
      () => [withoutTracking(flow)],
      ({ reason }) => {
        refuse(flow, reason);
        return [];
      },
    ),
  );
}

function tablesOf(flows: readonly Flow[]): Map<string, Flow[]> {
  const tables = new Map<string, Flow[]>();
  for (const flow of flows) {
    const list = tables.get(flow.table) ?? [];
    list.push(flow);
    tables.set(flow.table, list);
  }
  return tables;
}

/** The table of a bridge that frames reach first. @param prefix what the names of its tables begin with */
function firstOf(prefix: string, tables: ReadonlyMap<string, readonly Flow[]>, findings: Findings): string | undefined {
  const own = [...tables.keys()].filter((key) => (prefix === "" ? !key.includes(":") : key.startsWith(prefix)));
  const zero = `${prefix}0`;
  if (own.includes(zero)) return zero;
  const [first] = own.sort((a, b) => Number(a.slice(prefix.length)) - Number(b.slice(prefix.length)));
  const [flow] = first === undefined ? [] : (tables.get(first) ?? []);
  if (first === undefined || flow === undefined) return undefined;
  const reason = `the text has no ${tableTitle(zero)}: all frames reach ${tableTitle(first)}`;
  findings.assume(flow.place, flow.text, reason);
  return first;
}

function usePorts({ match, acts, place }: Flow, groups: ReadonlyMap<string, Group>, ports: Ports): void {
  if (match.inPort !== undefined) ports.use(match.inPort, place);
  useActs(acts, groups, ports, new Set());
}

/** @param seen groups whose buckets are used already */
function useActs(acts: readonly Act[], groups: ReadonlyMap<string, Group>, ports: Ports, seen: Set<string>): void {
  for (const one of acts) {
    if (one.kind === "output") ports.use(one.port, one.place, one.bare);
    else if (one.kind === "encap") ports.use(one.port, one.place);
    else if (one.kind === "tunnel_pop") ports.pops(one.port, one.place);
    else if (one.kind === "write") useActs(one.acts, groups, ports, seen);
    else if (one.kind === "clones") for (const list of one.lists) useActs(list, groups, ports, seen);
    else if (one.kind === "group" && !seen.has(one.id)) {
      seen.add(one.id);
      for (const list of groups.get(one.id)?.buckets ?? []) useActs(list, groups, ports, seen);
    }
  }
}
