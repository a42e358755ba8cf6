/**
 * Matcher layouts (mlx5dv_dr(3): Matcher): the room that a table reserves for the rules of a
 * matcher. Outcomes never depend on it.
 */
import { MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE, MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE } from "../../abi/mlx5dv.js";
import { refuse } from "../../errors.js";
import { checkObject, member } from "../../base/checks.js";
import { living } from "../base/handle.js";
import { Matcher } from "./matcher.js";

/** `struct mlx5dv_dr_matcher_layout` */
export interface MatcherLayout {
  /** MLX5DV_DR_MATCHER_LAYOUT_*. */
  flags?: number | undefined;
  /** With NUM_RULE: the matcher expects 2^this rules, at most 2^20. */
  log_num_of_rules_hint?: number | undefined;
}

const LAST_HINT = 20;

/** mlx5dv_dr_matcher_set_layout: replaces the layout. */
export function setLayout(matcher: Matcher, layout: MatcherLayout): void {
  const { table, device } = living("matcher", matcher, Matcher);
  checkObject("matcher_layout", layout);
  const flags = member("matcher_layout.flags", layout.flags, 32);
  const hint = member("matcher_layout.log_num_of_rules_hint", layout.log_num_of_rules_hint, 32);
  const unsupported = (path: string, value: unknown, why: string): never =>
    refuse({ code: "ENOTSUP", reason: "unsupported", path, value, hint: why, cite: "mlx5dv_dr: Matcher" });
  if (table.isRoot) unsupported("matcher", matcher, "its table is a root table");
  if (!device.profile.rules.definers) unsupported("matcher", matcher, "this device has no definers");
  if (flags > (MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE | MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE))
    unsupported("matcher_layout.flags", flags, "RESIZABLE 1 and NUM_RULE 2");
  const numbered = (flags & MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE) !== 0;
  if (numbered && hint > LAST_HINT) {
    unsupported("matcher_layout.log_num_of_rules_hint", hint, `2^${LAST_HINT} rules at the most`);
  }
  matcher.reserve(numbered ? 2 ** hint : 0, (flags & MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE) === 0);
}
