/** Where a frame comes in, as calls of the package take it. */
import type { LoadedQueue } from "flowsteer/scenario";
import type { Arrival } from "./position.js";

/** A queue that can send. */
type Sender = Extract<LoadedQueue["queue"], { readonly qp_num: number }>;

/** The queue that sends it; null for a frame that arrives. */
export function senderOf({ loaded, input: { send } }: Arrival): Sender | null {
  const queue = send === undefined ? undefined : loaded.queues.get(send)?.queue;
  return queue !== undefined && "qp_num" in queue ? queue : null;
}

/** The clock of a device has 64 bits. */
export function optionsOf({ input: { bytes, linkType = 1, wireLength = bytes.length, time = null } }: Arrival) {
  return { linkType, wireLength, time: time === null ? null : BigInt.asUintN(64, time) };
}
