/** The pane "Totals". */
import type { JSX } from "preact";

export function Answers(): JSX.Element {
  return (
    <section class="pane" aria-labelledby="pane-totals">
      <h2 id="pane-totals">Totals</h2>
    </section>
  );
}
