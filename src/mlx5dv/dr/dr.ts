/** mlx5dv_dr(3): domains, tables, matchers, rules, actions. */
import { inCall, named } from "../../errors.js";
import type { Action } from "../../model/action/action.js";
import { Context } from "../../model/base/context.js";
import { Domain, Table } from "../../model/table/domain.js";
import { countedActions } from "../../base/checks.js";
import { living } from "../../model/base/handle.js";
import { Matcher } from "../../model/table/matcher.js";
import type { DeviceBytes } from "../../model/match/parameterBytes.js";
import { Rule } from "../../model/rule/rule.js";

/**
 * What C passes as `struct mlx5dv_flow_match_parameters *`: the struct as an object, its device
 * bytes alone, its C bytes (docs/from-c.md), or nothing (all zero).
 */
export type FlowMatchParameters = DeviceBytes;

/**
 * Makes a domain of the function that the context is open on.
 * @param type MLX5DV_DR_DOMAIN_TYPE_NIC_RX, _NIC_TX or _FDB
 * @throws EINVAL if the type is unknown
 */
export function mlx5dv_dr_domain_create(ctx: Context, type: number): Domain {
  return inCall("mlx5dv_dr_domain_create", () => Domain.create(living("ctx", ctx, Context), type));
}

/**
 * Destroys a domain.
 * @throws EBUSY if a table, or a reformat, modify header or array action of it is alive
 */
export function mlx5dv_dr_domain_destroy(domain: Domain): 0 {
  return inCall("mlx5dv_dr_domain_destroy", () => {
    living("domain", domain, Domain).destroy();
    return 0;
  });
}

/**
 * Synchronizes a domain. _FLAGS_SW and _FLAGS_HW make pending rules take effect (`asyncRules` of
 * `createDevice`), _FLAGS_MEM frees memory that tables keep.
 * @param flags bits MLX5DV_DR_DOMAIN_SYNC_FLAGS_*
 * @throws EOPNOTSUPP if another bit is set, or the FDB domain is of a VF
 * @throws ENOMEM if a pending rule finds no memory; it stays pending
 */
export function mlx5dv_dr_domain_sync(domain: Domain, flags: number): 0 {
  return inCall("mlx5dv_dr_domain_sync", () => {
    living("domain", domain, Domain).sync(flags);
    return 0;
  });
}

/**
 * Says whether tables give memory back as soon as their rules are destroyed. By default they keep
 * it until a sync.
 */
export function mlx5dv_dr_domain_set_reclaim_device_memory(dmn: Domain, enable: boolean): void {
  inCall("mlx5dv_dr_domain_set_reclaim_device_memory", () => living("dmn", dmn, Domain).reclaim(enable));
}

/**
 * Says whether two rules of a matcher can have the same values, except in the root table. By
 * default they can.
 */
export function mlx5dv_dr_domain_allow_duplicate_rules(domain: Domain, allow: boolean): void {
  inCall("mlx5dv_dr_domain_allow_duplicate_rules", () => (living("domain", domain, Domain).allowsDuplicates = allow));
}

/**
 * Makes a table.
 * @param level 0 is the root table, where all frames start
 * @throws EOPNOTSUPP if the level is not 0 in the FDB domain of a VF
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_dr_table_create(domain: Domain, level: number): Table {
  return inCall("mlx5dv_dr_table_create", () => Table.create(domain, level));
}

/**
 * Destroys a table.
 * @throws EBUSY if matchers or actions refer to it
 */
export function mlx5dv_dr_table_destroy(table: Table): 0 {
  return inCall("mlx5dv_dr_table_destroy", () => {
    living("table", table, Table).destroy();
    return 0;
  });
}

/**
 * Makes a matcher: the mask of its rules.
 * @param priority lower comes first
 * @param match_criteria_enable bits of the groups that are read: 1 outer, 2 misc, 4 inner, 8 misc2,
 *   16 misc3, 32 misc4, 64 misc5
 * @param mask device bytes; `matchParameters` makes them from names
 * @throws EINVAL if the criteria, the size or an ip_version mask are wrong
 * @throws EOPNOTSUPP if a reserved bit is masked, or the device or profile does not match a field
 * @throws ENOTSUP if source_port is masked in part (ConnectX profiles)
 * @throws ENOMEM if the table has 65,536 matchers, or the device has no memory left
 */
export function mlx5dv_dr_matcher_create(
  table: Table,
  priority: number,
  match_criteria_enable: number,
  mask: FlowMatchParameters,
): Matcher {
  return inCall("mlx5dv_dr_matcher_create", () => Matcher.create(table, priority, match_criteria_enable, mask));
}

/**
 * Destroys a matcher.
 * @throws EBUSY if rules of it are alive
 */
export function mlx5dv_dr_matcher_destroy(matcher: Matcher): 0 {
  return inCall("mlx5dv_dr_matcher_destroy", () => {
    living("matcher", matcher, Matcher).destroy();
    return 0;
  });
}

/**
 * Makes a rule. It takes effect at once, or with `asyncRules` of `createDevice` at the next sync.
 * @param value device bytes; bits outside the mask must be 0
 * @param num_actions actions of the list that are used; all if undefined. With 0 the list may be null
 * @throws EINVAL if the value has a bit outside the mask, or the actions cannot stand together
 * @throws EEXIST if it is a duplicate, and the domain refuses duplicates
 * @throws EOPNOTSUPP, ENOTSUP if the profile refuses it
 * @throws ENOMEM if the device has no memory left
 * @example
 * const { match_criteria_enable, mask, value } = matchParameters({ "outer.tcp_dport": 443 });
 * const matcher = mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
 * mlx5dv_dr_rule_create(matcher, value, 1, [mlx5dv_dr_action_create_drop()]);
 */
export function mlx5dv_dr_rule_create(
  matcher: Matcher,
  value: FlowMatchParameters,
  num_actions: number,
  actions: null,
): Rule;
export function mlx5dv_dr_rule_create(
  matcher: Matcher,
  value: FlowMatchParameters,
  num_actions: number | undefined,
  actions: readonly Action[],
): Rule;
export function mlx5dv_dr_rule_create(
  matcher: Matcher,
  value: FlowMatchParameters,
  num_actions: number | undefined,
  actions: readonly Action[] | null,
): Rule {
  // Not `inCall`: its closure is a tenth of the time of a rule.
  try {
    return Rule.create(matcher, value, countedActions(num_actions, "actions", actions));
  } catch (error) {
    throw named("mlx5dv_dr_rule_create", error);
  }
}

/** Destroys a rule, at once or, with `asyncRules` of `createDevice`, at the next sync. */
export function mlx5dv_dr_rule_destroy(rule: Rule): 0 {
  try {
    living("rule", rule, Rule).destroy();
    return 0;
  } catch (error) {
    throw named("mlx5dv_dr_rule_destroy", error);
  }
}
