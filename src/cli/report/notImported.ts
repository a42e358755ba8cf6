/** What an import left out of rules, for the reports of frames that hit them. */
import type { Scenario } from "../../scenario/index.js";
import { printable } from "../text.js";

/** A line for each element that the import left out of one of these rules. */
export function notImportedLines({ rules = [] }: Scenario, isAbout: (rule: string) => boolean): string[] {
  return rules.flatMap(({ name, notImported = [] }) =>
    isAbout(name) ? notImported.map((text) => `rule ${printable(name)} lacks ${printable(text)}`) : [],
  );
}

/** Whether a record names a rule: an object with its kind and name, however deep. */
export function namesRule(record: unknown, rule: string): boolean {
  if (typeof record !== "object" || record === null) return false;
  const { kind, name } = record as { readonly kind?: unknown; readonly name?: unknown };
  if (kind === "rule" && name === rule) return true;
  return Object.values(record).some((value) => namesRule(value, rule));
}
