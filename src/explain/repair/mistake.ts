/** `mistakeIn`: the known mistake that a case looks like. */
import type { Mistake } from "../why/explanation.js";
import type { RepairContext } from "./context.js";
import { Facts } from "./facts.js";
import type { Detector, Finding } from "./finding.js";
import { BYTE_ORDER } from "./mistakes/byteOrder.js";
import { HEADERS } from "./mistakes/headers.js";
import { LOST_MISTAKES } from "./mistakes/lost.js";
import { ORDER } from "./mistakes/order.js";
import { FATE, PATH } from "./mistakes/path.js";
import { PLACES } from "./mistakes/places.js";
import { TUNNELS } from "./mistakes/tunnels.js";
import { VALUES } from "./mistakes/values.js";

/** Every detector; the first that finds something names the mistake. */
export const DETECTORS: readonly Detector[] = [
  ...PATH,
  ...BYTE_ORDER,
  ...PLACES,
  ...HEADERS,
  ...TUNNELS,
  ...VALUES,
  ...ORDER,
  ...FATE,
  ...LOST_MISTAKES,
];

/** The names of all known mistakes. */
export const MISTAKE_NAMES: readonly string[] = [...new Set(DETECTORS.map(({ name }) => name))];

/** The first detector that finds something, and what it found. */
export function recognized(facts: Facts): { readonly name: string; readonly finding: Finding } | null {
  for (const { name, detect } of DETECTORS) {
    const finding = detect(facts);
    if (finding !== null) return { name, finding };
  }
  return null;
}

/** The known mistake that the case looks like; null if it looks like none. */
export function mistakeIn(context: RepairContext): Mistake | null {
  const found = recognized(new Facts(context));
  return found === null ? null : { name: found.name, sentence: found.finding.sentence };
}
