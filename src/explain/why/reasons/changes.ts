/** Which action changed a field of a header before a lookup. */
import { fieldNamed, isPresent } from "../../../model/match/fields.js";
import { fieldText } from "../../trace/fields.js";
import type { ActionStep, FieldChange } from "../../trace/trace.js";
import { distanceOf, keyView, type CompiledTerm } from "../compare.js";
import type { Reason } from "../explanation.js";
import { isAction, stepsBefore, type Visit, type Walked } from "../walked.js";
import { ruleText, tableText } from "./describe.js";

interface Change {
  readonly action: ActionStep;
  readonly change: FieldChange;
}

/** A change because of which a term does not match. */
export interface Spoiled {
  readonly reason: Reason;
  readonly field: string;
  /** The fields that went with it, where a header was removed; null where the field is there. */
  readonly gone: readonly string[] | null;
}

/** The changes of a field before a lookup, first to last. */
export function changesOf(walked: Walked, visit: Visit, field: string): Change[] {
  return stepsBefore(walked, visit.step)
    .filter(isAction)
    .flatMap((action) =>
      action.fields.filter((change) => change.field === field).map((change) => ({ action, change })),
    );
}

/**
 * The change because of which a term does not match at a lookup: the frame matched the term when it came in. Null where it
 * did not, or where nothing changed the field.
 */
export function spoiler(walked: Walked, visit: Visit, one: CompiledTerm): Spoiled | null {
  return matchedAtFirst(walked, visit, one)
    ? changeReason(visit, changesOf(walked, visit, one.term.field.name)[0])
    : null;
}

/** Whether the frame matched a term when it came in; false at its first lookup. */
export function matchedAtFirst({ visits: [first] }: Walked, visit: Visit, one: CompiledTerm): boolean {
  return first !== undefined && first !== visit && distanceOf(one, keyView(first.key)) === 0;
}

export function changeReason(visit: Visit, found: Change | undefined): Spoiled | null {
  if (found === undefined) return null;
  const { action, change } = found;
  const { rule } = action;
  if (rule === null) return null;
  const { field, before, after } = change;
  const where = `before ${tableText(visit.step.table)} (${action.action.replaceAll("_", " ")})`;
  const what =
    after === null
      ? `removed ${removedText(action)} ${where}${nowText(visit, field)}`
      : `changed ${field} from ${before ?? "absent"} to ${after} ${where}`;
  const sentence = `${ruleText(rule)} ${what}`;
  const gone = after === null ? action.fields.filter((one) => one.after === null).map((one) => one.field) : null;
  const reason: Reason = { kind: "changed on the way", sentence, field, rule, action: action.action, before, after };
  return { reason, field, gone };
}

function removedText({ action, text }: ActionStep): string {
  if (action === "pop_vlan") return "a VLAN tag";
  return text.startsWith("removes the") ? "the tunnel" : "the header";
}

/** What was inside a tunnel, or after a tag, has other fields then. */
export function movedField(field: string): string | undefined {
  const to = field
    .replace(/^inner\./, "outer.")
    .replace(".inner_", ".outer_")
    .replace(/^misc\.(outer|inner)_second_(vid|prio|cfi)$/, "$1.first_$2");
  return to === field || fieldNamed(to) === undefined ? undefined : to;
}

function nowText(visit: Visit, name: string): string {
  const field = fieldNamed(movedField(name) ?? "");
  if (field === undefined || !isPresent(visit.key, field)) return "";
  return `: it is ${field.name} ${fieldText(visit.key, field)} now`;
}
