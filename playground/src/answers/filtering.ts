/** Buttons that narrow the list of frames: pressed while the list is narrowed so, and pressed again they widen it. */
import type { FrameFilter } from "../engine/api.js";
import { filter } from "../state/selection.js";

type Key = keyof FrameFilter;

/** Whether the list is narrowed by all of these conditions. */
export function isFiltered(part: FrameFilter): boolean {
  return keysOf(part).every((key) => JSON.stringify(filter.value[key]) === JSON.stringify(part[key]));
}

/** Adds the conditions to those of the list, in place of others of the same kind, or takes them away. */
export function toggleFilter(part: FrameFilter): void {
  filter.value = isFiltered(part) ? without(filter.value, keysOf(part)) : { ...filter.value, ...part };
}

function without(all: FrameFilter, keys: readonly Key[]): FrameFilter {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !keys.includes(key as Key)));
}

function keysOf(part: FrameFilter): Key[] {
  return Object.keys(part) as Key[];
}
