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

/** The shape of a frame that reached what only the driver's own rules lead to. */
export const UNCLAIMED = "○";

interface VerdictProps {
  readonly verdict: VerdictName;
  /** Whether no rule took the frame but the driver's own. */
  readonly unclaimed?: boolean;
}

export function Verdict({ verdict, unclaimed = false }: VerdictProps): JSX.Element {
  return (
    <span class="verdict" data-verdict={verdict} data-unclaimed={unclaimed || undefined}>
      <span aria-hidden="true">{unclaimed ? UNCLAIMED : SHAPES[verdict]}</span> {verdict}
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
