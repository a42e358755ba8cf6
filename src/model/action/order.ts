/**
 * The action orders that ConnectX devices accept in tables that are not root: one automaton for
 * each direction. An action without a step from the current state is refused (rdma-core,
 * providers/mlx5/dr_action.c, next_action_state).
 *
 * The automaton has all the library's kinds of actions; this release makes some of them.
 */
import type { DirectionName } from "../table/directions.js";
import { once } from "../../base/once.js";

/**
 * Kinds of actions as the library distinguishes them: queue pairs and TIRs are one kind, vports and
 * ports another.
 */
export type OrderKind =
  | "drop"
  | "defaultMiss"
  | "qpOrTir"
  | "vport"
  | "destTable"
  | "destRootTable"
  | "destArray"
  | "meter"
  | "sampler"
  | "tag"
  | "counter"
  | "decapL2"
  | "decapL3"
  | "encapL2"
  | "encapL3"
  | "modifyHeader"
  | "popVlan"
  | "pushVlan"
  | "asoFirstHit"
  | "asoFlowMeter"
  | "asoCt";

export const ORDER_STATES = ["start", "nonTerm", "decap", "pop", "modify", "push", "aso", "encap", "term"] as const;
export type OrderState = (typeof ORDER_STATES)[number];

type Kinds = readonly OrderKind[];
/** The kinds that lead from a state to the next states. */
type Steps = Readonly<Partial<Record<OrderState, Kinds>>>;
type Automaton = Readonly<Record<OrderState, Steps>>;

const DECAP: Kinds = ["decapL2", "decapL3"];
const ENCAP: Kinds = ["encapL2", "encapL3"];
const MODIFY: Kinds = ["modifyHeader"];
const POP: Kinds = ["popVlan"];
const PUSH: Kinds = ["pushVlan"];
const ASO: Kinds = ["asoFlowMeter", "asoCt"];
const TERM: Steps = { term: ["counter"] };

/** `ends`: the destinations of the direction; `tag`: actions for frames of a host only. */
function received(ends: Kinds, tag: Kinds, behindPush: Steps): Automaton {
  const stays: Kinds = [...tag, "counter", "asoFirstHit"];
  const begin: Steps = {
    term: ["drop", "defaultMiss", ...ends],
    nonTerm: stays,
    decap: DECAP,
    pop: POP,
    modify: MODIFY,
    push: PUSH,
    aso: ASO,
    encap: ENCAP,
  };
  return {
    start: begin,
    nonTerm: begin,
    decap: { term: ends, decap: stays, pop: POP, modify: MODIFY, push: PUSH, aso: ASO, encap: ENCAP },
    pop: { term: ends, pop: [...stays, ...POP], modify: MODIFY, aso: ASO, encap: ENCAP },
    modify: { term: ends, modify: stays, push: PUSH, aso: ASO, encap: ENCAP },
    push: { term: ends, push: [...stays, ...PUSH], encap: ENCAP, ...behindPush },
    aso: { term: ends.filter((kind) => kind !== "meter"), aso: ["counter", "asoFirstHit", ...ASO] },
    encap: { term: ends, encap: [...tag, "counter"], aso: ["asoFirstHit"] },
    term: TERM,
  };
}

function sent(ends: Kinds, behindAso: Kinds): Automaton {
  const stays: Kinds = ["counter", "asoFirstHit"];
  const begin: Steps = {
    term: ["drop", "defaultMiss", ...ends],
    nonTerm: stays,
    pop: POP,
    modify: MODIFY,
    push: PUSH,
    aso: ASO,
    encap: ENCAP,
  };
  return {
    start: begin,
    nonTerm: begin,
    decap: {},
    pop: { term: ends, pop: [...stays, ...POP], modify: MODIFY, push: PUSH, encap: ENCAP },
    modify: { term: ends, modify: stays, push: PUSH, encap: ENCAP },
    push: { term: ends, push: [...stays, ...PUSH], encap: ENCAP },
    aso: { term: behindAso, aso: [...stays, ...ASO], modify: MODIFY, push: PUSH, encap: ENCAP },
    encap: { term: ends, encap: stays },
    term: TERM,
  };
}

const TABLES: Kinds = ["destTable", "destRootTable"];
const MANY: Kinds = ["sampler", "destArray"];

const automata = once((): Readonly<Record<DirectionName, Automaton>> => ({
  nicReceived: received([...TABLES, "meter", ...MANY, "qpOrTir"], ["tag"], {}),
  nicSent: sent([...TABLES, "meter"], [...TABLES, "drop", "defaultMiss"]),
  fdbReceived: received([...TABLES, "meter", ...MANY, "vport"], [], { aso: ASO }),
  fdbSent: sent([...TABLES, "meter", ...MANY, "vport"], [...TABLES, ...MANY, "vport"]),
}));

/** The state after an action; undefined where the action is not accepted. */
export function nextState(direction: DirectionName, state: OrderState, kind: OrderKind): OrderState | undefined {
  const steps = automata()[direction][state];
  return ORDER_STATES.find((next) => steps[next]?.includes(kind));
}

/** How often a list may contain a kind. */
export function mostOf(kind: OrderKind): number {
  return kind === "popVlan" || kind === "pushVlan" ? 2 : 1;
}
