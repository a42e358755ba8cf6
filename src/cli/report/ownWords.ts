/** Explanations in the words of the text that the rules came from: its names of fields, and repairs as edits of it. */
import { parseJson } from "../../base/json.js";
import type { Explanation, Repair } from "../../explain/index.js";
import type { RuleWords, TextEdit } from "../../import/index.js";
import { frameWords } from "../../packet/index.js";
import type { Rules } from "../input/rules/rules.js";
import { elementsOfRules } from "./elements.js";

/** An explanation; repairs of rules that were imported are edits of their texts, too. */
export interface OwnExplanation extends Omit<Explanation, "repairs"> {
  readonly repairs: readonly OwnRepair[];
}

export interface OwnRepair extends Repair {
  /** The edits of the text that make this change. They were tried: the text is imported, and only this rule changes. */
  readonly edits?: readonly TextEdit[];
}

const FIELD = /\b(?:outer|inner|misc\d?|ext)\.\w+/g;
/** Keys of an explanation whose values are sentences. */
const SENTENCES = new Set(["sentence", "absent", "note"]);

/**
 * What match fields are called in the texts of the rules that a record names: as the rule itself names them, otherwise as
 * the first rule that does, and without one as a frame has them.
 */
export function namesOfFields(record: unknown, rules: Rules): (field: string, rule?: string) => string {
  const { imported } = rules;
  if (imported === null) return (field) => field;
  const { elements = {} } = elementsOfRules(record, rules);
  const byRule = new Map<string, Map<string, string>>();
  for (const rule of Object.keys(elements)) {
    byRule.set(rule, new Map(imported.words.fieldsOf(rule).map(({ field, name }) => [field, name])));
  }
  // A dump of the device has no words of its own.
  const otherwise = [...byRule.values()].some((names) => names.size > 0) ? frameWords : (field: string) => field;
  return (field, rule) => {
    const own = rule === undefined ? undefined : byRule.get(rule)?.get(field);
    return own ?? [...byRule.values()].find((names) => names.has(field))?.get(field) ?? otherwise(field);
  };
}

/** The explanation in own words; the same one for a scenario. */
export function inOwnWords(explanation: Explanation, rules: Rules): OwnExplanation {
  const { imported } = rules;
  if (imported === null) return explanation;
  const nameOf = namesOfFields(explanation, rules);
  const own = withSentences(explanation, nameOf, undefined) as Explanation;
  // What became of the frame later is no cause why the rule did not match.
  const isLater =
    own.target.kind === "rule" && own.reasons[0]?.kind === "no match" && own.mistake?.name === "no-default-flow";
  return {
    ...own,
    mistake: isLater ? null : own.mistake,
    repairs: own.repairs.map((repair) => ownRepair(repair, imported.words)),
  };
}

/** The sentences in a value; those about a rule in the words of the rule. */
function withSentences(
  value: unknown,
  nameOf: (field: string, rule?: string) => string,
  of: string | undefined,
): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => withSentences(one, nameOf, of));
  if (typeof value !== "object" || value === null) return value;
  const { rule } = value as { rule?: { name?: string } | string | null };
  const about = typeof rule === "string" ? rule : (rule?.name ?? of);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]: [string, unknown]) => [
      key,
      typeof one === "string" && SENTENCES.has(key)
        ? one.replace(FIELD, (field) => nameOf(field, about))
        : withSentences(one, nameOf, about),
    ]),
  );
}

function ownRepair(repair: Repair, words: RuleWords): OwnRepair {
  if (repair.of === "device") return { ...repair, sentence: portSentence(repair) ?? repair.sentence };
  if (repair.of !== "rule" || repair.rule === null) return repair;
  const edits = words.editsFor(repair.rule, repair.fields);
  if (edits === null) return { ...repair, sentence: orderSentence(repair) ?? repair.sentence };
  return { ...repair, sentence: edits.map(sentenceOf).join(" "), edits };
}

/** A UDP port that is registered for VXLAN: texts have no scenario, Linux has devices. */
function portSentence({ fields }: Repair): string | null {
  const port = (parseJson(fields[0]?.after ?? "[]") as number[]).at(-1);
  if (port === undefined) return null;
  return `Register UDP port ${port} for VXLAN, as the driver does for: ip link add NAME type vxlan dstport ${port} external.`;
}

/** A change of a priority alone: the number is the device's, which is not that of the text. */
function orderSentence({ rule, fields }: Repair): string | null {
  const [{ field, before, after } = { field: "", before: null, after: null }, ...more] = fields;
  if (field !== "priority" || more.length > 0 || before === null || after === null) return null;
  const where = Number(after) < Number(before) ? "earlier" : "later";
  return `Let rule "${rule}" come ${where}: in the device it has priority ${before}, and ${after} would do.`;
}

function sentenceOf({ file, line, before, after }: TextEdit): string {
  const change = after === "" ? `take out "${before.trim()}"` : `change "${before}" to "${after}"`;
  return `${file}:${line}: ${change}.`;
}
