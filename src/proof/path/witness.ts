/** Frames that were found, as plain data. */
import { hexOf } from "../../base/hex.js";
import type { Witness, WitnessFrame } from "../../explain/trace/witness.js";
import type { Prepared } from "./preparations.js";

/** A frame that was found, with the frames that must come before it. */
export function witnessOf({
  last,
  before,
}: {
  readonly last: Prepared;
  readonly before: readonly Prepared[];
}): Witness {
  return { ...plainFrame(last), before: before.map(plainFrame) };
}

function plainFrame({ frame, entry: { source }, metadata }: Prepared): WitnessFrame {
  return { bytes: hexOf(frame), from: source, ...(metadata === 0 ? {} : { metadata }) };
}
