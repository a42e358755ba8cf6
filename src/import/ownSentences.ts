/** The sentences of a record, and what they say of differences. */
import type { Difference } from "../explain/index.js";

/** Keys of an explanation whose values are sentences. */
const SENTENCES = new Set(["sentence", "absent", "note", "others"]);

export function isDifference(value: object): value is Difference {
  return "wanted" in value && "found" in value && "field" in value;
}

/** "udp dst is 53, not 54 (note)", as a sentence has it. */
export function differenceText({ field, wanted, found, note }: Difference): string {
  return `${field} is ${found}, not ${wanted}${note === null ? "" : ` (${note})`}`;
}

export function inValues(sentence: string, said: ReadonlyMap<string, string>): string {
  let own = sentence;
  for (const [before, after] of said) own = own.replaceAll(before, () => after);
  return own;
}

/** The rule that a record is about. */
export function ruleOf(record: object): string | undefined {
  const { rule } = record as { rule?: { name?: string } | string | null };
  return typeof rule === "string" ? rule : rule?.name;
}

/** The sentences in a value; those about a rule in the words of the rule. */
export function withSentences(
  value: unknown,
  inOwn: (sentence: string, about: string | undefined) => string,
  of: string | undefined,
): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => withSentences(one, inOwn, of));
  if (typeof value !== "object" || value === null) return value;
  const about = ruleOf(value) ?? of;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]: [string, unknown]) => [
      key,
      typeof one === "string" && SENTENCES.has(key) ? inOwn(one, about) : withSentences(one, inOwn, about),
    ]),
  );
}
