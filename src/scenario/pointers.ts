/** Places of rules in a document as JSON pointers (RFC 6901), for programs that read answers about them. */
import type { Scenario } from "./document.js";
import { flowName, hostRuleName } from "./names.js";

/**
 * The JSON pointers of rules, flows, entries of flow tables, flows in device bytes and host rules, by their names in
 * outcomes.
 * @example
 *     rulePointers(scenario).get("http"); // "/rules/3"
 */
export function rulePointers(scenario: Scenario): ReadonlyMap<string, string> {
  const { rules = [], flows = [], flowEntries = [], deviceFlows = [], hostRules = [] } = scenario;
  return new Map([
    ...rules.map(({ name }, i) => [name, `/rules/${i}`] as const),
    ...flows.map((flow, i) => [flowName(flow, i), `/flows/${i}`] as const),
    ...flowEntries.map(({ name }, i) => [name, `/flowEntries/${i}`] as const),
    ...deviceFlows.map(({ name }, i) => [name, `/deviceFlows/${i}`] as const),
    ...hostRules.map((rule, i) => [hostRuleName(rule, i), `/hostRules/${i}`] as const),
  ]);
}
