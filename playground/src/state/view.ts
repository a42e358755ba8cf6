/** Which views are open. */
import { effect, signal } from "@preact/signals";

/** Whether the totals are open above their strip. */
export const totalsOpen = signal(false);

/** The panes; where the page is narrow, each is a tab. */
export type PaneName = "rules" | "frames" | "way" | "totals";

const NARROW = matchMedia("(max-width: 799px)");
/** Whether the page is so narrow that it shows one pane at a time. */
export const narrow = signal(NARROW.matches);
NARROW.addEventListener("change", ({ matches }) => (narrow.value = matches));

/** The pane that a narrow page shows. */
export const shownPane = signal<PaneName>("frames");

/** The pane that fills the window; null while all are shown. */
export const filled = signal<PaneName | null>(null);

/** Lets a pane fill the window, or come back if it does. */
export function toggleFilled(pane: PaneName): void {
  filled.value = filled.peek() === pane ? null : pane;
  if (pane === "totals") totalsOpen.value = filled.peek() === pane;
}

effect(() => {
  if (!totalsOpen.value && filled.peek() === "totals") filled.value = null;
});

/** The tab of the totals and the opened totals are one on a narrow page. */
effect(() => {
  if (narrow.value) totalsOpen.value = shownPane.value === "totals";
});
effect(() => {
  if (!narrow.peek()) return;
  if (totalsOpen.value) shownPane.value = "totals";
  else if (shownPane.peek() === "totals") shownPane.value = "frames";
});
