/**
 * The actions of a rule: which lists are taken, and in which order they run, which is the device's and not the caller's
 * (docs/rules.md, "Actions").
 */
import { MAX_ACTIONS } from "../../abi/engine.js";
import { refuse } from "../../errors.js";
import { Action, type ActionStep } from "./action.js";
import { checkDriverList, checkDriverRootList } from "./driverChecks.js";
import { levelMisfit, meaningMisfit, ownerMisfit, tableMisfit } from "./placement.js";
import type { Domain } from "../table/domain.js";
import { living } from "../base/handle.js";
import type { Matcher } from "../table/matcher.js";
import type { Side } from "../table/directions.js";

const RECEIVED: readonly ActionStep[] = [
  ...(["decap", "tag", "pop", "first_hit", "modify", "push", "meter", "track", "count", "encap", "end"] as const),
];
const SENT: readonly ActionStep[] = [
  ...(["decap", "tag", "meter", "pop", "track", "count", "modify", "push", "first_hit", "encap", "end"] as const),
];

/**
 * Checks the actions of a rule that is for these sides.
 * @throws EINVAL actions that cannot stand here, or not together; EOPNOTSUPP, ENOTSUP what the device does not do
 */
export function checkActions(call: string, matcher: Matcher, sides: readonly Side[], actions: readonly Action[]): void {
  const { domain, isRoot } = matcher.table;
  if (domain.rootOnly) {
    const hint = "the PF manages the eSwitch";
    refuse({ code: "EOPNOTSUPP", call, reason: "root_only", path: "matcher", value: matcher, hint });
  }
  if (actions.length > MAX_ACTIONS) badList(call, "num_actions", actions.length, `at most ${MAX_ACTIONS}`);
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i];
    if (!(action instanceof Action) || action.destroyed) living<Action>(call, `actions[${i}]`, action, Action);
  }
  const { checks } = domain.device.profile.rules;
  if (checks === "manual") checkList(call, matcher, actions);
  else if (isRoot) checkDriverRootList(call, matcher, actions);
  else checkDriverList(call, matcher.table, sides, actions);
}

/** Profile `manual`: what the page refuses, and what has no meaning. */
function checkList(call: string, { table }: Matcher, actions: readonly Action[]): void {
  const { domain, isRoot } = table;
  let terminal: Action | undefined;
  let tag: Action | undefined;
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i] as Action;
    const misfit =
      ownerMisfit(action, domain) ??
      meaningMisfit(action, domain) ??
      levelMisfit(action, isRoot) ??
      tableMisfit(action, table);
    if (misfit !== undefined) refuse({ ...misfit, call, path: `actions[${i}]`, value: action });
    if (action.isTerminal) {
      if (terminal !== undefined) badList(call, `actions[${i}]`, action, `${terminal.kind} already ends the rule`);
      terminal = action;
    } else if (action.kind === "tag") {
      if (tag !== undefined) badList(call, `actions[${i}]`, action, "a frame carries one tag");
      tag = action;
    }
  }
}

/**
 * Operation and operand in turn, in the order in which a side runs them; actions of one step stay in the order of the list.
 * `domain` is that of the rule, null for an entry of a device command, which is of none.
 */
export function recordOf({ receives }: Side, domain: Domain | null, actions: readonly Action[]): number[] {
  const record: number[] = [];
  for (const step of receives ? RECEIVED : SENT) {
    for (const action of actions) {
      if (action.step !== step) continue;
      const own = domain === null ? null : action.record(domain);
      if (own === null) record.push(action.op, action.operand);
      else record.push(...own);
    }
  }
  return record;
}

function badList(call: string, path: string, value: unknown, hint: string): never {
  refuse({ code: "EINVAL", call, reason: "bad_action_list", path, value, hint, cite: "mlx5dv_dr: Actions" });
}
