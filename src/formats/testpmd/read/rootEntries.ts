/** Rules of group 0 for the same frames, which the kernel keeps as one entry (docs/drivers.md). */
import type { ScenarioRule } from "../../../scenario/rule/definition.js";
import type { Findings } from "../../reading/findings.js";
import type { Word } from "../../text/refusal.js";

interface Made {
  readonly rule: ScenarioRule;
  readonly word: Word;
  readonly file: string;
}

export class RootEntries {
  readonly #made: Made[] = [];

  add(rule: ScenarioRule, word: Word, file: string): void {
    this.#made.push({ rule, word, file });
  }

  /** Tells what becomes of a rule whose frames an older one has. @param living the rules that no command has destroyed */
  tell(living: ReadonlySet<object>, findings: Findings): void {
    const oldest = new Map<string, Made>();
    for (const one of this.#made.filter(({ rule }) => living.has(rule))) {
      const { table, matcher, priority, match } = one.rule;
      const key = JSON.stringify([table, matcher, priority, match]);
      const older = oldest.get(key);
      if (older === undefined) oldest.set(key, one);
      else {
        findings.file = one.file;
        findings.assume(one.word.place, "flow create", reasonOf(older, one));
      }
    }
  }
}

function reasonOf({ rule: older, word, file }: Made, { rule, file: own }: Made): string {
  const place = file === own ? `line ${word.place.line}` : `${file}:${word.place.line}`;
  const drops = ({ actions = [] }: ScenarioRule): boolean => actions.includes("drop");
  if (drops(older) !== drops(rule))
    return `the kernel refuses it (EEXIST): the rule of ${place} has the same frames, and ${drops(older) ? "drops" : "does not drop"} them`;
  if (JSON.stringify(older.actions) === JSON.stringify(rule.actions)) return `the rule of ${place} does the same`;
  return `the kernel makes one entry of it and the rule of ${place}, with the destinations of both, as with --profile connectx7; here ${place} takes the frames`;
}
