/** Which action wrote a field before a lookup: header changes, registers, state. */
import { operationNamed, type StateResult } from "../../../model/action/operations.js";
import { REGISTER_NAMES } from "../../../model/traffic/outcomeReader.js";
import { readField, type Field } from "../../../model/match/fields.js";
import type { MatchTerm } from "../../match/terms.js";
import type { ActionStep, FieldChange, MoveStep, RuleRef } from "../../trace/trace.js";
import { syndromeText } from "../../trace/actionText.js";
import { fieldText } from "../../trace/fields.js";
import { domainText, ruleText, tableText } from "./describe.js";
import { failedText } from "./lost.js";
import type { Case } from "../case.js";
import { distanceOf, keyView, type CompiledTerm } from "../compare.js";
import type { Reason } from "../explanation.js";
import { isAction, stepsBefore, type Visit, type Walked } from "../walked.js";

export interface Change {
  readonly action: ActionStep;
  readonly change: FieldChange;
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
export function spoiler(walked: Walked, visit: Visit, one: CompiledTerm): Reason | null {
  return matchedAtFirst(walked, visit, one)
    ? changeReason(visit, changesOf(walked, visit, one.term.field.name)[0])
    : null;
}

/** Whether the frame matched a term when it came in; false at its first lookup. */
function matchedAtFirst({ visits: [first] }: Walked, visit: Visit, one: CompiledTerm): boolean {
  return first !== undefined && first !== visit && distanceOf(one, keyView(first.key)) === 0;
}

function changeReason({ step: { table } }: Visit, found: Change | undefined): Reason | null {
  if (found === undefined) return null;
  const { action, change } = found;
  const { rule } = action;
  if (rule === null) return null;
  const { field, before, after } = change;
  const what =
    after === null
      ? `removed the header of ${field} (it was ${before ?? "absent"})`
      : `changed ${field} from ${before ?? "absent"} to ${after}`;
  const sentence = `${ruleText(rule)} ${what} before ${tableText(table)} (${action.action.replaceAll("_", " ")})`;
  return { kind: "changed on the way", sentence, field, rule, action: action.action, before, after };
}

/** What wrote the fields by which a rule took a frame, where the frame did not bring them. */
export function madeBy({ walked, rules }: Case, visit: Visit): Reason[] {
  const { rule } = visit.step;
  if (rule === null) return [];
  return rules.matchOf(rules.ruleAt(visit.table, visit.rule)).flatMap((one): Reason[] => {
    const { field } = one.term;
    const writer = stateWriter(walked, visit, field.name);
    if (writer !== null) return [stateReason(visit, writer, rule, one.term)];
    const made = matchedAtFirst(walked, visit, one)
      ? writeReason(walked, visit, field)
      : changeReason(visit, changesOf(walked, visit, field.name).at(-1));
    return made === null ? [] : [made];
  });
}

/** A rule wrote the value into a register that it had already. */
function writeReason(walked: Walked, visit: Visit, one: Field): Reason | null {
  const { name: field } = one;
  const register = registerOf(field);
  const writer = register === undefined ? null : writerOf(walked, visit, register);
  const rule = writer?.rule ?? null;
  if (writer === null || rule === null) return null;
  const value = fieldText(visit.key, one);
  const sentence = `${ruleText(rule)} wrote ${field} ${value} before ${tableText(visit.step.table)} (${writer.action})`;
  return { kind: "changed on the way", sentence, field, rule, action: writer.action, before: value, after: value };
}

/** A rule takes what a stateful action wrote. */
function stateReason({ key }: Visit, writer: ActionStep, rule: RuleRef, { field, wanted }: MatchTerm): Reason {
  const { object, name } = stateObject(writer);
  const taken = `${ruleText(rule)} takes register ${registerOf(field.name)} ${wanted}`;
  const sentence = `${stateText(writer, readField(key, field).toString())}, and ${taken}`;
  const why: Reason = { kind: "state", sentence, object, name };
  return writer.failed === undefined ? why : { ...why, failed: writer.failed };
}

const COLOURS = ["red", "yellow", "green"];

/** The objects whose state gives a result, and what the result says of the frame. */
const RESULTS: Readonly<Record<StateResult, { readonly object: string; readonly says: (value: number) => string }>> = {
  colour: { object: "meter", says: (value) => `coloured the frame ${COLOURS[value] ?? value}` },
  flag: {
    object: "first-hit flag",
    says: (value) => `was ${value === 0 ? "not set: this is the first hit" : "set already"}`,
  },
  syndrome: { object: "connection", says: (value) => `found the frame ${syndromeText(value)} (syndrome ${value})` },
};

/** The result that an action writes; undefined for actions without one. */
function resultOf({ action }: ActionStep): (typeof RESULTS)[StateResult] | undefined {
  const changes = operationNamed(action)?.changes ?? null;
  return changes === null || changes === "headers" || changes === "parameters" ? undefined : RESULTS[changes];
}

/** The register of a field: "C0" of misc2.metadata_reg_c_0; undefined for other fields. */
export function registerOf(field: string): string | undefined {
  const [, letter, number = ""] = /metadata_reg_([ac])_?(\d?)$/.exec(field) ?? [];
  return letter === undefined ? undefined : `${letter.toUpperCase()}${number}`;
}

/** Where the value of a register comes from at a lookup; null for other fields. */
export function registerNote(walked: Walked, visit: Visit, field: string, found: string): string | null {
  const register = registerOf(field);
  if (register === undefined || !(REGISTER_NAMES as readonly string[]).includes(register)) return null;
  const writer = writerOf(walked, visit, register);
  if (writer === null) {
    return register === "A"
      ? "it is the metadata that the sender gave, 0 for received frames"
      : `no rule wrote register ${register} before`;
  }
  if (isLost(walked, visit, writer, register))
    return `register ${register} is 0 again in ${domainText(visit.step.table.domain)}: only C0 and C1 cross domains`;
  return resultOf(writer) === undefined ? writtenText(writer) : stateText(writer, found);
}

function writtenText({ rule }: ActionStep): string | null {
  return rule === null ? null : `${ruleText(rule)} wrote it`;
}

/** The last action before a lookup that wrote a register, as the traced core notes it. */
export function writerOf(walked: Walked, visit: Visit, register: string): ActionStep | null {
  return (
    stepsBefore(walked, visit.step)
      .filter(isAction)
      .findLast(({ registers }) => registers?.includes(register) === true) ?? null
  );
}

/** Moves to another domain, where a frame keeps registers C0 and C1 only. */
const CROSSINGS: ReadonlySet<MoveStep["cause"]> = new Set(["egress", "vport", "fdb_default", "loopback"]);

/** Whether the value that an action wrote has not come to a lookup. */
function isLost(walked: Walked, visit: Visit, writer: ActionStep, register: string): boolean {
  if (register === "C0" || register === "C1") return false;
  const steps = stepsBefore(walked, visit.step);
  return steps.slice(steps.indexOf(writer)).some((step) => step.kind === "move" && CROSSINGS.has(step.cause));
}

/** The stateful action whose result a register has at a lookup; null for other fields and other writers. */
export function stateWriter(walked: Walked, visit: Visit, field: string): ActionStep | null {
  const register = registerOf(field);
  const writer = register === undefined ? null : writerOf(walked, visit, register);
  if (register === undefined || writer === null || resultOf(writer) === undefined) return null;
  return isLost(walked, visit, writer, register) ? null : writer;
}

/** "meter "m" coloured the frame red": what a stateful action wrote into its register. */
export function stateText(step: ActionStep, found: string): string {
  const { object, name } = stateObject(step);
  const why = step.failed === undefined ? "" : `: ${failedText(step.failed)}`;
  return `${object} "${name}" ${resultOf(step)!.says(Number(found) & 0xff)}${why}`;
}

export function stateObject(step: ActionStep): { readonly object: string; readonly name: string } {
  const [state] = step.state;
  // The state is a byte of flags; the text names the flag.
  const name = step.action === "first_hit" ? step.text.replace(/: \d+ in C\d$/, "") : (state?.name ?? "");
  return { object: resultOf(step)?.object ?? state?.object ?? "object", name };
}
