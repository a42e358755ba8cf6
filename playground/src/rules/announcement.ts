/** What the pane tells screen readers, in its live region. */
import { signal } from "@preact/signals";

/** The last announcement. Set it to announce. */
export const announcement = signal("");
