/**
 * Goals, as ratios: time of the peer by time of the engine. A goal is the same for all sets. A floor
 * is three quarters of the figure of a prototype, for each set that it was measured on.
 */
import type { Target } from "../harness.js";
import { FEW_SETS, type SetName } from "./ruleSets.js";

/** The size of a table; the trace is uniform unless stated otherwise. */
export type Workbench = "1k" | "10k" | "100k" | "10k mix";
export type PeerKind = "plain" | "scalar" | "vector";

const FLOOR = 0.75;

const GOALS: Record<PeerKind, Record<Workbench, number>> = {
  scalar: { "1k": 1.5, "10k": 3, "100k": 8, "10k mix": 1 },
  vector: { "1k": 0.9, "10k": 1.25, "100k": 1.5, "10k mix": 0.6 },
  plain: { "1k": 10, "10k": 18, "100k": 13, "10k mix": 15 },
};

/** In the order of FEW_SETS. */
const PROTOTYPE: Record<PeerKind, Record<Workbench, readonly [number, number, number]>> = {
  scalar: { "1k": [1.05, 1.9, 1.4], "10k": [2.05, 22.8, 5.2], "100k": [6, 10, 11], "10k mix": [0.65, 5.5, 1.1] },
  vector: { "1k": [0.65, 0.77, 0.66], "10k": [0.81, 5.4, 1.6], "100k": [1.2, 2.5, 1.8], "10k mix": [0.22, 1.8, 0.35] },
  plain: { "1k": [9.6, 28, 58], "10k": [18, 87, 139], "100k": [13, 53, 62], "10k mix": [17, 43, 64] },
};

export function target(set: SetName, size: Workbench, peer: PeerKind): Target {
  const goal = GOALS[peer][size];
  const prototype = PROTOTYPE[peer][size][FEW_SETS.findIndex((one) => one === set)];
  return prototype === undefined ? { goal } : { goal, floor: Math.round(FLOOR * prototype * 100) / 100 };
}

/** Against plain JavaScript, 10,000 rules. */
export const INSERT_GOAL = 1.5;
export const PAIR_GOAL = 2;
/** Of a table of 100,000 5-tuple rules. */
export const BYTES_GOAL = 80;
