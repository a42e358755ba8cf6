/** Actions of the page itself. */
import type { Command } from "../state/commands.js";
import { theme } from "../state/theme.js";
import { filled, shownPane, toggleFilled, type PaneName } from "../state/view.js";
import { showHelp, showKeys, showPalette, showTour } from "./openView.js";

export const PAGE_COMMANDS: readonly Command[] = [
  { id: "page.palette", title: "Search actions", key: "Ctrl+K", run: () => void showPalette() },
  { id: "page.keys", title: "List keys", key: "?", run: () => void showKeys() },
  { id: "page.help", title: "Help", key: "F1", run: () => void showHelp() },
  { id: "page.tour", title: "Start the tour", bar: "Tour", run: () => void showTour() },
  { id: "page.rules", title: "Go to rules", key: "1", run: () => goTo("rules") },
  { id: "page.frames", title: "Go to frames", key: "2", run: () => goTo("frames") },
  { id: "page.way", title: "Go to path", key: "3", run: () => goTo("way") },
  { id: "page.fill", title: "Fill the window with this pane, or show all", key: "z", run: fill },
  { id: "page.speed", title: "Measure speed in this browser", run: () => location.assign("./speed.html") },
  { id: "page.themeSystem", title: "Theme: system", run: () => (theme.value = "system") },
  { id: "page.themeLight", title: "Theme: light", run: () => (theme.value = "light") },
  { id: "page.themeDark", title: "Theme: dark", run: () => (theme.value = "dark") },
];

/** Shows a pane, and gives it the focus. */
function goTo(pane: "rules" | "frames" | "way"): void {
  shownPane.value = pane;
  if (filled.peek() !== null) filled.value = pane;
  requestAnimationFrame(() => document.getElementById(`panel-${pane}`)?.focus());
}

/** The pane that fills the window comes back; else the one with the focus fills it, or that of the path. */
function fill(): void {
  const place = document.activeElement?.closest(".place")?.id.replace("panel-", "") ?? "way";
  toggleFilled(filled.peek() ?? (place as PaneName));
}
