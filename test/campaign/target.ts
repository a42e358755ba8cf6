/** A target: something that hostile input may reach, and what must be true of it. */
import type { Random } from "../oracle/generate/random.js";

/**
 * The cores that a target runs on: `debug` has assertions, `release` is published, `coverage` has assertions and tells
 * which of its statements and branches run.
 */
export const FLAVOURS = ["coverage", "debug", "release"] as const;
export type Flavour = (typeof FLAVOURS)[number];

/** Draws an input, runs it and compares. @returns how many it tried of what the target counts */
export type Run = (random: Random) => number | Promise<number>;

export interface Target {
  readonly name: string;
  /** What is drawn, and what must hold. */
  readonly about: string;
  /** What a run counts. */
  readonly unit: string;
  /**
   * Whose coverage tells that an input is worth keeping: that of `assembly/` or that of `src/`; null for a target that
   * compiles a module of its own.
   */
  readonly guide: "core" | "host" | null;
  /** Whether it changes the core with assertions, and has no release core. */
  readonly checkedOnly?: boolean;
  /**
   * Makes what runs share. The outcome of a run depends on its input only: what a run changes is made in it. Cores are
   * loaded by `loadCore()` or `createDevice()`, which take the flavour under way.
   */
  open(): Promise<Run>;
}
