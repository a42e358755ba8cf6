/**
 * Lists of actions as the mlx5 library refuses them (profiles `connectx5` to `connectx8`). In tables that are not root: for
 * each side, and each action in turn, its own check, how often it may stand, the automaton of orders (dr_action.c,
 * dr_actions_build_ste_arr). In root tables: what a rule of the kernel can have.
 */
import { refuse } from "../../errors.js";
import type { Action, ActionKind } from "./action.js";
import { mostOf, nextState, type OrderKind, type OrderState } from "./order.js";
import { levelMisfit, meaningMisfit, ownerMisfit, tableMisfit, type Misfit } from "./placement.js";
import { AsoAction } from "./asoActions.js";
import type { Domain, Table } from "../table/domain.js";
import type { Matcher } from "../table/matcher.js";
import type { Side } from "../table/directions.js";

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

/** Refuses a list that the rules of a domain cannot have. @throws EINVAL, ENOTSUP, EOPNOTSUPP */
export function checkDriverList(call: string, table: Table, sides: readonly Side[], actions: readonly Action[]): void {
  for (const side of sides) {
    const counts = new Map<OrderKind, number>();
    let state: OrderState = "start";
    for (const [i, action] of actions.entries()) {
      const kind = orderKindOf(action);
      const before = counts.get(kind) ?? 0;
      const misfit = ownMisfit(action, kind, before, side, table) ?? countMisfit(kind, before);
      const next = nextState(side.name, state, kind);
      if (misfit !== undefined || next === undefined) {
        refuse({ ...(misfit ?? orderMisfit(side, actions[i - 1])), call, path: `actions[${i}]`, value: action });
      }
      counts.set(kind, before + 1);
      state = next;
    }
  }
}

function orderKindOf({ kind, reformatType }: Action): OrderKind {
  return kind === "packet_reformat" ? (REFORMATS[reformatType ?? 0] as OrderKind) : ORDER_KINDS[kind];
}

/** What is asked of an action of its kind. */
function ownMisfit(
  action: Action,
  kind: OrderKind,
  before: number,
  { receives }: Side,
  table: Table,
): Misfit | undefined {
  const { domain } = table;
  // MODEL: of modify header and reformat actions the library does not ask whose they are.
  const owner = ownerMisfit(action, domain);
  if (owner !== undefined) return owner;
  const next = tableMisfit(action, table) ?? contextMisfit(action, domain);
  if (next !== undefined) return next;
  // Decapsulation of L2 tunnels needs nothing that was made for another level.
  const level = kind === "decapL2" ? undefined : levelMisfit(action, false);
  if (level !== undefined) return level;
  if (kind === "pushVlan" && before === 2) return { ...repeated(kind), code: "ENOTSUP" };
  const { rules, name } = domain.device.profile;
  return rules.bothWays ? undefined : oneWayMisfit(action, receives, name);
}

/** Flags and meters are asked whose they are. */
function contextMisfit(action: Action, { context }: Domain): Misfit | undefined {
  if (!(action instanceof AsoAction) || action.object.kind === "connection") return undefined;
  if (action.object.context === context) return undefined;
  return { code: "EINVAL", reason: "other_device", hint: "it was made on another context" };
}

/** What the first devices do in one direction only. */
function oneWayMisfit({ step, kind }: Action, receives: boolean, device: string): Misfit | undefined {
  const missing = receives ? step === "push" || step === "encap" : step === "pop";
  if (!missing) return undefined;
  const hint = `${device} has no ${kind} on the ${receives ? "receive" : "transmit"} side`;
  return { code: "EINVAL", reason: "unsupported", hint };
}

function countMisfit(kind: OrderKind, before: number): Misfit | undefined {
  return before < mostOf(kind) ? undefined : repeated(kind);
}

function repeated(kind: OrderKind): Misfit {
  return { code: "EINVAL", reason: "action_repeated", hint: mostOf(kind) === 1 ? "once" : "twice" };
}

const SIDE_TEXTS: Readonly<Record<Side["name"], string>> = {
  nicReceived: "received",
  nicSent: "sent",
  fdbReceived: "from the wire",
  fdbSent: "from functions (a matcher that masks source_port is for one side)",
};

function orderMisfit({ name }: Side, before: Action | undefined): Misfit {
  const where = before === undefined ? "at the beginning" : `behind ${before.kind}`;
  return { code: "EOPNOTSUPP", reason: "action_order", hint: `${where}, for frames ${SIDE_TEXTS[name]}` };
}

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

/** Refuses a list that a rule of a root table cannot have. @throws EINVAL, ENOTSUP, EOPNOTSUPP */
export function checkDriverRootList(call: string, matcher: Matcher, actions: readonly Action[]): void {
  const { domain } = matcher.table;
  for (const [i, action] of actions.entries()) {
    const misfit = ROOT_KINDS.has(action.kind)
      ? (ownerMisfit(action, domain) ?? levelMisfit(action, true))
      : unsupportedInRoot();
    if (misfit !== undefined) refuse({ ...misfit, call, path: `actions[${i}]`, value: action });
  }
  const counts = new Map<string, number>();
  for (const [i, action] of actions.entries()) {
    const what = action.isTerminal ? "end" : orderKindOf(action);
    const before = counts.get(what) ?? 0;
    const misfit = before > 0 ? repeatedInRoot(what) : kernelMisfit(action, domain);
    if (misfit !== undefined) refuse({ ...misfit, call, path: `actions[${i}]`, value: action });
    counts.set(what, before + 1);
  }
  if (counts.has("counter") && !counts.has("end") && domain.type !== "nic_tx") {
    const hint = "a rule that counts has a destination, or drops";
    refuse({ code: "EINVAL", call, reason: "bad_action_list", path: "num_actions", value: actions.length, hint });
  }
}

function unsupportedInRoot(): Misfit {
  return { code: "ENOTSUP", reason: "unsupported", hint: `in a root table: ${[...ROOT_KINDS].join(", ")}` };
}

function repeatedInRoot(what: string): Misfit {
  const code = what === "end" || what === "counter" ? "EOPNOTSUPP" : "EINVAL";
  return { code, reason: "action_repeated", hint: what === "end" ? "one action ends a rule" : "once" };
}

/** What the kernel's rules of a domain cannot have. */
function kernelMisfit(action: Action, domain: Domain): Misfit | undefined {
  if (domain.type === "fdb" && action.kind === "default_miss") {
    return { code: "EINVAL", reason: "bad_action_list", hint: "a root table of the FDB has none" };
  }
  return meaningMisfit(action, domain);
}
