/**
 * The required fields: the groups that the parser fills for the rules of all tables
 * (classify/requiredFields.ts makes the sets).
 */
import { GROUP_EXT } from "../../src/abi/key";

/** The required fields when no rule reads a field: the parser always fills the presence words. */
export const NEEDS_NOTHING: u32 = 1 << GROUP_EXT;

export namespace Required {
  /** The union of the required fields of all tables. */
  export let fields: u32 = NEEDS_NOTHING;
}
