/** The checks of one action of a rule, by name. A profile says which of them a table makes, and in which order. */
import type { Action, ActionKind } from "./action.js";
import { mostOf, nextState, type OrderKind, type OrderState } from "./order.js";
import { connectionMisfit, levelMisfit, meaningMisfit, ownerMisfit, tableMisfit, type Misfit } from "./placement.js";
import { AsoAction } from "./asoActions.js";
import type { ActionCheck } from "../profile/profile.js";
import type { Table } from "../table/domain.js";
import type { Direction } from "../table/directions.js";

const ORDER_KINDS: Readonly<Record<Exclude<ActionKind, "packet_reformat">, OrderKind>> = {
  drop: "drop",
  default_miss: "defaultMiss",
  tag: "tag",
  dest_ibv_qp: "qpOrTir",
  dest_devx_tir: "qpOrTir",
  dest_table: "destTable",
  dest_root_table: "destRootTable",
  dest_vport: "vport",
  dest_ib_port: "vport",
  dest_array: "destArray",
  modify_header: "modifyHeader",
  flow_counter: "counter",
  pop_vlan: "popVlan",
  push_vlan: "pushVlan",
  flow_meter: "meter",
  flow_sampler: "sampler",
  aso_first_hit: "asoFirstHit",
  aso_flow_meter: "asoFlowMeter",
  aso_ct: "asoCt",
};
/** By type of reformat. */
const REFORMATS: readonly OrderKind[] = ["decapL2", "encapL2", "decapL3", "encapL3"];

const ROOT_KINDS: ReadonlySet<ActionKind> = new Set<ActionKind>([
  "drop",
  "default_miss",
  "tag",
  "dest_ibv_qp",
  "dest_devx_tir",
  "dest_table",
  "dest_array",
  "flow_counter",
  "packet_reformat",
  "modify_header",
]);

/** An action in its list. */
export interface Place {
  readonly table: Table;
  readonly direction: Direction;
  readonly actions: readonly Action[];
  /** Of the action. */
  index: number;
  /** The state of the automaton after the actions before it. */
  state: OrderState;
}

/** Checks one action in its list. */
export type ActionRule = (action: Action, place: Place) => Misfit | undefined;

export const ACTION_CHECKS: Readonly<Record<ActionCheck, ActionRule>> = {
  // MODEL: the library does not check the owner of modify header and reformat actions.
  owner: (action, { table: { domain } }) => ownerMisfit(action, domain),
  connectionInUse: (action, { table: { domain } }) => connectionMisfit(action, domain),
  hostOnly: (action, { table: { domain } }) => meaningMisfit(action, domain),

  otherLevel: (action, { table: { isRoot } }) => levelMisfit(action, isRoot),

  // The decapsulation of an L2 tunnel has no record that belongs to a level.
  otherLevelUnlessDecap: (action, { table: { isRoot } }) =>
    orderKindOf(action) === "decapL2" ? undefined : levelMisfit(action, isRoot),

  nextTable: (action, { table }) => tableMisfit(action, table),

  otherContext: (action, { table }) => {
    if (!(action instanceof AsoAction) || action.object.kind === "connection") return undefined;
    if (action.object.context === table.domain.context) return undefined;
    return { reason: "other_device", hint: "it was made on another context" };
  },

  secondEnd: (action, place) => {
    const first = action.isTerminal ? firstBefore(place, ({ isTerminal }) => isTerminal) : undefined;
    return first === undefined ? undefined : inList(`${first.kind} already ends the rule`);
  },

  secondTag: (action, place) =>
    action.kind === "tag" && firstBefore(place, ({ kind }) => kind === "tag") !== undefined
      ? inList("a frame carries one tag")
      : undefined,

  notInRoot: ({ kind }) =>
    ROOT_KINDS.has(kind)
      ? undefined
      : { reason: "unsupported", hint: `in a root table: ${[...ROOT_KINDS].join(", ")}` },

  secondEndOrCounter: (action, place) => {
    const { isTerminal, kind } = action;
    if (isTerminal) return isFirst(place, (other) => other.isTerminal) ? undefined : repeated("one action ends a rule");
    if (kind !== "flow_counter" || isFirst(place, (other) => other.kind === kind)) return undefined;
    return repeated("once");
  },

  secondOfKind: (action, place) => {
    if (action.isTerminal) return undefined;
    const kind = orderKindOf(action);
    return isFirst(place, (other) => !other.isTerminal && orderKindOf(other) === kind) ? undefined : repeated("once");
  },

  missInFdb: ({ kind }, { table: { domain } }) =>
    domain.type === "fdb" && kind === "default_miss"
      ? { reason: "bad_action_list", hint: "a root table of the FDB has none" }
      : undefined,

  thirdPush: (action, place) =>
    orderKindOf(action) === "pushVlan" && countBefore(place, "pushVlan") === 2 ? repeated("twice") : undefined,

  oneWay: ({ step, kind }, { direction: { receives }, table }) => {
    const missing = receives ? step === "push" || step === "encap" : step === "pop";
    if (!missing) return undefined;
    const { name } = table.device.profile;
    return {
      reason: "unsupported",
      hint: `${name} has no ${kind} in the ${receives ? "receive" : "transmit"} direction`,
    };
  },

  repeated: (action, place) => {
    const kind = orderKindOf(action);
    if (countBefore(place, kind) < mostOf(kind)) return undefined;
    return repeated(mostOf(kind) === 1 ? "once" : "twice");
  },

  // Moves the automaton on, so it is the last check of its step.
  order: (action, place) => {
    const next = nextState(place.direction.name, place.state, orderKindOf(action));
    if (next === undefined) return orderMisfit(place.direction, place.actions[place.index - 1]);
    place.state = next;
    return undefined;
  },
};

function orderKindOf({ kind, reformatType }: Action): OrderKind {
  return kind === "packet_reformat" ? (REFORMATS[reformatType ?? 0] as OrderKind) : ORDER_KINDS[kind];
}

/** The first action before this one for which `is` holds. */
function firstBefore({ actions, index }: Place, is: (action: Action) => boolean): Action | undefined {
  for (let i = 0; i < index; i++) {
    const action = actions[i] as Action;
    if (is(action)) return action;
  }
  return undefined;
}

function isFirst(place: Place, is: (action: Action) => boolean): boolean {
  return firstBefore(place, is) === undefined;
}

function countBefore({ actions, index }: Place, kind: OrderKind): number {
  let count = 0;
  for (let i = 0; i < index; i++) if (orderKindOf(actions[i] as Action) === kind) count++;
  return count;
}

function repeated(hint: string): Misfit {
  return { reason: "action_repeated", hint };
}

/** `cite` in the words of the page. */
function inList(hint: string): Misfit {
  return { reason: "bad_action_list", hint, cite: "mlx5dv_dr: Actions" };
}

const DIRECTION_TEXTS: Readonly<Record<Direction["name"], string>> = {
  nicReceived: "received",
  nicSent: "sent",
  fdbReceived: "from the wire",
  fdbSent: "from functions (a matcher that masks source_port is for one direction)",
};

function orderMisfit({ name }: Direction, before: Action | undefined): Misfit {
  const where = before === undefined ? "at the beginning" : `after ${before.kind}`;
  return { reason: "action_order", hint: `${where}, for frames ${DIRECTION_TEXTS[name]}` };
}
