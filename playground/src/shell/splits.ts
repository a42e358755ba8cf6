/** Where the dividers are: shares of the width and of the height that the panes have. */
import { recall, remember } from "../state/remembered.js";

export type SplitName = "columns" | "rows";

/** In percent: the width of the rules, the height of the frames. */
const DEFAULTS: Readonly<Record<SplitName, number>> = { columns: 40, rows: 28 };
export const MIN = 15;
export const MAX = 85;

const keyOf = (name: SplitName): string => `split.${name}`;

export function splitOf(name: SplitName): number {
  const kept = Number(recall(keyOf(name)) ?? Number.NaN);
  return Number.isFinite(kept) ? clamp(kept) : DEFAULTS[name];
}

/** Moves a divider. Null puts it back to where it was at first. @returns its place */
export function moveSplit(name: SplitName, percent: number | null): number {
  remember(keyOf(name), percent === null ? null : String(clamp(percent)));
  setSplits();
  return splitOf(name);
}

/** Gives the places to the style sheet. */
export function setSplits(): void {
  const { style } = document.documentElement;
  for (const name of ["columns", "rows"] as const) {
    style.setProperty(`--${name}-before`, `${splitOf(name)}fr`);
    style.setProperty(`--${name}-after`, `${100 - splitOf(name)}fr`);
  }
}

function clamp(percent: number): number {
  return Math.min(MAX, Math.max(MIN, Math.round(percent * 10) / 10));
}
