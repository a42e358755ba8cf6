/** A rule changed in the copy of a device that its tracer made. */
import { insertRule } from "../../engine/rules.js";
import type { RuleChange, RuleInTable, TriedChange } from "../../explain/repair/context.js";
import { changedRule } from "../../explain/repair/ruleChange.js";
import { changedCoreRule } from "../../explain/repair/trial.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import { RuleReader, type RuleNode } from "../../explain/why/rules.js";

/** A rule of the core, and what it matches after the change. */
export interface Part {
  readonly node: RuleNode;
  readonly rule: RuleInTable;
  readonly change: RuleChange;
  readonly after: KeyMatch;
}

/** The rules of the core that a change is about: one for each direction of the eSwitch. Null if some cannot be changed. */
export function partsOf(tracer: Tracer, { rule, changes }: TriedChange): Part[] | null {
  const reader = new RuleReader(tracer);
  const { table, stored } = rule.inCore;
  const parts: Part[] = [];
  for (const node of reader.rulesOf(table)) {
    if (node.stored.id !== stored.id) continue;
    const own = { ...rule, ...reader.contentOf(node), inCore: { table, stored: node.stored } };
    const change = changedRule(own, changes);
    if (change === null) return null;
    const { mask = own.mask, value = own.value, ranges = own.ranges } = change;
    parts.push({ node, rule: own, change, after: { mask, value, ranges } });
  }
  return parts;
}

/** Changes rules in the copy. @returns the rules in their place; null if memory is full. The copy must be made again. */
export function changeCopy({ traced, device }: Tracer, parts: readonly Part[]): RuleNode[] | null {
  const { core } = traced;
  const addresses: number[] = [];
  for (const { rule, change } of parts) {
    const { stored, table } = rule.inCore;
    // The changed rule has an address of its own: what is known by the address of the rule stays true.
    core.exports.rerankRule(stored.address, LAST, LAST - 1);
    const address = insertRule(core, table, changedCoreRule(rule, change));
    core.exports.removeRule(stored.address);
    if (address === 0) return null;
    addresses.push(address);
  }
  traced.forget();
  const reader = new RuleReader({ device, traced });
  return addresses.map((address, i) => reader.ruleAt((parts[i] as Part).node.table, address));
}

/** The highest rank stands for "no rule". */
const LAST = 0xffffffff;
