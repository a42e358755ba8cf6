/** Makes walked frames of dry runs: copies what the next dry run overwrites. */
import { headersIn } from "../../model/match/parseResult.js";
import type { TracedWalk, Tracer } from "../trace/tracer.js";
import type { Visit, Walked } from "./walked.js";

export function walkedOf({ device, traced }: Tracer, { trace, lookups }: TracedWalk): Walked {
  const visits = lookups.map(({ step, table, rule, key, low, high, snapshot }): Visit => {
    const { stopped } = headersIn(snapshot.map);
    return { step, table, rule, key: key.slice(), lowHigh: high, lowLow: low, stopped, bytes: snapshot.bytes.slice() };
  });
  return { device, traced, trace, visits };
}
