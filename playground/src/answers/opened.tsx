/** All totals. */
import type { JSX } from "preact";
import type { Answer } from "../engine/api.js";
import { answer, stale } from "../state/answer.js";
import { Changes } from "./changes.js";
import { Counters } from "./counters.js";
import { Ends } from "./ends.js";
import { Expectations } from "./expectations.js";
import { Meters } from "./meters.js";
import { RuleHits } from "./ruleHits.js";
import { States } from "./states.js";

export function Totals(): JSX.Element | null {
  const all = answer.value;
  if (all === null || all.totals === null) return null;
  const { totals } = all;
  return (
    <div class="totals" id="totals" role="region" aria-label="All totals" tabIndex={0}>
      {stale.value && <p class="stale-note">These are the totals of the last rules without an error.</p>}
      <Changes all={all} />
      <Ends totals={totals} />
      <RuleHits totals={totals} />
      <Counters counters={totals.counters} />
      <Meters meters={totals.meters} />
      <States states={totals.states} />
      <Expectations totals={totals} />
      <Skipped all={all} />
    </div>
  );
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
            <b>{frames}</b> {why}
          </li>
        ))}
      </ul>
    </section>
  );
}
