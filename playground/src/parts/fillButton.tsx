/** The button of a pane that lets it fill the window, and come back. */
import type { JSX } from "preact";
import { filled, narrow, toggleFilled, type PaneName } from "../state/view.js";
import { IconButton } from "./button.js";

export function FillButton({ pane }: { readonly pane: PaneName }): JSX.Element | null {
  // A narrow page shows one pane anyway.
  if (narrow.value) return null;
  const fills = filled.value === pane;
  return (
    <IconButton
      label={fills ? "Show all panes" : "Fill the window"}
      keyHint="z"
      class="quiet fill"
      onClick={() => toggleFilled(pane)}
    >
      <path d={fills ? "M6.5 2.5v4h-4M9.5 13.5v-4h4" : "M9.5 2.5h4v4M6.5 13.5h-4v-4"} />
    </IconButton>
  );
}
