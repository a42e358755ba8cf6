/** The pane "Frames". */
import type { JSX } from "preact";

export function Frames(): JSX.Element {
  return (
    <section class="pane" aria-labelledby="pane-frames">
      <h2 id="pane-frames">Frames</h2>
    </section>
  );
}
