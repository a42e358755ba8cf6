/** Changes of rules in the notation of scenario files, and the masks and values that they make. */
import { inCall, SteeringError } from "../../errors.js";
import { matchOf } from "../../model/match/match.js";
import { checkMask } from "../../model/match/matcherChecks.js";
import { FlowEntry } from "../../model/flow/entry.js";
import { isVerbsFlow } from "../../model/flow/kinds.js";
import { Rule } from "../../model/rule/rule.js";
import type { FieldChange } from "../trace/trace.js";
import { ORIGINS, termsOf } from "../match/terms.js";
import { canMatch } from "./flowSpecs.js";
import type { RuleCandidate, RuleChange, RuleInTable } from "./context.js";

/** The priority of a matcher has 16 bits. */
const MAX_PRIORITY = 0xffff;

/** The pseudo fields of a rule's priority and of a flow's flags. */
export const PRIORITY = "priority";
export const FLAGS = "flags";

/** Whether a change is one of the match. */
export function isOfMatch({ field }: FieldChange): boolean {
  return field !== PRIORITY && field !== FLAGS;
}

/**
 * The mask, value, ranges, priority and flag of a rule after changes of its fields; null if no rule
 * of the device's profile can have them.
 */
export function changedRule(rule: RuleInTable, changes: readonly FieldChange[]): RuleChange | null {
  return inCall("repair", () => {
    const fields = new Map(termsOf(rule).map(({ field, wanted }) => [field.name, wanted]));
    let other: Pick<RuleChange, "priority" | "dontTrap"> = {};
    for (const { field, after } of changes) {
      if (field === PRIORITY) other = { ...other, priority: Number(after) };
      else if (field === FLAGS) other = { ...other, dontTrap: true };
      else if (after === null) fields.delete(field);
      else fields.set(field, after);
    }
    if ((other.priority ?? 0) > lastPriority(rule)) return null;
    if (!changes.some(isOfMatch)) return other;
    try {
      const match = matchOf("match", Object.fromEntries(fields));
      if (rule.object instanceof Rule) checkMask(rule.object.matcher.table, match.mask);
      if (
        rule.object instanceof FlowEntry &&
        !rule.object.flows.filter(isVerbsFlow).every((one) => canMatch(one, match))
      )
        return null;
      return { ...match, ...other };
    } catch (error) {
      if (error instanceof SteeringError) return null;
      throw error;
    }
  });
}

/** Whether a change leaves no field of the match but those of where frames come from: the rule would match all of them. */
export function isEmptied({ rule, changes }: RuleCandidate): boolean {
  const gone = new Set(changes.flatMap(({ field, after }) => (after === null ? field : [])));
  if (gone.size === 0 || changes.some((one) => isOfMatch(one) && one.after !== null)) return false;
  return termsOf(rule).every(({ field: { name } }) => gone.has(name) || ORIGINS.has(name));
}

/** The largest priority that the profile allows a rule. */
export function lastPriority({ object }: RuleInTable): number {
  if (object instanceof Rule) {
    const { device, isRoot } = object.matcher.table;
    return isRoot ? device.profile.flows.lastPriority : MAX_PRIORITY;
  }
  if (!(object instanceof FlowEntry) || !object.flows.some(isVerbsFlow)) return MAX_PRIORITY;
  return object.classifier.device.profile.flows.lastPriority;
}

/** Whether the profile puts a flow after all others, whatever its priority: it matches multicast only. */
export function isLast(rule: RuleInTable): boolean {
  return rule.ref.priority > lastPriority(rule);
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
