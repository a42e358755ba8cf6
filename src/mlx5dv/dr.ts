/** mlx5dv_dr(3): domains, tables, matchers, rules, actions. */
import { Action } from "../model/action.js";
import { Context } from "../model/context.js";
import type { FlowCounter } from "../model/counter.js";
import { Domain, Table } from "../model/domain.js";
import { describe, living } from "../model/handle.js";
import { Matcher } from "../model/matcher.js";
import type { MatchParameters } from "../model/match.js";
import type { QueuePair } from "../model/queues.js";
import { Rule } from "../model/rule.js";
import { refuse } from "../errors.js";

/** What C passes as `struct mlx5dv_flow_match_parameters *`: the struct, its bytes alone, or nothing (all zero). */
export type FlowMatchParameters = MatchParameters | Uint8Array | null | undefined;

/** @throws EINVAL unknown type; EOPNOTSUPP a type that this release lacks */
export function mlx5dv_dr_domain_create(ctx: Context, type: number): Domain {
  const call = "mlx5dv_dr_domain_create";
  return Domain.create(call, living(call, "ctx", ctx, Context), type);
}

/** @throws EBUSY while a table of it is alive */
export function mlx5dv_dr_domain_destroy(domain: Domain): 0 {
  const call = "mlx5dv_dr_domain_destroy";
  living(call, "domain", domain, Domain).destroy(call);
  return 0;
}

/** Level 0 is the root table, where every frame starts. @throws ENOMEM */
export function mlx5dv_dr_table_create(domain: Domain, level: number): Table {
  return Table.create("mlx5dv_dr_table_create", domain, level);
}

/** @throws EBUSY while matchers or actions refer to it */
export function mlx5dv_dr_table_destroy(table: Table): 0 {
  const call = "mlx5dv_dr_table_destroy";
  living(call, "table", table, Table).destroy(call);
  return 0;
}

/**
 * A matcher at a priority (lower is first). Groups that `match_criteria_enable` leaves out are ignored.
 * @throws EINVAL bad criteria, size or ip_version mask; EOPNOTSUPP reserved bits, or what the device does not declare
 */
export function mlx5dv_dr_matcher_create(
  table: Table,
  priority: number,
  match_criteria_enable: number,
  mask: FlowMatchParameters,
): Matcher {
  return Matcher.create("mlx5dv_dr_matcher_create", table, priority, match_criteria_enable, mask);
}

/** @throws EBUSY while rules of it are alive */
export function mlx5dv_dr_matcher_destroy(matcher: Matcher): 0 {
  const call = "mlx5dv_dr_matcher_destroy";
  living(call, "matcher", matcher, Matcher).destroy(call);
  return 0;
}

/**
 * A rule; it takes effect at once. `num_actions` counts the actions that are used (all of them when undefined).
 * @throws EINVAL value outside mask, actions that cannot stand together; ENOMEM
 */
export function mlx5dv_dr_rule_create(
  matcher: Matcher,
  value: FlowMatchParameters,
  num_actions: number | undefined,
  actions: readonly Action[],
): Rule {
  const call = "mlx5dv_dr_rule_create";
  if (!Array.isArray(actions)) throw new TypeError(`${call}: actions must be an array, not ${describe(actions)}`);
  const count = num_actions ?? actions.length;
  if (!Number.isInteger(count) || count < 0 || count > actions.length) {
    const hint = `the array has ${actions.length}`;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "num_actions", value: count, hint });
  }
  return Rule.create(call, matcher, value, actions.slice(0, count) as Action[]);
}

export function mlx5dv_dr_rule_destroy(rule: Rule): 0 {
  const call = "mlx5dv_dr_rule_destroy";
  living(call, "rule", rule, Rule).destroy(call);
  return 0;
}

export function mlx5dv_dr_action_create_drop(): Action {
  return Action.drop();
}

/** The default behaviour of the domain: in NIC_RX the frame is dropped, in a root table it goes on behind it. */
export function mlx5dv_dr_action_create_default_miss(): Action {
  return Action.defaultMiss();
}

/** The low 24 bits of `tag_value` stand in the completion. */
export function mlx5dv_dr_action_create_tag(tag_value: number): Action {
  return Action.tag("mlx5dv_dr_action_create_tag", tag_value);
}

/** @throws EINVAL for a queue pair that is not IBV_QPT_RAW_PACKET */
export function mlx5dv_dr_action_create_dest_ibv_qp(ibqp: QueuePair): Action {
  return Action.toQueue("mlx5dv_dr_action_create_dest_ibv_qp", ibqp);
}

/** @throws EINVAL for a root table */
export function mlx5dv_dr_action_create_dest_table(table: Table): Action {
  return Action.toTable("mlx5dv_dr_action_create_dest_table", table);
}

/** Counts packets and bytes on one counter of a bulk. @throws EINVAL not a flow counter, offset outside the bulk */
export function mlx5dv_dr_action_create_flow_counter(devx_obj: FlowCounter, offset: number): Action {
  return Action.count("mlx5dv_dr_action_create_flow_counter", devx_obj, offset);
}

/** @throws EBUSY while a rule uses it */
export function mlx5dv_dr_action_destroy(action: Action): 0 {
  const call = "mlx5dv_dr_action_destroy";
  living(call, "action", action, Action).destroy(call);
  return 0;
}
