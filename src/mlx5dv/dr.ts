/** mlx5dv_dr(3): domains, tables, matchers, rules, actions. */
import type { Action } from "../model/action/action.js";
import { Context } from "../model/base/context.js";
import { Domain, Table } from "../model/table/domain.js";
import { describe } from "../checks.js";
import { living } from "../model/base/handle.js";
import { Matcher } from "../model/table/matcher.js";
import type { MatchParameters } from "../model/match/match.js";
import { Rule } from "../model/rule/rule.js";
import { refuse } from "../errors.js";

/** What C passes as `struct mlx5dv_flow_match_parameters *`: the struct, its bytes alone, or nothing (all zero). */
export type FlowMatchParameters = MatchParameters | Uint8Array | null | undefined;

/** A domain of the function that the context is open on. @throws EINVAL unknown type */
export function mlx5dv_dr_domain_create(ctx: Context, type: number): Domain {
  const call = "mlx5dv_dr_domain_create";
  return Domain.create(call, living(call, "ctx", ctx, Context), type);
}

/** @throws EBUSY while a table, or a reformat, modify header or array action of it is alive */
export function mlx5dv_dr_domain_destroy(domain: Domain): 0 {
  const call = "mlx5dv_dr_domain_destroy";
  living(call, "domain", domain, Domain).destroy(call);
  return 0;
}

/**
 * MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW and _HW do what waits (asyncRules of createDevice), _MEM gives back memory that tables keep.
 * @throws EOPNOTSUPP other flags, or an FDB domain of a VF; ENOMEM a rule that waits finds no room, and waits on
 */
export function mlx5dv_dr_domain_sync(domain: Domain, flags: number): 0 {
  const call = "mlx5dv_dr_domain_sync";
  living(call, "domain", domain, Domain).sync(call, flags);
  return 0;
}

/** Whether tables of the domain give memory back as soon as their rules go; by default they keep it until a sync. */
export function mlx5dv_dr_domain_set_reclaim_device_memory(dmn: Domain, enable: boolean): void {
  living("mlx5dv_dr_domain_set_reclaim_device_memory", "dmn", dmn, Domain).reclaim(enable);
}

/** Whether a rule can have the values of another one of its matcher, but in the root table; by default it can. */
export function mlx5dv_dr_domain_allow_duplicate_rules(domain: Domain, allow: boolean): void {
  living("mlx5dv_dr_domain_allow_duplicate_rules", "domain", domain, Domain).allowsDuplicates = allow;
}

/** Level 0 is the root table, where every frame starts. @throws EOPNOTSUPP another level in an FDB domain of a VF; ENOMEM */
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
 * @throws EINVAL bad criteria, size or ip_version mask; EOPNOTSUPP reserved bits, what the device does not declare or, by its
 * profile, does not match; ENOTSUP source_port masked in part (ConnectX); ENOMEM 65,536 matchers of the table
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
 * A rule; it takes effect at once, or with asyncRules of createDevice at the next sync. `num_actions` counts the actions that
 * are used (all of them when undefined).
 * @throws EINVAL value outside mask, actions that cannot stand together; EEXIST a duplicate where they are refused; EOPNOTSUPP,
 * ENOTSUP what the profile refuses; ENOMEM
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
