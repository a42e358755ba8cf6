/** Steps of a trace in words. */
import { headerChain, type RuleRef, type StateChange, type TableRef, type TraceStep } from "flowsteer/explain";
import { counted } from "../../parts/format.js";
import { pipeline } from "../../state/answer.js";
import { functionText, tableOf } from "../picture/names.js";

export interface StepWords {
  /** The kind of step, as short as it goes: "FDB", "queue". */
  readonly label: string;
  readonly text: string;
}

/** Labels of actions; others have the name of their operation. */
const LABELS: Readonly<Record<string, string>> = {
  table: "jump",
  root: "jump",
  queue_from_others: "queue",
  copy_queue: "copy",
  copy_from_others: "copy",
  copy_rss: "copy RSS",
  rss: "RSS",
  esp: "ESP",
  push_vlan: "push VLAN",
  pop_vlan: "pop VLAN",
  first_hit: "first hit",
  default_miss: "miss",
  pass_chain: "pass",
};

export function stepWords(step: TraceStep): StepWords {
  switch (step.kind) {
    case "parse":
      return { label: step.again ? "parsed again" : "parsed", text: headerChain(step) };
    case "lookup":
      return { label: step.table.domain.toUpperCase(), text: `${tableText(step.table)}, ${lookupText(step)}` };
    case "action":
      return { label: LABELS[step.action] ?? step.action.replaceAll("_", " "), text: actionText(step) };
    case "fork":
      return { label: "split", text: `off branch ${step.into}` };
    case "move":
      return { label: "move", text: moveText(step) };
    case "destination":
      return { label: step.copy ? "copy" : "to", text: destinationText(step) };
    case "end":
      return { label: "end", text: step.verdict + (step.reason === null ? "" : `: ${reasonText(step.reason)}`) };
  }
}

export function ruleText({ kind, name }: Pick<RuleRef, "kind" | "name">): string {
  return kind === "connection" ? `connection of ${name}` : `${kind} "${name}"`;
}

export function tableText(ref: TableRef): string {
  const { domain, vport, table } = ref;
  // A root table has the name that the document gives it.
  const whole = pipeline.value;
  const name = (whole === null ? undefined : tableOf(whole, ref)?.name) ?? table;
  return domain === "fdb" || vport === 0 ? `table ${name}` : `${functionText(vport)}, table ${name}`;
}

export function reasonText(reason: string): string {
  return reason.replaceAll("_", " ");
}

/** `packets 4 → 5, bytes 100`. */
export function valuesText({ values }: StateChange): string {
  return values
    .map(({ value, before, after }) => (before === after ? `${value} ${after}` : `${value} ${before} → ${after}`))
    .join(", ");
}

function lookupText({ rules, fromPriority, rule, passedOver }: TraceStep & { readonly kind: "lookup" }): string {
  const from = fromPriority === null ? "" : ` from priority ${fromPriority}`;
  if (rules === 0) return `no rules${from}`;
  const count = counted(rules, "rule") + from;
  if (rule === null) return `${count}, ${rules === 1 ? "which does not match" : "none matches"}`;
  return `${count}: ${ruleText(rule)} ${passedOver ? "skipped: not for frames of its own queue" : "matches"}`;
}

function actionText({ action, text, state, bytes }: TraceStep & { readonly kind: "action" }): string {
  const said = action === "table" ? `to table ${text}` : text;
  const grown = bytes.reduce((sum, { before, after }) => sum + after.length - before.length, 0) / 2;
  const values = state.length === 0 ? "" : state.map(valuesText).filter(Boolean).join(", ");
  const size = grown === 0 ? "" : `${counted(Math.abs(grown), "byte")} ${grown > 0 ? "more" : "fewer"}`;
  return [said, values, size].filter((one) => one !== "").join(", ");
}

function moveText({ to, cause }: TraceStep & { readonly kind: "move" }): string {
  const table = tableText(to);
  switch (cause) {
    case "jump":
      return `to ${table}`;
    case "resume":
      return `on in ${table}`;
    case "miss":
      return `not taken, to ${table}`;
    case "egress":
      return "to the FDB";
    case "vport":
      return `to ${functionText(to.vport)}`;
    case "fdb_default":
      return "to the PF, the default of the FDB";
    case "loopback":
      return "back through the port to its own receive rules";
  }
}

function destinationText({ to, copy, refused }: TraceStep & { readonly kind: "destination" }): string {
  if (refused !== null) return `${to} refuses it: ${reasonText(refused)}`;
  return copy ? `${to} gets a copy` : `${to} takes it`;
}
