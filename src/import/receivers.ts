/** Functions of an eSwitch have drivers of their own: what is forwarded to them is delivered to their queues. */
import { receiverName } from "../drivers/driver.js";
import type { Draft } from "../formats/reading/draft.js";

/** Adds a queue and a default flow to each VF that has neither queues nor tables of its own. */
export function addReceivers(draft: Draft): void {
  const known = new Set(
    [...draft.list("queues"), ...draft.list("tables"), ...draft.list("hostRules")].map((one) => one.function ?? 0),
  );
  draft.neededFor(draft.origin);
  for (let vf = 1; vf <= draft.vports; vf++) {
    if (known.has(vf)) continue;
    const queue = draft.freeName("queues", `vf${vf}`);
    draft.push("queues", { name: queue, description: "Of the driver of the VF.", function: vf });
    draft.push("flows", { name: draft.freeName("flows", receiverName(`vf${vf}`)), queue, type: "all_default" });
  }
}
