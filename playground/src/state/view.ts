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

/** The tab of the totals and the opened totals are one on a narrow page. */
effect(() => {
  if (narrow.value) totalsOpen.value = shownPane.value === "totals";
});
effect(() => {
  if (!narrow.peek()) return;
  if (totalsOpen.value) shownPane.value = "totals";
  else if (shownPane.peek() === "totals") shownPane.value = "frames";
});
