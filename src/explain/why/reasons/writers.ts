/** Which action wrote a register before a lookup, and what wrote the fields by which a rule took a frame. */
import { operationNamed, type StateResult } from "../../../model/action/operations.js";
import { REGISTER_NAMES } from "../../../model/traffic/outcomeReader.js";
import { readField, type Field } from "../../../model/match/fields.js";
import type { MatchTerm } from "../../match/terms.js";
import type { ActionStep, MoveStep, RuleRef } from "../../trace/trace.js";
import { syndromeText } from "../../trace/actionText.js";
import { fieldText } from "../../trace/fields.js";
import { domainText, ruleText, tableText } from "./describe.js";
import { failedText } from "./lost.js";
import type { Case } from "../case.js";
import { distanceOf, type CompiledMatch } from "../compare.js";
import { changeReason, changesOf, matchedAtFirst } from "./changes.js";
import type { Reason } from "../explanation.js";
import { isAction, stepsBefore, viewOf, type Visit, type Walked } from "../walked.js";

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
      : (changeReason(visit, changesOf(walked, visit, field.name).at(-1))?.reason ?? null);
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
function stateReason({ key }: Visit, writer: ActionStep, rule: RuleRef, term: MatchTerm): Reason {
  const { object, name } = stateObject(writer);
  const { field } = term;
  const taken = `${ruleText(rule)} takes ${takenFrames(writer, term)}`;
  const says = stateText(writer, readField(key, field).toString());
  const sentence = writer.failed === undefined ? `${says}, and ${taken}` : `${says}; ${taken}`;
  const why: Reason = { kind: "state", sentence, object, name };
  return writer.failed === undefined ? why : { ...why, failed: writer.failed };
}

const COLOURS = ["red", "yellow", "green"];
const RESULT = 0xffn;

/** Frames of one colour, or those with some bits in a register. */
function takenFrames(writer: ActionStep, { field, wanted, mask, value }: MatchTerm): string {
  const isColour = resultOf(writer) === RESULTS.colour && (mask & RESULT) === RESULT;
  const colour = isColour ? COLOURS[Number(value & RESULT)] : undefined;
  return colour === undefined ? `register ${registerOf(field.name)} ${wanted}` : `${colour} frames`;
}

interface ResultText {
  readonly object: string;
  /** The largest result; absent where a frame does not choose it. */
  readonly last?: bigint;
  readonly says: (value: number) => string;
}

/** The objects whose state gives a result, and what the result says of the frame. */
const RESULTS: Readonly<Record<StateResult, ResultText>> = {
  colour: { object: "meter", last: 2n, says: (value) => `coloured the frame ${COLOURS[value] ?? value}` },
  flag: {
    object: "first-hit flag",
    says: (value) => `was ${value === 0 ? "not set: this is the first hit" : "set already"}`,
  },
  syndrome: {
    object: "connection",
    last: 0xffn,
    says: (value) => `found the frame ${syndromeText(value)} (syndrome ${value})`,
  },
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

/**
 * Whether a stateful action stopped a frame before a rule: it fails the rule by a result that let frames not pass, or that is
 * none of the results that the rule expects.
 */
export function isStopped(walked: Walked, visit: Visit, match: CompiledMatch): boolean {
  return match.some((one) => {
    if (distanceOf(one, viewOf(visit)) === 0) return false;
    const writer = stateWriter(walked, visit, one.term.field.name);
    const last = writer === null ? undefined : resultOf(writer)?.last;
    return writer !== null && (writer.failed !== undefined || last === undefined || one.term.value > last);
  });
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
