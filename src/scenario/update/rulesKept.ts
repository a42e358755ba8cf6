/**
 * Rules that stay when a document changes. The device must then have the order of a device that loads the new document: of
 * two rules of one matcher that both match, the older one wins.
 */
import { inCall } from "../../errors.js";
import { overlap, type MaskedBytes } from "../../base/bits.js";
import type { Rule } from "../../model/rule/rule.js";
import { matchOf } from "../../model/match/match.js";
import { impliedName } from "../objects.js";
import type { ScenarioRule } from "../rule/definition.js";
import type { Scenario } from "../document.js";
import { refersTo, type Gone } from "./gone.js";

export interface Standing {
  /** The names of living rules, and the rules. */
  readonly living: ReadonlyMap<string, Rule>;
  readonly gone: Gone;
  /** Matchers that stay, implied ones included. */
  readonly matcherStays: (name: string) => boolean;
}

/** The names of the rules that stay. */
export function rulesKept(old: Scenario, next: Scenario, standing: Standing): Set<string> {
  const kept = new Set<string>();
  const texts = new Map((old.rules ?? []).map((rule) => [rule.name, JSON.stringify(rule)]));
  const isSame = (rule: ScenarioRule): boolean =>
    texts.get(rule.name) === JSON.stringify(rule) &&
    standing.living.has(rule.name) &&
    standing.matcherStays(matcherName(rule)) &&
    !(rule.actions ?? []).some((action) => refersTo(standing.gone, action));
  const isRoot = inRootTable(next);
  // In root tables the age of each mask decides too: what follows the first change is made again.
  const before = (old.rules ?? []).filter(inRootTable(old));
  const after = (next.rules ?? []).filter(isRoot);
  for (const [i, rule] of after.entries()) {
    if (before[i]?.name !== rule.name || !isSame(rule)) break;
    kept.add(rule.name);
  }
  const others = (next.rules ?? []).filter((rule) => !isRoot(rule));
  for (const group of groupsOf(others, matcherName).values())
    for (const name of inOrder(group, isSame, standing.living)) kept.add(name);
  return kept;
}

/** Lists by a key of their elements, in the order of their first elements. */
export function groupsOf<T>(list: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

/** Tells the rules of root tables. */
export function inRootTable({ tables = [], matchers = [] }: Scenario): (rule: ScenarioRule) => boolean {
  const roots = new Set(tables.filter(({ level }) => level === 0).map(({ name }) => name));
  const tableOf = new Map(matchers.map(({ name, table }) => [name, table]));
  return ({ table, matcher = "" }) => roots.has(table ?? tableOf.get(matcher) ?? "");
}

/** The matcher of a rule: its own, or the one that its table and priority imply. */
export function matcherName({ matcher, table = "", priority = 0 }: ScenarioRule): string {
  return matcher ?? impliedName(table, priority);
}

/** The rules of one matcher that may stay: none follows a rule that overlaps it and is younger. */
function inOrder(
  group: readonly ScenarioRule[],
  isSame: (rule: ScenarioRule) => boolean,
  living: ReadonlyMap<string, Rule>,
): string[] {
  const ages = group.map((rule) => (isSame(rule) ? (living.get(rule.name) as Rule).sequence : null));
  const youngestAfter: number[] = [];
  let oldest = Infinity;
  for (let i = ages.length - 1; i >= 0; i--) {
    youngestAfter[i] = oldest;
    oldest = Math.min(oldest, ages[i] ?? Infinity);
  }
  const kept: string[] = [];
  /** Rules that are younger than some rule after them. */
  const late: { readonly age: number; readonly bits: MaskedBytes }[] = [];
  for (const [i, rule] of group.entries()) {
    const found = ages[i] ?? null;
    const bits = (): MaskedBytes => bitsOf(rule);
    const stays = found !== null && !late.some(({ age, bits: other }) => age > found && overlap(other, bits()));
    if (stays) kept.push(rule.name);
    const age = stays ? found : Infinity;
    if (age > (youngestAfter[i] ?? Infinity)) late.push({ age, bits: bits() });
  }
  return kept;
}

function bitsOf({ match = {} }: ScenarioRule): MaskedBytes {
  return inCall("updateScenario", () => matchOf("match", match));
}
