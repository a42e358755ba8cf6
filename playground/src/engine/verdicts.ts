import type { VerdictName } from "flowsteer";

/** How frames end, in the order of the page. */
export const VERDICTS: readonly VerdictName[] = ["deliver", "forward", "transmit", "drop", "miss"];
