/** Why a frame did not reach a target, and the rules nearest to it. */
import type { CoreSource } from "flowsteer";
import { nearest, why, whySend, type Explanation, type Near, type Target, type Trace } from "flowsteer/explain";
import type { Arrival } from "./position.js";
import { optionsOf, senderOf } from "./source.js";

/** Rules that are shown for a table where none matched, and rules that are looked at for them. */
const SHOWN = 3;
const LOOKED_AT = 64;

export async function whyOf(arrival: Arrival, target: Target, core: CoreSource): Promise<Explanation> {
  const { loaded, input } = arrival;
  const { device } = loaded;
  const sender = senderOf(arrival);
  if (sender !== null) return whySend(device, sender, input.bytes, target, { core, metadata: input.metadata ?? 0 });
  return why(device, input.port ?? 1, input.bytes, target, { core, ...optionsOf(arrival) });
}

/** The rules nearest to the frame in each table where it found none. */
export async function nearOf(arrival: Arrival, { steps }: Trace, core: CoreSource): Promise<Near[]> {
  const { loaded, input } = arrival;
  const missed = steps.flatMap((step) => (step.kind === "lookup" && step.rule === null ? [step.table] : []));
  if (missed.length === 0 || input.send !== undefined) return [];
  const near = await nearest(loaded.device, input.port ?? 1, input.bytes, LOOKED_AT, { core, ...optionsOf(arrival) });
  const keyOf = ({ domain, vport, table }: Near["table"]): string => `${domain}/${vport}/${table}`;
  const tables = new Set(missed.map(keyOf));
  return [...tables].flatMap((table) => near.filter((one) => keyOf(one.table) === table).slice(0, SHOWN));
}
