/** A verdict, by shape, colour and word. */
import type { JSX } from "preact";
import type { VerdictName } from "flowsteer";

/** The shape of each verdict, which says it without colour. */
export const SHAPES: Readonly<Record<VerdictName, string>> = {
  deliver: "●",
  forward: "▶",
  transmit: "▶",
  drop: "✕",
  miss: "▼",
};

export function Verdict({ verdict }: { readonly verdict: VerdictName }): JSX.Element {
  return (
    <span class="verdict" data-verdict={verdict}>
      <span aria-hidden="true">{SHAPES[verdict]}</span> {verdict}
    </span>
  );
}
