/** What a campaign prints. */
import type { Target } from "../target.js";
import type { SliceLine } from "./log.js";
import type { Sums } from "./sums.js";

/** `parser     checked  1,234,567 frames, 4,000/s  corpus 120, 45.2 % of the core, last new 12 s ago` */
export function lineText({ name, unit, guide }: Target, { stage, units, seconds }: SliceLine, sums: Sums): string {
  const all = Object.values(sums.units).reduce((sum, one) => sum + one, 0);
  const rate = whole(units / Math.max(seconds, 0.001));
  const what = `${name.padEnd(14)} ${stage.padEnd(8)} ${whole(all)} ${unit}, ${rate}/s`;
  if (guide === null) return what;
  return `${what.padEnd(64)} corpus ${sums.corpus}, ${reachedText(guide, sums)}, nothing new for ${whole(sums.sinceKept)} s`;
}

export function reachedText(guide: "core" | "host", { reached, all }: Pick<Sums, "reached" | "all">): string {
  if (guide === "host") return `${whole(reached)} functions of src/`;
  return `${((100 * reached) / Math.max(all ?? 0, 1)).toFixed(1)} % of the core`;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
