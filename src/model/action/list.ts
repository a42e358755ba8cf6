/**
 * The action list of a rule: its checks, and its execution order, which the device fixes
 * (docs/rules.md, "Actions"). model/profile says which checks a profile makes.
 */
import { MAX_ACTIONS } from "../../abi/engine.js";
import { refuse } from "../../errors.js";
import { Action, type ActionStep } from "./action.js";
import { ACTION_CHECKS, type ActionRule, type Place } from "./listChecks.js";
import type { ActionCheck } from "../profile/profile.js";
import { runnable, type CodedCheck, type Refusals } from "../profile/refusals.js";
import type { Domain, Table } from "../table/domain.js";
import { living } from "../base/handle.js";
import type { Matcher } from "../table/matcher.js";
import type { Direction } from "../table/directions.js";

const RECEIVED: readonly ActionStep[] = [
  ...(["decap", "tag", "pop", "first_hit", "modify", "push", "meter", "track", "count", "encap", "end"] as const),
];
const SENT: readonly ActionStep[] = [
  ...(["decap", "tag", "meter", "pop", "track", "count", "modify", "push", "first_hit", "encap", "end"] as const),
];

/**
 * Checks the actions of a rule for these directions.
 * @throws EINVAL actions that do not fit here or together; EOPNOTSUPP, ENOTSUP actions that the
 *   device lacks
 */
export function checkActions(matcher: Matcher, directions: readonly Direction[], actions: readonly Action[]): void {
  const { domain } = matcher.table;
  if (domain.rootOnly) {
    const hint = "the PF manages the eSwitch";
    refuse({ code: "EOPNOTSUPP", reason: "root_only", path: "matcher", value: matcher, hint });
  }
  if (actions.length > MAX_ACTIONS) badList("num_actions", actions.length, `at most ${MAX_ACTIONS}`);
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i];
    if (!(action instanceof Action) || action.destroyed) living<Action>(`actions[${i}]`, action, Action);
  }
  for (const step of matcher.rules.lists) {
    if (step.each === undefined) checkWhole(step.refuses, domain, actions);
    else if (step.each === "action") checkEach(step.refuses, matcher.table, ANY_DIRECTION, actions);
    else for (const direction of directions) checkEach(step.refuses, matcher.table, direction, actions);
  }
}

/** For checks that do not depend on the direction. */
const ANY_DIRECTION: Direction = { name: "nicReceived", receives: true, key: 0 };

function checkEach(
  refuses: Refusals<ActionCheck>,
  table: Table,
  direction: Direction,
  actions: readonly Action[],
): void {
  const checks = runnable(refuses, ACTION_CHECKS);
  const place: Place = { table, direction, actions, index: 0, state: "start" };
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i] as Action;
    place.index = i;
    // Rules are created by the million: an indexed loop makes no iterator.
    for (let n = 0; n < checks.length; n++) {
      const { check, code } = checks[n] as CodedCheck<ActionRule>;
      const misfit = check(action, place);
      if (misfit !== undefined) refuse({ ...misfit, code, path: `actions[${i}]`, value: action });
    }
  }
}

function checkWhole(
  { counterWithoutEnd: code }: Refusals<"counterWithoutEnd">,
  { type }: Domain,
  actions: readonly Action[],
): void {
  if (code === undefined || type === "nic_tx") return;
  if (!actions.some(({ kind }) => kind === "flow_counter") || actions.some(({ isTerminal }) => isTerminal)) return;
  const hint = "a rule that counts has a destination, or drops";
  refuse({ code, reason: "bad_action_list", path: "num_actions", value: actions.length, hint });
}

/**
 * Operations and operands, alternating, in the execution order of a direction. Actions of one step
 * keep the caller's order. `domain` is null for an entry of a device command.
 */
export function recordOf({ receives }: Direction, domain: Domain | null, actions: readonly Action[]): number[] {
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

function badList(path: string, value: unknown, hint: string): never {
  refuse({ code: "EINVAL", reason: "bad_action_list", path, value, hint, cite: "mlx5dv_dr: Actions" });
}
