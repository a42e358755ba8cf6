/** All targets, in the order in which a campaign takes them. */
import type { Target } from "../target.js";
import { bursts } from "./bursts.js";
import { calls } from "./calls.js";
import { captures } from "./captures.js";
import { commands } from "./commands.js";
import { connected, tracking } from "./connections.js";
import { control } from "./control.js";
import { esp, numbers } from "./esp.js";
import { explanations } from "./explanations.js";
import { faults } from "./faults.js";
import { flows } from "./flows.js";
import { frames } from "./frames.js";
import { importers, recordings } from "./importers.js";
import { messages } from "./messages.js";
import { parser } from "./parser.js";
import { pools } from "./pools.js";
import { rules, state } from "./rules.js";
import { scenarios } from "./scenarios.js";
import { snapshots } from "./snapshots.js";
import { soak } from "./soak.js";
import { times } from "./times.js";

export const TARGETS: readonly Target[] = [
  ...[parser, frames, rules, bursts, state, flows, calls, commands, captures, scenarios, importers, recordings],
  ...[snapshots, control, messages, esp, numbers, times, tracking, connected, explanations, pools, faults, soak],
];

/** @throws Error there is none of this name */
export function targetNamed(name: string): Target {
  const found = TARGETS.find((target) => target.name === name);
  if (found === undefined) throw new Error(`no target ${name}: ${TARGETS.map((target) => target.name).join(", ")}`);
  return found;
}
