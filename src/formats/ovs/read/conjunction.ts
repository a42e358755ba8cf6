/**
 * Conjunctive flows: a frame that matches one flow of each clause of a conjunction matches the flow that
 * asks for its `conj_id`. They become the flows that they stand for, one for each choice of clauses
 * (ovs-fields(7), conjunctive match fields).
 */
import type { Flow, FlowMatch } from "./steps.js";

/** Flows that a conjunction may stand for. */
const MAX = 10_000;
/** Flows that all conjunctions of a text may stand for. */
const MAX_ALL = 100_000;

type Refuse = (flow: Flow, reason: string) => void;

/** The flows, with those that conjunctions stand for in their place. */
export function withoutConjunctions(flows: Iterable<Flow>, refuse: Refuse): Flow[] {
  const all = [...flows];
  const clauses = clausesOf(all);
  const used = new Set<string>();
  let total = 0;
  const made = all.flatMap((flow): Flow[] => {
    const id = flow.match.conjunction;
    if (id === undefined) return hasClause(flow) ? [] : [flow];
    const key = `${flow.table} ${id}`;
    const found = clauses.get(key);
    if (found === undefined || found.lists.some((list) => list.length === 0)) {
      refuse(flow, `not all clauses of conjunction ${id} are in the text`);
      return [];
    }
    used.add(key);
    if (found.priority !== flow.priority || found.mixed !== null) {
      refuse(flow, found.mixed ?? `the flows of conjunction ${id} have another priority than this one`);
      return [];
    }
    const choices = found.lists.reduce((product, list) => product * list.length, 1);
    total += choices > MAX ? 0 : choices;
    if (choices > MAX || total > MAX_ALL) {
      const most = choices > MAX ? `at most ${MAX}` : `of all conjunctions at most ${MAX_ALL}`;
      refuse(flow, `conjunction ${id} stands for ${choices} flows; ${most} are imported`);
      return [];
    }
    const flows = merged(flow, found.lists);
    if (flows === null) refuse(flow, `it matches more than the clauses of conjunction ${id}`);
    return flows ?? [];
  });
  for (const [key, { lists }] of clauses) {
    if (used.has(key)) continue;
    for (const flow of lists.flat()) refuse(flow, `no flow matches conj_id=${key.slice(key.indexOf(" ") + 1)}`);
  }
  return made;
}

interface Clauses {
  readonly priority: number;
  /** The flows of each clause. */
  readonly lists: Flow[][];
  /** Why they do not belong together. */
  mixed: string | null;
}

function clausesOf(flows: readonly Flow[]): Map<string, Clauses> {
  const found = new Map<string, Clauses>();
  for (const flow of flows) {
    for (const act of flow.acts) {
      if (act.kind !== "conjunction") continue;
      const { id, clause, of } = act;
      const key = `${flow.table} ${id}`;
      const one = found.get(key) ?? {
        priority: flow.priority,
        lists: Array.from({ length: of }, (): Flow[] => []),
        mixed: null,
      };
      found.set(key, one);
      if (one.lists.length !== of) one.mixed = `flows of conjunction ${id} disagree on the number of clauses`;
      if (one.priority !== flow.priority) one.mixed = `the flows of conjunction ${id} have several priorities`;
      one.lists[clause - 1]?.push(flow);
    }
  }
  return found;
}

function hasClause({ acts }: Flow): boolean {
  return acts.some(({ kind }) => kind === "conjunction");
}

/**
 * One flow for each choice of a flow from each clause; null if the flow asks for more than they do. A frame
 * that has the conjunction and not the rest would go to flows that are in no conjunction.
 */
function merged(flow: Flow, lists: readonly (readonly Flow[])[]): Flow[] | null {
  const matches = lists.reduce<readonly (FlowMatch | null)[]>(
    (made, list) => made.flatMap((before) => list.map(({ match }) => (before === null ? null : both(before, match)))),
    [EMPTY],
  );
  const choices = matches.filter((match) => match !== null);
  if (!choices.every((match) => implies(match, flow.match))) return null;
  return choices.map((match, n) => {
    return { ...flow, match, identity: `${flow.identity} ${n}`, name: n === 0 ? flow.name : `${flow.name} ${n + 1}` };
  });
}

const EMPTY: FlowMatch = { inPort: undefined, asks: [], either: [], tunnel: {}, conjunction: undefined };

/** Whether each frame of one match has what another asks. */
export function implies(match: FlowMatch, { inPort, asks, either, tunnel }: FlowMatch): boolean {
  if (either.length > 0 || Object.keys(tunnel).length > 0) return false;
  if (inPort !== undefined && inPort !== match.inPort) return false;
  return asks.every(({ field, value, mask }) =>
    match.asks.some((one) => one.field === field && (one.mask & mask) === mask && (one.value & mask) === value),
  );
}

/** What two matches ask together; null if no frame has both. */
function both(one: FlowMatch, other: FlowMatch): FlowMatch | null {
  if (one.inPort !== undefined && other.inPort !== undefined && one.inPort !== other.inPort) return null;
  const tunnel = { ...one.tunnel };
  for (const [key, asked] of Object.entries(other.tunnel) as [keyof typeof tunnel, { value: bigint; mask: bigint }][]) {
    const before = tunnel[key];
    if (before !== undefined && ((before.value ^ asked.value) & before.mask & asked.mask) !== 0n) return null;
    tunnel[key] = {
      value: (before?.value ?? 0n) | asked.value,
      mask: (before?.mask ?? 0n) | asked.mask,
    };
  }
  return {
    inPort: one.inPort ?? other.inPort,
    asks: [...one.asks, ...other.asks],
    either: [...one.either, ...other.either],
    tunnel,
    conjunction: undefined,
  };
}
