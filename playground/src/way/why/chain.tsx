/** The whole chain of an explanation, and the nearest rules. */
import type { JSX } from "preact";
import type { Explanation, Near, RuleRef, TableRef } from "flowsteer/explain";
import { pipeline } from "../../state/answer.js";
import { ruleOf, tableOf } from "../picture/names.js";
import { ruleText, tableText } from "../steps/stepText.js";
import { selectRule } from "../view.js";
import { Differences } from "./differences.js";

export function Chain({ explanation }: { readonly explanation: Explanation }): JSX.Element {
  return (
    <ol class="chain" aria-label="Chain of reasons">
      {explanation.reasons.map((reason, i) => (
        <li key={i}>
          {reason.sentence}
          {reason.kind === "no match" && <Differences differences={reason.differences} rule={reason.rule.name} />}
        </li>
      ))}
    </ol>
  );
}

export function Nearest({ near }: { readonly near: readonly Near[] }): JSX.Element | null {
  if (near.length === 0) return null;
  return (
    <div class="nearest">
      <h3>Nearest rules</h3>
      <ul>
        {near.map(({ rule, table, differences }) => (
          <li key={`${rule.kind} ${rule.id}`}>
            <RuleButton rule={rule} table={table} /> <span class="muted">of {tableText(table)}</span>
            {differences.length === 0 ? (
              <p>It matches too; an earlier rule took the frame.</p>
            ) : (
              <Differences differences={differences} rule={rule.name} />
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A rule by name; it selects the rule everywhere. */
function RuleButton({ rule, table }: { readonly rule: RuleRef; readonly table: TableRef }): JSX.Element {
  const whole = pipeline.value;
  const path = whole === null ? undefined : ruleOf(tableOf(whole, table), rule)?.path;
  if (path === undefined) return <b>{ruleText(rule)}</b>;
  return (
    <button type="button" class="quiet" onClick={() => selectRule(path)}>
      {ruleText(rule)}
    </button>
  );
}
