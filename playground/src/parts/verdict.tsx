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

/** The shape of a copy, drawn: few fonts have U+29C9. */
export function CopyShape(): JSX.Element {
  return (
    <svg class="copy-shape" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d="M1 1h7v7h-7z M4 8v3h7v-7h-3" fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
