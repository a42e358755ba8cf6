/** Reasons held to the record of the traced core: who wrote, which value, what decided. */
import { expect } from "vitest";
import type { Explanation, Reason } from "../../../../src/explain/why/explanation.js";
import type { ActionStep, LookupStep, Trace, TraceStep } from "../../../../src/explain/trace/trace.js";

const actionsOf = (steps: readonly TraceStep[]): ActionStep[] =>
  steps.filter((step): step is ActionStep => step.kind === "action");
const lookupsOf = (steps: readonly TraceStep[]): LookupStep[] =>
  steps.filter((step): step is LookupStep => step.kind === "lookup");

/** Whether a trace says what a reason says. */
const CONFIRMS: { readonly [K in Reason["kind"]]: (reason: Extract<Reason, { kind: K }>, trace: Trace) => boolean } = {
  "changed on the way": ({ rule, action, field, before, after }, { steps }) =>
    actionsOf(steps).some((step) => {
      if (step.rule?.id !== rule.id || step.action !== action) return false;
      // A register that was written with the value that it had is written all the same.
      if (before === after) return step.registers?.includes(registerOf(field)) === true;
      return step.fields.some((one) => one.field === field && one.before === before && one.after === after);
    }),
  state: ({ name, sentence, failed = [] }, { steps }) =>
    actionsOf(steps).some(({ text, state, failed: checks = [] }) => {
      const isOfName = state.some((one) => one.name === name) || text.startsWith(name);
      const [, result = ""] = /: (red|yellow|green|[a-z ,]*valid[a-z ,]*) in C\d$/.exec(text) ?? [];
      const hasChecks = failed.every(({ sentence: check }) => checks.some((one) => one.sentence === check));
      return isOfName && sentence.includes(result) && hasChecks;
    }),
  "earlier rule": ({ by }, { steps }) => lookupsOf(steps).some(({ rule }) => rule?.id === by.id),
  "no match": ({ rule, table }, { steps }) =>
    lookupsOf(steps).some((step) => step.table.table === table.table && step.rule?.id !== rule.id),
  "not reached": ({ table, sentence }, { steps }) =>
    sentence.includes("at priority") ||
    !lookupsOf(steps).some((step) => step.table.table === table.table && table.table !== "root"),
  "other domain": ({ took }, { steps }) => took === null || lookupsOf(steps).some(({ rule }) => rule?.id === took.id),
  lost: ({ verdict, reason }, { steps }) =>
    steps.some(
      (step) =>
        (step.kind === "end" && step.verdict === verdict && step.reason === reason) ||
        (step.kind === "destination" && step.refused === reason),
    ),
  action: ({ rule }, { steps }) => lookupsOf(steps).some((step) => step.rule?.id === rule.id),
};

function registerOf(field: string): string {
  const [, letter = "", number = ""] = /metadata_reg_([ac])_?(\d?)$/.exec(field) ?? [];
  return letter.toUpperCase() + number;
}

/** The rule that wrote a register last before the first lookup in a table, for a frame without copies. */
function lastWriter({ steps }: Trace, register: string, table: string): string | null {
  const at = steps.findIndex((step) => step.kind === "lookup" && step.table.table === table);
  const writer = actionsOf(steps.slice(0, at)).findLast(({ registers }) => registers?.includes(register) === true);
  return writer?.rule?.name ?? null;
}

/** Checks each reason of an explanation, and the notes about writers. @returns the kinds that were checked */
export function confirm({ reasons, sentence }: Explanation, trace: Trace): string[] {
  const text = JSON.stringify({ sentence, reasons });
  const isForked = trace.steps.some(({ kind }) => kind === "fork");
  const kinds: string[] = reasons.map((reason) => {
    const confirms = CONFIRMS[reason.kind] as (reason: Reason, trace: Trace) => boolean;
    expect(confirms(reason, trace), `${reason.kind}: ${text}`).toBe(true);
    return reason.kind;
  });
  for (const reason of reasons) {
    if (reason.kind !== "no match" || isForked) continue;
    const { table } = reason.table;
    if (lookupsOf(trace.steps).filter((step) => step.table.table === table).length !== 1) continue;
    for (const { field, note } of reason.differences) {
      const [, name] = /^rule "(.*)" wrote it$/.exec(note ?? "") ?? [];
      if (name === undefined && note?.startsWith("no rule wrote") !== true) continue;
      expect(lastWriter(trace, registerOf(field), table), text).toBe(name ?? null);
      kinds.push(name === undefined ? "not written" : "written");
    }
  }
  return kinds;
}
