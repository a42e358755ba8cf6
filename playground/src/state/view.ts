/** Which views are open. */
import { signal } from "@preact/signals";

/** Whether the totals are open above their strip. */
export const totalsOpen = signal(false);
