/** The pane "Way". */
import type { JSX } from "preact";

export function Way(): JSX.Element {
  return (
    <section class="pane" aria-labelledby="pane-way">
      <h2 id="pane-way">Way</h2>
    </section>
  );
}
