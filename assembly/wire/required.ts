/** The required fields: what the parser must fill for the rules of all tables (classify/requiredFields.ts makes the sets). */
import { GROUP_EXT } from "../../src/abi/key";

/** What the parser fills when no rule reads a field: presence words are always filled. */
export const NEEDS_NOTHING: u32 = 1 << GROUP_EXT;

export namespace Required {
  /** The union of the required fields of all tables. */
  export let fields: u32 = NEEDS_NOTHING;
}
