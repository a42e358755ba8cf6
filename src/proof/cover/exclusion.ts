/** Why frames that reach a table cannot match a rule: the fields that they have there, and the rules that gave them these. */
import { listText, ruleText } from "../../explain/why/reasons/describe.js";
import { termsOf, type MatchTerm } from "../../explain/match/terms.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { readField, type Field } from "../../model/match/fields.js";
import type { RuleRef } from "../../explain/trace/trace.js";
import type { HeldField, ProofTerm } from "../answer.js";
import { ParsedKey } from "../keys/parsedKey.js";
import type { Literal } from "../literal.js";
import { anyArrival } from "../path/arrival.js";
import type { State } from "../path/knownWays.js";
import { requireMatch } from "../path/ruleMatch.js";
import type { World } from "../path/world.js";
import { minimalSubset } from "../solver/minimalSubset.js";
import { Solver } from "../solver/solver.js";
import { matchOf } from "./proofs.js";

/** Values of a field that are named. */
const MAX_VALUES = 3;
const CONFLICTS = 5000;

export interface Exclusion {
  /** The terms of the rule that exclude the frames. */
  readonly terms: readonly ProofTerm[];
  /** What the frames have in their place. */
  readonly held: readonly HeldField[];
  /** Continues "the frames that reach table "x" ": `cannot match outer.tcp_dport 21: they have ...`. */
  readonly text: string;
}

/** Null where nothing is known of the frames that excludes the rule by itself. */
export function exclusionOf(world: World, rule: RuleNode): Exclusion | null {
  const states = world.origins.statesAt(rule.table);
  const terms = new Map<string, ProofTerm>();
  const held = new Map<string, HeldField>();
  for (const state of states) {
    const found = conflict(world, rule, state);
    const [first] = found?.there ?? [];
    if (found === null || first === undefined) return null;
    for (const { field, wanted } of found.own) terms.set(field.name, { field: field.name, wanted });
    const one = { field: first.field.name, value: first.wanted, ...giversOf(world, rule.table, first.field, state) };
    held.set(`${one.field} ${one.value}`, one);
  }
  if (held.size === 0) return null;
  const all = [...held.values()];
  const own = [...terms.values()].map(({ field, wanted }) => `${field} ${wanted}`);
  const text = `cannot match ${listText(own)}: they have ${listText(all.map(heldText), MAX_VALUES)}`;
  return { terms: [...terms.values()], held: all, text };
}

function heldText({ field, value, by, written }: HeldField): string {
  if (by.length === 0) return `${field} ${value}`;
  const verb = written ? "write" : "match";
  return `${field} ${value}, which ${listText(by.map(ruleText))} ${by.length === 1 ? `${verb}${verb === "match" ? "es" : "s"}` : verb}`;
}

/** The terms of a rule and those of the frames at its table that exclude each other, as few as possible. */
function conflict(
  world: World,
  rule: RuleNode,
  state: State,
): { readonly own: readonly MatchTerm[]; readonly there: readonly MatchTerm[] } | null {
  const solver = new Solver();
  const key = new ParsedKey(solver, anyArrival(world.tracer.device, solver));
  const assume = (content: Parameters<typeof matchOf>[1]): Map<Literal, MatchTerm> => {
    const all = new Map<Literal, MatchTerm>();
    for (const term of termsOf(content)) {
      const when = solver.newVariable();
      all.set(when, term);
      requireMatch(solver, matchOf(term, content), key, [when]);
    }
    return all;
  };
  const own = assume(world.contentOf(rule));
  const there = assume({ ...state, ranges: [] });
  const isImpossible = (literals: readonly Literal[]): boolean => solver.solve(literals, CONFLICTS) === false;
  if (!isImpossible([...own.keys(), ...there.keys()])) return null;
  const least = minimalSubset([...own.keys(), ...there.keys()], isImpossible);
  const of = (terms: ReadonlyMap<Literal, MatchTerm>): MatchTerm[] =>
    least.flatMap((literal) => terms.get(literal) ?? []);
  return { own: of(own), there: of(there) };
}

/** The rules that frames at a table have the value of a field from: the nearest ones on each path. */
function giversOf(
  world: World,
  table: number,
  field: Field,
  state: State,
): { readonly by: readonly RuleRef[]; readonly written: boolean } {
  const { origins, rules } = world;
  const isSame = ({ mask, value }: Pick<State, "mask" | "value">): boolean =>
    readField(mask, field) === readField(state.mask, field) &&
    readField(value, field) === readField(state.value, field);
  const mayBe = ({ mask, value }: Pick<State, "mask" | "value">): boolean => {
    const known = readField(mask, field) & readField(state.mask, field);
    return (readField(value, field) & known) === (readField(state.value, field) & known);
  };
  const by = new Map<number, RuleRef>();
  let written = false;
  const seen = new Set<number>();
  const pending = [table];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    for (const edge of origins.edgesTo(at)) {
      if (!origins.gives(edge, mayBe)) continue;
      const { rule, from } = edge;
      const matches = rule !== null && isSame(world.contentOf(rule));
      const isWritten = edge.changes.length > 0 && !origins.statesAt(from).some(mayBe);
      if (rule !== null && (matches || isWritten)) {
        by.set(rule.stored.id, rules.refOf(rule));
        written ||= isWritten;
      } else pending.push(from);
    }
  }
  return { by: [...by.values()], written };
}
