/** The comparison: with which rules, what changed, and the selected frame before and after. */
import type { JSX } from "preact";
import type { Answer, ChangeGroup, FrameOutcome } from "../../engine/api.js";
import { countText } from "../../parts/format.js";
import { stale } from "../../state/answer.js";
import { baselineRefused, before, comparing, pinnedRules, pinRules, type Baseline } from "../../state/compare.js";
import { selectedFrame, way } from "../../state/selection.js";
import { End } from "./end.js";
import { isFiltered, toggleFilter } from "../filtering.js";
import { Limited } from "../limited.js";
import { ProvedChange } from "./provedChange.js";

export function Changes({ all }: { readonly all: Answer }): JSX.Element {
  const { changed, changes } = all;
  return (
    <section class="changes" aria-labelledby="totals-changes">
      <h3 id="totals-changes">Compare</h3>
      <Choice />
      {comparing.value === null ? (
        <p class="muted">
          Compare, edit a rule, and see here which frames end differently, and whether any other frame would.
        </p>
      ) : baselineRefused.value ? (
        <p class="error-text">The rules to compare with have an error. Pin rules without errors.</p>
      ) : (
        <>
          <ProvedChange />
          <h4>Frames of the list</h4>
          {changed === 0 && <p>Every frame ends up where it did before.</p>}
        </>
      )}
      <Limited
        items={changes}
        noun="change"
        list={(some) => (
          <ul class="groups" aria-label="Changes">
            {some.map((group) => (
              <li key={group.id}>
                <GroupButton group={group} />
              </li>
            ))}
          </ul>
        )}
      />
      <Selected />
    </section>
  );
}

const CHOICES: readonly (readonly [Baseline | null, string])[] = [
  [null, "Off"],
  ["opened", "Rules as opened"],
  ["pinned", "Pinned rules"],
];

function Choice(): JSX.Element {
  return (
    <div class="choice">
      <fieldset>
        <legend class="visually-hidden">Compare with</legend>
        {CHOICES.filter(([value]) => value !== "pinned" || pinnedRules.value !== null).map(([value, title]) => (
          <label key={title}>
            <input
              type="radio"
              name="compare-with"
              checked={comparing.value === value}
              onChange={() => (comparing.value = value)}
            />
            {title}
          </label>
        ))}
      </fieldset>
      <button type="button" disabled={stale.value} onClick={pinRules}>
        Pin these rules
      </button>
    </div>
  );
}

function GroupButton({ group }: { readonly group: ChangeGroup }): JSX.Element {
  const part = { change: group.id };
  return (
    <button
      type="button"
      class="group"
      aria-pressed={isFiltered(part)}
      onClick={() => {
        if (!isFiltered(part)) selectedFrame.value = group.first;
        toggleFilter(part);
      }}
    >
      <span>
        <End end={group.before} />
        <span aria-hidden="true">→</span>
        <span class="visually-hidden">now</span>
        <End end={group.after} />
      </span>
      <span class="bar-count">
        {countText(group.frames)}
        <span class="visually-hidden">{`${group.frames === 1 ? "frame" : "frames"}. Show only these`}</span>
      </span>
    </button>
  );
}

/** The selected frame before and after. */
function Selected(): JSX.Element | null {
  const was = before.value;
  const now = way.value;
  if (was === null || now === null || now.frame !== was.frame) return null;
  const { verdict, reason, to, copies, rules } = now.trace.outcome;
  const names = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);
  const after: FrameOutcome = {
    verdict,
    reason,
    to: names(to),
    copies: names(copies),
    rules,
    unclaimed: false,
    skipped: null,
  };
  return (
    <table class="before-after" aria-label={`Frame ${was.frame} before and after`}>
      <thead>
        <tr>
          <th scope="col">{`Frame ${countText(was.frame)}`}</th>
          <th scope="col">Before</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">Outcome</th>
          <td>
            <End end={was.outcome} />
          </td>
          <td>
            <End end={after} />
          </td>
        </tr>
        <tr>
          <th scope="row">Rules hit</th>
          <td>{rulesText(was.outcome)}</td>
          <td>{rulesText(after)}</td>
        </tr>
      </tbody>
    </table>
  );
}

function rulesText({ rules }: FrameOutcome): string {
  return rules.length === 0 ? "none" : rules.join(", ");
}
