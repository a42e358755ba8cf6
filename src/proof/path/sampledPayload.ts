/**
 * The payload that programmable samples read after changes of a frame. A formula does not say which bytes of the frame a
 * sample has by then: bytes that occur once in the payload show it, and are replaced by those that the sample should have.
 */
import { EXT_PRESENT_TUNNEL, MISC4, MISC4_SAMPLE_SIZE, PRESENT_SAMPLE, SAMPLE_COUNT } from "../../abi/key.js";
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { Solver } from "../solver/solver.js";
import { hasBit } from "./bits.js";
import type { Stage } from "./chain.js";
import { isSample, presenceBit } from "./levels.js";

const LENGTH = 128;
const SAMPLE_BITS = 32;

/** A payload whose bytes are all different. */
export function markedPayload(): Uint8Array {
  return Uint8Array.from({ length: LENGTH }, (_, i) => (167 * i + 13) & 0xff);
}

/** Whether a stage asks for samples. */
export function asksSamples({ key }: Stage): boolean {
  return key.asked.some(isSample);
}

/**
 * The payload with which samples at a stage have the values of the solver's solution.
 * @param lookup what a frame with the payload met at the stage
 * @returns null if the samples are those already, or are not in the payload
 */
export function correctedPayload(
  solver: Solver,
  stage: Stage,
  lookup: LookupRecord,
  payload: Uint8Array,
): Uint8Array | null {
  const corrected = payload.slice();
  let changed = false;
  for (let id = 0; id < SAMPLE_COUNT; id++) {
    const first = 8 * (MISC4 + id * MISC4_SAMPLE_SIZE);
    const wrong = stage.key.asked.filter((bit) => {
      return bit >= first && bit < first + SAMPLE_BITS && solver.value(stage.key.bit(bit)) !== hasBit(lookup.key, bit);
    });
    if (wrong.length === 0 || !hasBit(lookup.key, presenceBit(EXT_PRESENT_TUNNEL, PRESENT_SAMPLE << id))) continue;
    const at = placeOf(payload, lookup.key.subarray(first >> 3, (first >> 3) + 4));
    if (at < 0) continue;
    changed = true;
    for (const bit of wrong) {
      const place = at + ((bit - first) >> 3);
      corrected[place] = (corrected[place] as number) ^ (0x80 >> (bit & 7));
    }
  }
  return changed ? corrected : null;
}

/** Where four bytes are in a payload; -1 if they are not there, or twice. */
function placeOf(payload: Uint8Array, bytes: Uint8Array): number {
  const places = [...payload.keys()].filter((at) => bytes.every((byte, i) => payload[at + i] === byte));
  return places.length === 1 ? (places[0] as number) : -1;
}
