/** mlx5dv_dr_matcher_set_layout(3). */
import { inCall } from "../../errors.js";
import { setLayout, type MatcherLayout } from "../../model/table/matcherLayout.js";
import type { Matcher } from "../../model/table/matcher.js";

export type { MatcherLayout } from "../../model/table/matcherLayout.js";

/**
 * Says how many rules a matcher will have (NUM_RULE): its table makes room for them at once. That
 * room stays until the matcher is destroyed or gets another layout; with RESIZABLE it shrinks when
 * rules go.
 * @param matcher_layout `log_num_of_rules_hint`: 2^hint rules, at most 20
 * @throws ENOTSUP if the table is a root table, a flag is unknown, the hint is beyond 20, or the
 *   device has no definers
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_dr_matcher_set_layout(matcher: Matcher, matcher_layout: MatcherLayout): 0 {
  return inCall("mlx5dv_dr_matcher_set_layout", () => {
    setLayout(matcher, matcher_layout);
    return 0;
  });
}
