/** The lesson of the tour that is open, which the history of the page has beside the text; null outside of the tour. */
import { signal } from "@preact/signals";

export const tourAt = signal<string | null>(null);
