/** What a step read and changed: fields, state, registers. */
import type { ComponentChildren, JSX } from "preact";
import { hashClauses, type StateChange, type TraceStep } from "flowsteer/explain";
import { fieldName } from "../../state/ownWords.js";
import { selectedField, selectedStep, way } from "../../state/selection.js";
import { Differences } from "../why/differences.js";
import { tableId } from "../picture/names.js";
import { ruleText, valuesText } from "./stepText.js";
import { registersAt } from "./registers.js";

/** Changes beyond these are shown after a click. */
const SHOWN = 6;

export function StepDetail({ step }: { readonly step: TraceStep }): JSX.Element {
  return (
    <div class="step-detail">
      {step.kind === "lookup" && <Matched step={step} />}
      {step.kind === "parse" && step.stopped !== null && <Stopped step={step} />}
      {step.kind === "action" && <Changed step={step} />}
      {step.kind === "action" && <Reasons step={step} />}
      {(step.kind === "action" || step.kind === "destination") && <States states={step.state} />}
      <Registers />
    </div>
  );
}

interface FieldRowProps {
  readonly field: string;
  /** The name of the rule that matches it. */
  readonly rule?: string;
  readonly children: ComponentChildren;
}

function FieldRow({ field, rule, children }: FieldRowProps): JSX.Element {
  const pressed = selectedField.value === field;
  return (
    <li>
      <button
        type="button"
        class="field quiet mono"
        aria-pressed={pressed}
        onClick={() => void (selectedField.value = pressed ? null : field)}
      >
        {fieldName(field, rule ?? null)}
      </button>{" "}
      <span class="mono">{children}</span>
    </li>
  );
}

function Matched({ step }: { readonly step: TraceStep & { readonly kind: "lookup" } }): JSX.Element | null {
  const { rule } = step;
  if (rule === null) return <Missed step={step} />;
  if (step.matched.length === 0) return <p class="muted">The rule matches every frame.</p>;
  return (
    <ul class="fields">
      {step.matched.map(({ field, wanted, found }) => (
        <FieldRow key={field} field={field} rule={rule.name}>
          {found}
          {wanted !== found && wanted !== "any" && <span class="muted"> in {wanted}</span>}
          {wanted === "any" && <span class="muted"> (any value)</span>}
        </FieldRow>
      ))}
    </ul>
  );
}

/** The nearest rules of a table in which no rule matched. */
function Missed({ step }: { readonly step: TraceStep & { readonly kind: "lookup" } }): JSX.Element | null {
  const id = tableId(step.table);
  const near =
    way.value?.near.filter(({ table, differences }) => tableId(table) === id && differences.length > 0) ?? [];
  if (near.length === 0) return null;
  return (
    <>
      {near.map(({ rule, differences }) => (
        <div key={rule.id} class="near">
          <p>nearest: {ruleText(rule)}</p>
          <Differences differences={differences} rule={rule.name} />
        </div>
      ))}
    </>
  );
}

function Stopped({ step }: { readonly step: TraceStep & { readonly kind: "parse" } }): JSX.Element | null {
  if (step.stopped === null) return null;
  const { header, field, wanted, had, reason } = step.stopped;
  return (
    <p>
      Parsing stopped in {header} at {field}: {reason.replaceAll("_", " ")}, {wanted} bytes needed, {had} there.
    </p>
  );
}

function Changed({ step }: { readonly step: TraceStep & { readonly kind: "action" } }): JSX.Element | null {
  const { fields } = step;
  if (fields.length === 0) return null;
  const row = ({ field, before, after }: (typeof fields)[number]): JSX.Element => (
    <FieldRow key={field} field={field}>
      {before ?? "absent"} → {after ?? "absent"}
    </FieldRow>
  );
  return (
    <>
      <ul class="fields">{fields.slice(0, SHOWN).map(row)}</ul>
      {fields.length > SHOWN && (
        <details>
          <summary>{fields.length - SHOWN} more fields changed</summary>
          <ul class="fields">{fields.slice(SHOWN).map(row)}</ul>
        </details>
      )}
    </>
  );
}

/** How RSS chose a queue, and the checks that the frame failed. */
function Reasons({ step }: { readonly step: TraceStep & { readonly kind: "action" } }): JSX.Element | null {
  const { hash, failed = [] } = step;
  const lines = [
    ...(hash === undefined ? [] : hashClauses(hash)),
    ...failed.map(({ sentence }) => `the frame ${sentence}`),
  ];
  if (lines.length === 0) return null;
  return (
    <ul class="fields">
      {lines.map((line) => (
        <li key={line}>{line.replaceAll("\u00a0", " ")}</li>
      ))}
    </ul>
  );
}

function States({ states }: { readonly states: readonly StateChange[] }): JSX.Element | null {
  const shown = states.filter(({ values }) => values.length > 0);
  if (shown.length === 0) return null;
  return (
    <ul class="fields states">
      {shown.map((state) => (
        <li key={`${state.object} ${state.name}`}>
          {state.object} <span class="mono">{state.name}</span>: <span class="mono">{valuesText(state)}</span>
        </li>
      ))}
    </ul>
  );
}

function Registers(): JSX.Element | null {
  const trace = way.value?.trace;
  const registers = trace === undefined ? [] : registersAt(trace, selectedStep.value);
  if (registers.length === 0) return null;
  return (
    <dl class="registers" aria-label="Registers">
      {registers.map(({ name, value, set }) => (
        <div key={name} data-set={set || undefined}>
          <dt>{name}</dt> <dd class="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
