/** Why a device does not take a rule as a dump has it: only a dump that is damaged, or put together by hand, has such rules. */
import { SteeringError } from "../../../errors.js";
import { maskOf, matchOf, type MatchFields } from "../../../model/match/match.js";
import type { ScenarioRuleAction } from "../../../scenario/action/definition.js";
import type { ImportedAction } from "./actions.js";
import type { DumpDomain, DumpTable } from "./tree.js";

type ActionObject = Exclude<ScenarioRuleAction, string>;

const ENDS = ["queue", "tir", "table", "vport"] as const satisfies readonly (keyof ActionObject)[];
/** Only frames for a host have a tag and reach a queue (mlx5dv_dr: Actions). */
const OF_A_HOST = ["tag", "queue", "tir"] as const satisfies readonly (keyof ActionObject)[];

/** The action, or why it cannot be in the rule of a table after the actions before it. */
export function fitting(
  action: ImportedAction,
  before: readonly ScenarioRuleAction[],
  { domain: { type } }: DumpTable,
): ImportedAction {
  if (typeof action === "object" && "refused" in action) return action;
  const refused = actionMisfit(action, before, type);
  return refused === null ? action : { refused };
}

function actionMisfit(
  action: ScenarioRuleAction,
  before: readonly ScenarioRuleAction[],
  type: DumpDomain["type"],
): string | null {
  if (isEnd(action) && before.some(isEnd)) return "another action of it already ends the rule";
  if (has(action, ["tag"]) && before.some((one) => has(one, ["tag"]))) return "a frame carries one tag";
  if (has(action, OF_A_HOST) && type !== "nic_rx") return "only rules of the domain nic_rx have it";
  if (has(action, ["vport"]) && type !== "fdb") return "only rules of the domain fdb have it";
  return null;
}

function isEnd(action: ScenarioRuleAction): boolean {
  return action === "drop" || action === "default_miss" || has(action, ENDS);
}

function has(action: ScenarioRuleAction, keys: readonly (keyof ActionObject)[]): boolean {
  return typeof action === "object" && keys.some((key) => action[key] !== undefined);
}

/** @returns why no frame can match the fields; null if one can */
export function matchMisfit(match: MatchFields): string | null {
  return refusalOf(() => matchOf("match", match));
}

/** @returns why no matcher has the mask; null if one can */
export function maskMisfit(mask: MatchFields): string | null {
  return refusalOf(() => maskOf("mask", mask));
}

function refusalOf(make: () => unknown): string | null {
  try {
    make();
    return null;
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    const { path = "", hint } = error;
    return `no device accepts its ${path.replace(".", " ")}${hint === undefined ? "" : `: ${hint}`}`;
  }
}
