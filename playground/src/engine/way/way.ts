/** Everything that happens to one frame. */
import type { CoreSource } from "flowsteer";
import { openTracer } from "flowsteer/explain";
import { isUnclaimed } from "flowsteer/import";
import type { FrameWay } from "../api.js";
import type { Arrival } from "./position.js";
import { optionsOf, senderOf } from "./source.js";
import { snapshotsOf } from "./snapshots.js";

/** @param core the traced core */
export async function wayOf(frame: number, arrival: Arrival, core: CoreSource): Promise<FrameWay> {
  const { loaded, input } = arrival;
  const tracer = await openTracer(loaded.device, { core });
  const sender = senderOf(arrival);
  const trace =
    sender === null
      ? tracer.trace(input.port ?? 1, input.bytes, optionsOf(arrival))
      : tracer.traceSend(sender, input.bytes, { metadata: input.metadata ?? 0 });
  const snapshots = snapshotsOf(loaded.device, trace, input);
  const { verdict } = trace.outcome;
  const lost = verdict === "miss" || verdict === "drop";
  const asked = lost || isUnclaimed(trace.outcome.rules);
  const missed = trace.steps.some((step) => step.kind === "lookup" && step.rule === null);
  if (!asked && !missed) return { frame, trace, snapshots, why: null, near: [] };
  // Its code is half of all explanations: it loads with the first frame that was lost.
  const { nearOf, whyOf } = await import("./why.js");
  const why = asked ? await whyOf(arrival, { kind: "end" }, core) : null;
  return { frame, trace, snapshots, why, near: await nearOf(arrival, trace, core) };
}
