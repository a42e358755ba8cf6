/** What meters, connections and first-hit flags answered. */
import type { JSX } from "preact";
import type { StateAnswers } from "../engine/api.js";
import { counted, countText, shareText } from "../parts/format.js";
import { Limited } from "./limited.js";

const KINDS: Readonly<Record<StateAnswers["kind"], string>> = {
  flow_meter: "meter",
  conn_track: "connection",
  first_hit: "first-hit flag",
};

export function States({ states }: { readonly states: readonly StateAnswers[] }): JSX.Element | null {
  if (states.length === 0) return null;
  return (
    <section aria-labelledby="totals-states">
      <h3 id="totals-states">Answers of state</h3>
      <Limited
        items={states}
        noun="object"
        list={(some) => (
          <dl class="states" aria-labelledby="totals-states">
            {some.map((state) => (
              <div key={`${state.kind} ${state.name}`}>
                <dt>
                  {KINDS[state.kind]} <code>{state.name}</code>
                </dt>
                <dd>{answersText(state)}</dd>
              </div>
            ))}
          </dl>
        )}
      />
    </section>
  );
}

function answersText({ answers }: StateAnswers): string {
  const whole = answers.reduce((sum, { frames }) => sum + frames, 0);
  if (whole === 0) return "no frame";
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) return `${only.answer}: ${counted(only.frames, "frame")}`;
  return answers
    .map(({ answer, frames }) => `${answer}: ${countText(frames)} (${shareText(frames, whole)})`)
    .join(", ");
}
