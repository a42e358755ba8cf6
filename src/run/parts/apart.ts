/**
 * Whether state is kept apart by the rules: whether all frames that can reach an object are between the same two addresses, or
 * have the same SPI. What cannot be seen from the document counts as shared.
 */
import { inCall } from "../../errors.js";
import { fieldNamed } from "../../model/match/fields.js";
import { fullMask, parseTerm } from "../../model/match/term.js";
import type { ScenarioHeaderChange } from "../../scenario/action/changes.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioFlow } from "../../scenario/flow/definition.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";
import { usesOfRules } from "../../scenario/state/use.js";

const FAMILIES = ["ipv4", "ipv6"] as const;

/** Why connections and first-hit flags are shared by several pairs of addresses; null where none is. */
export function connectionsApart(scenario: Scenario): string | null {
  const change = changesAddresses(scenario);
  if (change !== null) return change;
  const rules = new Map((scenario.rules ?? []).map((rule) => [rule.name, rule]));
  const pairs = new Map<string, string>();
  for (const [name, { uses }] of usesOfRules(scenario)) {
    const rule = rules.get(name);
    for (const use of uses) {
      const pair = rule === undefined ? null : pairOf(rule, scenario);
      if (pair === null) return `rule ${name} leads frames between any addresses to ${use.name}`;
      if ((pairs.get(use.name) ?? pair) !== pair) return `rules for different addresses lead to ${use.name}`;
      pairs.set(use.name, pair);
    }
  }
  return null;
}

/** Why associations are shared by several SPIs; null where none is. */
export function associationsApart({ flowActions = [], flows = [], ...rest }: Scenario): string | null {
  const { flowTables, flowEntries, deviceFlows } = rest;
  if ([flowTables, flowEntries, deviceFlows].some((section) => section !== undefined))
    return "ESP actions of flows in device bytes can meet any frame";
  const spis = new Map<string, number>();
  for (const { name, esp } of flowActions) {
    if (esp === undefined) continue;
    for (const flow of flows.filter((one) => namesAction(one, name))) {
      const spi = spiOf(flow);
      if (spi === null) return `flow ${flow.name ?? ""} leads frames of any SPI to ${name}`;
      if ((spis.get(name) ?? spi) !== spi) return `flows for different SPIs lead to ${name}`;
      spis.set(name, spi);
    }
  }
  return null;
}

/** Why the addresses that a rule matches may not be those of the frame as it came; null if they are. */
function changesAddresses({ rules = [], actions = [] }: Scenario): string | null {
  for (const { name, modify = [], reformat } of [
    ...actions,
    ...rules.flatMap((rule) => (rule.actions ?? []).map((one) => ({ name: rule.name, ...asObject(one) }))),
  ]) {
    if (reformat !== undefined) return `${name} changes the headers of frames`;
    if (modify.some(canChangeAddress)) return `${name} changes header fields of frames`;
  }
  return null;
}

type Written = { readonly modify?: readonly ScenarioHeaderChange[]; readonly reformat?: unknown };

function asObject(action: string | Written): Written {
  return typeof action === "string" ? {} : action;
}

function canChangeAddress(change: ScenarioHeaderChange): boolean {
  if (typeof change === "string") return true;
  return !/metadata/i.test(change.set ?? change.add ?? change.into ?? "");
}

/** The two addresses that all frames of a rule are between, in an order of their own; null if there may be several. */
function pairOf({ match = {}, matcher }: ScenarioRule, { matchers = [] }: Scenario): string | null {
  // The mask of a matcher may leave out bits of a value.
  if (matchers.find(({ name }) => name === matcher)?.mask !== undefined) return null;
  for (const family of FAMILIES) {
    const ends = ["src", "dst"].map((end) => `outer.${family}_${end}`).map((name) => onlyValue(name, match[name]));
    if (!ends.includes(null)) return `${family} ${ends.sort().join(" ")}`;
  }
  return null;
}

/** The only value that a term matches; null if there are several. */
function onlyValue(name: string, text: string | number | undefined): string | null {
  return inCall("divisionOf", () => {
    const field = fieldNamed(name);
    if (text === undefined || field === undefined) return null;
    const term = parseTerm(name, field, text);
    return term.kind === "bits" && term.mask === fullMask(field) ? String(term.value) : null;
  });
}

function namesAction({ specs = [] }: ScenarioFlow, name: string): boolean {
  return specs.some((spec) => spec !== "drop" && spec.action === name);
}

function spiOf({ specs = [] }: ScenarioFlow): number | null {
  for (const spec of specs) {
    if (spec === "drop" || spec.esp === undefined) continue;
    const { spi } = spec.esp;
    if (typeof spi === "number") return spi;
    // A value with a mask is several.
    if (typeof spi === "string" && /^(0x[\da-f]+|\d+)$/i.test(spi)) return Number(spi);
  }
  return null;
}
