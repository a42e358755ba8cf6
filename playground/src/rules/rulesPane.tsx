/** The pane "Rules": the editor. */
import type { JSX } from "preact";
import { refusals } from "../state/answer.js";
import { rules } from "../state/document.js";

export function RulesPane(): JSX.Element {
  return (
    <section class="pane" aria-labelledby="pane-rules">
      <h2 id="pane-rules">Rules</h2>
      <textarea
        aria-label="Rules"
        value={rules.value}
        onInput={(event) => {
          rules.value = event.currentTarget.value;
        }}
      />
      <ul>
        {refusals.value.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </section>
  );
}
