/** All totals. */
import type { ComponentChildren, JSX } from "preact";
import type { Answer } from "../engine/api.js";
import { countText } from "../parts/format.js";
import { answer, stale } from "../state/answer.js";
import { Changes } from "./compare/changes.js";
import { Counters } from "./counters.js";
import { Ends } from "./ends.js";
import { Expectations } from "./expectations.js";
import { Meters } from "./meters.js";
import { Overview } from "./overview.js";
import { RuleHits } from "./ruleHits.js";
import { States } from "./states.js";
import { amountText } from "./strip.js";

export function Totals(): JSX.Element | null {
  const all = answer.value;
  if (all === null || all.totals === null) return null;
  const { totals } = all;
  return (
    <div class="totals" id="totals" role="region" aria-labelledby="totals-title" tabIndex={0}>
      <h2 id="totals-title" class="visually-hidden">
        All totals
      </h2>
      {stale.value && <p class="stale-note">These totals are from the last rules without errors.</p>}
      <p class="amount muted">{amountText(all, totals)}</p>
      <Column>
        <Changes all={all} />
        <Expectations totals={totals} />
        <Skipped all={all} />
      </Column>
      <Column>
        <Ends totals={totals} />
      </Column>
      <Column class="wide">
        <RuleHits totals={totals} />
      </Column>
      <Column>
        <Overview all={all} />
      </Column>
      <Column>
        <Meters meters={totals.meters} />
        <Counters counters={totals.counters} />
        <States states={totals.states} />
      </Column>
    </div>
  );
}

function Column({
  class: name = "",
  children,
}: {
  readonly class?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return <div class={`column ${name}`}>{children}</div>;
}

function Skipped({ all }: { readonly all: Answer }): JSX.Element | null {
  const skipped = all.capture?.skipped ?? [];
  if (skipped.length === 0) return null;
  return (
    <section aria-labelledby="totals-skipped">
      <h3 id="totals-skipped">Not steered</h3>
      <ul class="lines">
        {skipped.map(({ why, frames }) => (
          <li key={why}>
            <b>{countText(frames)}</b> {why}
          </li>
        ))}
      </ul>
    </section>
  );
}
