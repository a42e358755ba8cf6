/** A rule of the document with other fields or another priority, as repairs say them. */
import type { FieldChange } from "flowsteer/explain";
import type { Scenario, ScenarioMatcher } from "flowsteer/scenario";
import { documentOf, withValue, without } from "../../text/json.js";
import { nodeAt } from "../../text/places.js";
import { termValue, withFlowChange } from "./flow.js";

/** Sections whose objects have rules; names are unique among all of them. */
const SECTIONS = ["rules", "flows", "flowEntries", "deviceFlows", "hostRules"] as const;
type Section = (typeof SECTIONS)[number];

/** What objects without a name are called. */
const UNNAMED: Readonly<Partial<Record<Section, string>>> = { flows: "flow", hostRules: "host rule" };

/** The pseudo field of a rule's priority. */
const PRIORITY = "priority";
/** The pseudo field of a flow's flags, separated by commas. */
const FLAGS = "flags";
/** The port at which a frame arrived. */
const PORT = "ext.port";

/**
 * The text with the changes made in a rule; null if the document has no such rule, or cannot say them.
 * @param name identical flows are one rule in the device, with their names joined by " = "
 */
export function withRuleChange(text: string, name: string, changes: readonly FieldChange[]): string | null {
  const document = documentOf(text) as Scenario | undefined;
  if (typeof document !== "object") return null;
  const names = pathOfRule(document, name) === null ? name.split(" = ") : [name];
  let after: string | null = text;
  for (const one of names) {
    const place = pathOfRule(document, one);
    if (place === null || after === null) return null;
    after = withChanges(after, document, place, changes);
  }
  return after;
}

interface RulePlace {
  readonly section: Section;
  readonly index: number;
}

function pathOfRule(document: Scenario, name: string): RulePlace | null {
  for (const section of SECTIONS) {
    const list: unknown = document[section];
    if (!Array.isArray(list)) continue;
    const index = list.findIndex(
      (one: { name?: string } | null, i) => (one?.name ?? `${UNNAMED[section] ?? ""} ${i + 1}`) === name,
    );
    if (index >= 0) return { section, index };
  }
  return null;
}

function withChanges(
  text: string,
  document: Scenario,
  { section, index }: RulePlace,
  changes: readonly FieldChange[],
): string | null {
  const path = `${section}[${index}]`;
  let fields = changes.filter(({ field }) => field !== PRIORITY && field !== FLAGS);
  const flags = changes.find(({ field }) => field === FLAGS)?.after;
  const rank = changes.find(({ field }) => field === PRIORITY)?.after;
  let after: string | null = text;
  if (section === "rules") after = withOwnPlace(text, document, index, changes);
  if (section === "flowEntries") after = withOwnMask(text, document, index, fields);
  if (after === null) return null;
  if (rank !== undefined && rank !== null) after = withValue(after, path, PRIORITY, Number(rank));
  if (flags !== undefined && flags !== null) after = withValue(after, path, FLAGS, flags.split(", "));
  const port = fields.find(({ field }) => field === PORT);
  if (port !== undefined && (section === "flows" || section === "hostRules")) {
    fields = fields.filter((one) => one !== port);
    after = port.after === null ? without(after, `${path}.port`) : withValue(after, path, "port", Number(port.after));
  }
  if (section === "flows") return withFlowChange(after, path, fields);
  for (const change of fields) after = withMatch(after, path, change);
  return after;
}

/** The text with a field of the match changed. A field that the document does not name is implied by others. */
function withMatch(text: string, path: string, { field, after }: FieldChange): string {
  if (after === null) return without(text, `${path}.match.${field}`);
  if (nodeAt(text, `${path}.match`) === null) return withValue(text, path, "match", { [field]: termValue(after) });
  return withValue(text, `${path}.match`, field, termValue(after));
}

/**
 * A rule of a matcher has the matcher's priority and masks. With others it leaves the matcher for its
 * table, so that the other rules of the matcher stay as they are.
 */
function withOwnPlace(
  text: string,
  { rules = [], matchers = [] }: Scenario,
  index: number,
  changes: readonly FieldChange[],
): string {
  const matcher = matchers.find(({ name }) => name === rules[index]?.matcher);
  if (matcher === undefined || changes.every((change) => keepsMatcher(matcher, change))) return text;
  const path = `rules[${index}]`;
  const placed = withValue(text, path, "table", matcher.table);
  return withValue(without(placed, `${path}.matcher`), path, PRIORITY, matcher.priority ?? 0);
}

function keepsMatcher({ mask }: ScenarioMatcher, change: FieldChange): boolean {
  return change.field !== PRIORITY && (mask === undefined || keepsMask(change));
}

/** Whether both values of a field have one mask. */
function keepsMask({ before, after }: FieldChange): boolean {
  if (before === null || after === null) return false;
  return (
    !isRange(before) &&
    !isRange(after) &&
    maskPart(before) === maskPart(after) &&
    (before === "any") === (after === "any")
  );
}

/** A range has a dash; no other value has. */
function isRange(term: string): boolean {
  return term.includes("-");
}

function maskPart(term: string): string {
  return term.split("/")[1] ?? "";
}

/** Entries of a group share a mask: it changes with an entry that has it alone. */
function withOwnMask(text: string, document: Scenario, index: number, changes: readonly FieldChange[]): string | null {
  if (changes.every(keepsMask)) return text;
  const { flowEntries = [], flowTables = [] } = document;
  const entry = flowEntries[index];
  const table = flowTables.findIndex(({ name }) => name === entry?.table);
  const groups = flowTables[table]?.groups ?? [];
  const within = (group: (typeof groups)[number], at: number): boolean =>
    group.start_flow_index <= at && at <= group.end_flow_index;
  const group = groups.findIndex((one) => entry !== undefined && within(one, entry.flow_index));
  const there = groups[group];
  if (entry === undefined || there === undefined) return null;
  const others = flowEntries.filter(
    (one) => one !== entry && one.table === entry.table && within(there, one.flow_index),
  );
  if (others.length > 0) return null;
  const path = `flowTables[${table}].groups[${group}]`;
  return changes
    .filter((change) => !keepsMask(change))
    .reduce((now, { field, after }) => {
      if (after === null) return without(now, `${path}.mask.${field}`);
      const mask = maskPart(after);
      const value = mask === "" ? "full" : /^\d+$/.test(mask) ? `/${mask}` : mask;
      if (there.mask === undefined) return withValue(now, path, "mask", { [field]: value });
      return withValue(now, `${path}.mask`, field, value);
    }, text);
}
