/** Changes of rules in the notation of scenario files, and the masks and values that they make. */
import { inCall, SteeringError } from "../../errors.js";
import { matchOf } from "../../model/match/match.js";
import type { FieldChange } from "../trace/trace.js";
import { termsOf } from "../match/terms.js";
import type { RuleChange, RuleInTable } from "./context.js";

/** The pseudo field of a rule's priority. */
export const PRIORITY = "priority";

/**
 * The mask, value, ranges and priority of a rule after changes of its fields; null if no rule can
 * have them.
 */
export function changedRule(rule: RuleInTable, changes: readonly FieldChange[]): RuleChange | null {
  return inCall("repair", () => {
    const fields = new Map(termsOf(rule).map(({ field, wanted }) => [field.name, wanted]));
    let priority: number | undefined;
    for (const { field, after } of changes) {
      if (field === PRIORITY) priority = Number(after);
      else if (after === null) fields.delete(field);
      else fields.set(field, after);
    }
    const rank = priority === undefined ? {} : { priority };
    if (changes.every(({ field }) => field === PRIORITY)) return rank;
    try {
      return { ...matchOf("match", Object.fromEntries(fields)), ...rank };
    } catch (error) {
      if (error instanceof SteeringError) return null;
      throw error;
    }
  });
}

/** The implied ip_version goes with the last address of its level. */
export function withoutVersions(rule: RuleInTable, changes: readonly FieldChange[]): FieldChange[] {
  const terms = termsOf(rule);
  const more: FieldChange[] = [];
  for (const level of ["outer", "inner"] as const) {
    const addresses = terms.filter(({ field }) => field.version !== 0 && field.name.startsWith(`${level}.`));
    const version = terms.find(({ field }) => field.name === `${level}.ip_version`);
    if (addresses.length === 0 || version === undefined) continue;
    if (changes.some(({ field }) => field === `${level}.ip_version`)) continue;
    const gone = (name: string): boolean => changes.some(({ field, after }) => field === name && after === null);
    if (!addresses.every(({ field }) => gone(field.name))) continue;
    more.push({ field: version.field.name, before: version.wanted, after: null });
  }
  return [...changes, ...more];
}
