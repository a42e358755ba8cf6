/** mlx5dv_dr_matcher_set_layout(3). */
import { setLayout, type MatcherLayout } from "../model/table/matcherLayout.js";
import type { Matcher } from "../model/table/matcher.js";

export type { MatcherLayout } from "../model/table/matcherLayout.js";

/**
 * Says how many rules a matcher will have (NUM_RULE): its table makes room for them at once. Without RESIZABLE the room stays
 * until the matcher is destroyed or has another layout; with it, it goes when rules go.
 * @throws ENOTSUP a matcher of a root table, unknown flags, more than 2^20 rules, a device without definers; ENOMEM
 */
export function mlx5dv_dr_matcher_set_layout(matcher: Matcher, matcher_layout: MatcherLayout): 0 {
  setLayout("mlx5dv_dr_matcher_set_layout", matcher, matcher_layout);
  return 0;
}
