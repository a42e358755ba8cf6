/** The rules of the core with their names, compiled for comparison. */
import type { RuleContent, StoredRule, TracedCore } from "../../engine/tracedCore.js";
import type { InstalledRule } from "../../model/base/installed.js";
import type { Device } from "../../model/device/device.js";
import { ruleRef, tableRef } from "../trace/names.js";
import type { RuleRef, TableRef } from "../trace/trace.js";
import { ruleText, tableText } from "./reasons/describe.js";
import { compileMatch, scoreOf, type CompiledMatch } from "./compare.js";
import { viewOf, type Visit } from "./walked.js";

/** A rule of a table. */
export interface RuleNode {
  /** The address of its table. */
  readonly table: number;
  readonly stored: StoredRule;
  readonly object: InstalledRule;
}

const COMPILED = new WeakMap<RuleContent, CompiledMatch>();

/** Names and matches of rules, from the copy of the traced core. */
export class RuleReader {
  readonly device: Device;
  readonly traced: TracedCore;

  constructor({ device, traced }: { readonly device: Device; readonly traced: TracedCore }) {
    this.device = device;
    this.traced = traced;
  }

  /** The rules of a table by rank. */
  rulesOf(table: number): RuleNode[] {
    return this.traced.rulesOf(table).map((stored) => this.nodeOf(table, stored));
  }

  /** The rule at an address. */
  ruleAt(table: number, address: number): RuleNode {
    return this.nodeOf(table, this.traced.storedRule(address));
  }

  /** A rule of a table as a node. */
  nodeOf(table: number, stored: StoredRule): RuleNode {
    return { table, stored, object: this.device.installed.at(stored.id) };
  }

  contentOf({ stored }: RuleNode): RuleContent {
    return this.traced.contentOf(stored);
  }

  matchOf(node: RuleNode): CompiledMatch {
    const content = this.contentOf(node);
    let match = COMPILED.get(content);
    if (match === undefined) COMPILED.set(content, (match = compileMatch(content)));
    return match;
  }

  /** How far the frame is from a rule at a lookup: 0 where it matches. */
  scoreAt(node: RuleNode, visit: Visit, limit?: number): number {
    return scoreOf(this.matchOf(node), viewOf(visit), limit);
  }

  refOf({ object }: RuleNode): RuleRef {
    return ruleRef(object);
  }

  /** `rule "web"`, with its place where other rules have this name. */
  textOf(node: RuleNode): string {
    const ref = this.refOf(node);
    const text = ruleText(ref);
    if (!sharedNames(this).has(text)) return text;
    return `${text} of ${tableText(this.tableRefOf(node.table))} (priority ${ref.priority})`;
  }

  tableRefOf(table: number): TableRef {
    return tableRef(this.device, table, 0, this.traced.core);
  }
}

/** The names, as sentences have them, that several rules share: of a copy of a device's memory. */
const SHARED = new WeakMap<TracedCore, { readonly copy: number; readonly names: ReadonlySet<string> }>();

function sharedNames({ device, traced }: RuleReader): ReadonlySet<string> {
  const known = SHARED.get(traced);
  if (known?.copy === traced.copies) return known.names;
  const [seen, names] = [new Set<string>(), new Set<string>()];
  for (const one of device.installed) {
    const ref = ruleRef(one);
    // A flow may be several rules.
    if (ref.kind === "flow" || ref.kind === "connection") continue;
    const text = ruleText(ref);
    if (seen.has(text)) names.add(text);
    seen.add(text);
  }
  SHARED.set(traced, { copy: traced.copies, names });
  return names;
}

/** Whether a lookup considers a rule: its rank is not below that of the lookup. */
export function isConsidered({ stored }: RuleNode, { lowHigh, lowLow }: Visit): boolean {
  return stored.rankHigh > lowHigh || (stored.rankHigh === lowHigh && stored.rankLow >= lowLow);
}

/** Whether a rule comes before another one of its table. */
export function isBefore({ stored: a }: RuleNode, { stored: b }: RuleNode): boolean {
  return a.rankHigh < b.rankHigh || (a.rankHigh === b.rankHigh && a.rankLow < b.rankLow);
}
