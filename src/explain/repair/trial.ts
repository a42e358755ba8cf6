/** Tries changes on the copy of a device's memory in the traced core. Every change is taken back. */
import { RANK_SLOT } from "../../abi/engine.js";
import { insertRule, type CoreRule } from "../../engine/rules.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import type { InstalledRule } from "../../model/base/installed.js";
import { FlowEntry } from "../../model/flow/entry.js";
import { isVerbsFlow } from "../../model/flow/kinds.js";
import { declareVxlanPorts, type ParserDeclaration } from "../../model/base/parser.js";
import { trappingSlot } from "../../model/table/classifier.js";
import type { RuleChange, RuleInTable, Trial } from "./context.js";

/** The bits of the upper word of a rank below its slot. */
const BELOW_SLOT = 2 ** (RANK_SLOT - 32);

/**
 * Trials of a frame on a device. `comes` traces a frame on the copy as it is, and says whether it comes to the
 * target.
 */
export function trialOn(
  traced: TracedCore,
  { vxlanPorts }: ParserDeclaration,
  frame: Uint8Array,
  comes: (frame: Uint8Array) => boolean,
): Trial {
  return {
    frame: comes,
    rule: (rule, change) => withChange(traced, rule, change, () => comes(frame)),
    vxlanPorts: (ports, rule, change) => {
      declareVxlanPorts(traced.core, ports);
      try {
        return rule === undefined || change === undefined
          ? comes(frame)
          : withChange(traced, rule, change, () => comes(frame));
      } finally {
        declareVxlanPorts(traced.core, vxlanPorts);
      }
    },
  };
}

function withChange(traced: TracedCore, rule: RuleInTable, change: RuleChange, work: () => boolean): boolean {
  const { mask, value, ranges, dontTrap } = change;
  const isReplaced = mask !== undefined || value !== undefined || ranges !== undefined || dontTrap !== undefined;
  return isReplaced ? replaced(traced, rule, change, work) : reranked(traced, rule, rankOf(rule, change), work);
}

interface Rank {
  readonly rankHigh: number;
  readonly rankLow: number;
}

/** The rank after a change: the slot changes, the order of masks and rules stays. */
function rankOf({ inCore: { stored }, object }: RuleInTable, { priority, dontTrap }: RuleChange): Rank {
  const { rankHigh, rankLow } = stored;
  const own = dontTrap === true ? ownPriority(object) : undefined;
  const at = priority ?? own;
  if (at === undefined) return { rankHigh, rankLow };
  const slot = Math.floor(rankHigh / BELOW_SLOT);
  // Rules that let the frame continue have the slot before.
  const passing = (slot & 1) === 0 || dontTrap === true ? 1 : 0;
  return { rankHigh: (trappingSlot(at) - passing) * BELOW_SLOT + (rankHigh % BELOW_SLOT), rankLow };
}

/** The priority that a flow was made with. With DONT_TRAP, no profile puts it after all others. */
function ownPriority(object: InstalledRule): number {
  const [flow] = object instanceof FlowEntry ? object.flows.filter(isVerbsFlow) : [];
  return flow?.priority ?? 0;
}

function reranked(traced: TracedCore, { inCore: { stored } }: RuleInTable, rank: Rank, work: () => boolean): boolean {
  const { exports } = traced.core;
  exports.rerankRule(stored.address, rank.rankHigh, rank.rankLow);
  return takingBack(traced, work, () => exports.rerankRule(stored.address, stored.rankHigh, stored.rankLow));
}

/** A rule of the core after a change. */
export function changedCoreRule(rule: RuleInTable, change: RuleChange): CoreRule {
  const { mask = rule.mask, value = rule.value, ranges = rule.ranges, dontTrap } = change;
  const copies = dontTrap === true && rule.object instanceof FlowEntry;
  const actions = copies ? rule.object.record(true) : rule.actions;
  return { id: rule.inCore.stored.id, ...rankOf(rule, change), mask, value, ranges, actions };
}

/** The changed rule stands in the table, and the rule itself after all others. */
function replaced(traced: TracedCore, rule: RuleInTable, change: RuleChange, work: () => boolean): boolean {
  const { core } = traced;
  const { stored, table } = rule.inCore;
  const back = (): void => core.exports.rerankRule(stored.address, stored.rankHigh, stored.rankLow);
  // Ranks of a table are unique: the rule leaves its rank before the changed rule takes it.
  core.exports.rerankRule(stored.address, LAST, LAST - 1);
  const changed = insertRule(core, table, changedCoreRule(rule, change));
  if (changed === 0) {
    back();
    return false;
  }
  return takingBack(traced, work, () => {
    core.exports.removeRule(changed);
    back();
  });
}

/** A new copy of the memory has no change to take back, and the trial says nothing. */
function takingBack(traced: TracedCore, work: () => boolean, takeBack: () => void): boolean {
  const { copies } = traced;
  try {
    return work() && traced.copies === copies;
  } finally {
    if (traced.copies === copies) takeBack();
  }
}

/** The highest rank stands for "no rule". */
const LAST = 0xffffffff;
