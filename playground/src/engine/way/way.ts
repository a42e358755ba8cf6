/** Everything that happens to one frame. */
import type { CoreSource } from "flowsteer";
import { openExplainer, openTracer, type Explanation, type Near, type Target, type Trace } from "flowsteer/explain";
import type { LoadedQueue } from "flowsteer/scenario";
import type { FrameWay } from "../api.js";
import type { Arrival } from "./position.js";
import { snapshotsOf } from "./snapshots.js";

/** Rules that are shown for a table where none matched, and rules that are looked at for them. */
const SHOWN = 3;
const LOOKED_AT = 64;

const END: Target = { kind: "end" };

/** A queue that can send. */
type Sender = Extract<LoadedQueue["queue"], { readonly qp_num: number }>;

/** @param core the traced core */
export async function wayOf(frame: number, arrival: Arrival, core: CoreSource): Promise<FrameWay> {
  const { loaded, input } = arrival;
  const tracer = await openTracer(loaded.device, { core });
  const sender = senderOf(arrival);
  const trace =
    sender === null
      ? tracer.trace(input.port ?? 1, input.bytes, optionsOf(arrival))
      : tracer.traceSend(sender, input.bytes, { metadata: input.metadata ?? 0 });
  const { verdict } = trace.outcome;
  const why = verdict === "miss" || verdict === "drop" ? await whyOf(arrival, END, core) : null;
  const near = await nearOf(arrival, trace, core);
  return { frame, trace, snapshots: snapshotsOf(loaded.device, trace, input), why, near };
}

export async function whyOf(arrival: Arrival, target: Target, core: CoreSource): Promise<Explanation> {
  const { loaded, input } = arrival;
  const explainer = await openExplainer(loaded.device, { core });
  const sender = senderOf(arrival);
  if (sender !== null) return explainer.whySend(sender, input.bytes, target, { metadata: input.metadata ?? 0 });
  return explainer.why(input.port ?? 1, input.bytes, target, optionsOf(arrival));
}

/** The rules nearest to the frame in each table where it found none. */
async function nearOf(arrival: Arrival, { steps }: Trace, core: CoreSource): Promise<Near[]> {
  const { loaded, input } = arrival;
  const missed = steps.flatMap((step) => (step.kind === "lookup" && step.rule === null ? [step.table] : []));
  if (missed.length === 0 || input.send !== undefined) return [];
  const explainer = await openExplainer(loaded.device, { core });
  const near = explainer.nearest(input.port ?? 1, input.bytes, LOOKED_AT, optionsOf(arrival));
  const keyOf = ({ domain, vport, table }: Near["table"]): string => `${domain}/${vport}/${table}`;
  const tables = new Set(missed.map(keyOf));
  return [...tables].flatMap((table) => near.filter((one) => keyOf(one.table) === table).slice(0, SHOWN));
}

function senderOf({ loaded, input: { send } }: Arrival): Sender | null {
  const queue = send === undefined ? undefined : loaded.queues.get(send)?.queue;
  return queue !== undefined && "qp_num" in queue ? queue : null;
}

/** The clock of a device has 64 bits. */
function optionsOf({ input: { bytes, linkType = 1, wireLength = bytes.length, time = null } }: Arrival) {
  return { linkType, wireLength, time: time === null ? null : BigInt.asUintN(64, time) };
}
