/** Functions of a device have drivers of their own: what no rule takes is delivered to their queues. */
import type { KernelDriver } from "../drivers/driver.js";
import { receiverName } from "../drivers/madeRules.js";
import { ofFunction, type Draft } from "../formats/reading/draft.js";

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

/** The last priority of a host rule. */
const LAST = 65535;

/**
 * The kernel receives what no rule takes: on the PF, and on functions whose rules are the kernel's, unless queues of theirs
 * receive already.
 */
export function addHosts(draft: Draft, driver: KernelDriver): void {
  const hostRules = draft.list("hostRules");
  const tables = draft.list("tables").filter(({ domain = "nic_rx" }) => domain === "nic_rx");
  const receive = hostRules.filter(({ application }) => application === "nic");
  const known = new Set([...draft.list("queues"), ...tables, ...receive].map((one) => one.function ?? 0));
  draft.neededFor(draft.origin);
  for (const vport of new Set([0, ...hostRules.map((one) => one.function ?? 0)])) {
    if (known.has(vport)) continue;
    draft.push("hostRules", {
      name: draft.freeName("hostRules", receiverName(vport === 0 ? "PF" : `vf${vport}`)),
      description: `Of the driver ${driver.name}: the kernel receives what no rule takes.`,
      application: "nic",
      ...ofFunction(vport),
      priority: LAST,
      // MODEL: how many queues the kernel has is not in the text: all frames are in the first.
      action: { queue: 0 },
    });
  }
}
