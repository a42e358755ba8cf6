/** What an import left out of rules, for the reports of frames that hit them. */
import type { LoadedScenario, Scenario } from "../../scenario/index.js";
import { printable } from "../text.js";

/** A line for each element that the import left out of one of these rules. */
export function notImportedLines({ rules = [] }: Scenario, isAbout: (rule: string) => boolean): string[] {
  return rules.flatMap(({ name, notImported = [] }) =>
    isAbout(name) ? notImported.map((text) => `rule ${printable(name)} lacks ${printable(text)}`) : [],
  );
}

/** The same of the rules that frames have hit. */
export function linesOfHitRules({ scenario, rules, tally }: LoadedScenario): string[] {
  return notImportedLines(scenario, (name) => {
    const rule = rules.get(name);
    return rule !== undefined && tally.rule(rule).frames > 0;
  });
}

/** Whether a record names a rule: an object with its kind and name, however deep. */
export function namesRule(record: unknown, rule: string): boolean {
  if (typeof record !== "object" || record === null) return false;
  const { kind, name } = record as { readonly kind?: unknown; readonly name?: unknown };
  if (kind === "rule" && name === rule) return true;
  return Object.values(record).some((value) => namesRule(value, rule));
}
