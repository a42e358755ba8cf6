/** Why no frame hits a rule: the rules before it that take all its frames, or the terms of its match that exclude each other. */
import { ruleText, listText } from "../../explain/why/reasons/describe.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { KEY_SIZE } from "../../abi/key.js";
import { writeField } from "../../model/match/fields.js";
import { termsOf, type KeyMatch, type MatchTerm } from "../../explain/match/terms.js";
import type { Proof, ProofTerm } from "../answer.js";
import { ParsedKey } from "../keys/parsedKey.js";
import type { Literal } from "../literal.js";
import { anyArrival } from "../path/arrival.js";
import { Chain } from "../path/chain.js";
import type { State } from "../path/knownWays.js";
import { requireMatch } from "../path/ruleMatch.js";
import type { World } from "../path/world.js";
import { Solver } from "../solver/solver.js";

/** Conflicts of a call of the solver that only makes a proof smaller. */
const CONFLICTS = 5000;

interface ProofOptions {
  readonly whole?: boolean;
  readonly looped?: boolean;
  readonly reaching?: State;
}

export class Prover {
  readonly #world: World;
  readonly #solver = new Solver();

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * Why no key hits a rule at its table, however frames come there; null if some key does, or if that is not known.
   * @param whole whether keys have all bits that rules of the table ask for: slower, and misses no proof
   * @param looped whether frames that a port loops back may pass over rules of their sender
   * @param reaching what the keys have in common; without it, nothing
   */
  atTable(
    rule: RuleNode,
    { whole = false, looped = this.#world.graph.hasLoops, reaching }: ProofOptions = {},
  ): Proof | null {
    const solver = this.#solver;
    solver.reset();
    const key = new ParsedKey(solver, anyArrival(this.#world.tracer.device, solver));
    const slot = this.#world.latestSlot(rule.table, rule);
    const chain = new Chain(this.#world, solver, key, [], {
      table: rule.table,
      target: rule,
      names: true,
      slot,
      looped,
    });
    if (whole) chain.askAll();
    if (reaching !== undefined) requireMatch(solver, { ...reaching, ranges: [] }, key);
    if (chain.solve() !== false) return null;
    const named = chain.possible ? this.#minimal([...solver.failed]) : [];
    if (named.length === 0) return this.#contradiction(rule);
    const by = named
      .map((literal) => this.#world.rules.refOf(chain.named.get(literal) as RuleNode))
      .sort((a, b) => a.id - b.id);
    const take = by.length === 1 ? "takes" : "take";
    return { kind: "covered", sentence: `${listText(by.map(ruleText))} ${take} all its frames`, by };
  }

  /** Assumptions that cannot hold together; without any one of them the others can. */
  #minimal(failed: readonly Literal[]): Literal[] {
    let kept = [...failed];
    for (const literal of failed) {
      if (!kept.includes(literal)) continue;
      const rest = kept.filter((one) => one !== literal);
      if (this.#solver.solve(rest, CONFLICTS) === false) kept = rest.filter((one) => this.#solver.failed.includes(one));
    }
    return kept;
  }

  #contradiction(rule: RuleNode): Proof {
    const content = this.#world.contentOf(rule);
    const solver = this.#solver;
    solver.reset();
    const key = new ParsedKey(solver, anyArrival(this.#world.tracer.device, solver));
    const terms = new Map<Literal, MatchTerm>();
    for (const term of termsOf(content)) {
      const when = solver.newVariable();
      terms.set(when, term);
      requireMatch(solver, matchOf(term, content), key, [when]);
    }
    const excluding: ProofTerm[] = [];
    if (solver.solve([...terms.keys()], CONFLICTS) === false) {
      for (const literal of this.#minimal([...solver.failed])) {
        const { field, wanted } = terms.get(literal) as MatchTerm;
        excluding.push({ field: field.name, wanted });
      }
    }
    const texts = excluding.map(({ field, wanted }) => `${field} ${wanted}`);
    const sentence =
      texts.length === 0
        ? "its match excludes every frame"
        : `no frame has ${listText(texts, texts.length)}${texts.length > 1 ? " together" : ""}`;
    return { kind: "contradiction", sentence, terms: excluding };
  }
}

/** The part of a match that one of its terms says. */
export function matchOf({ field, mask, value, range }: MatchTerm, content: KeyMatch): KeyMatch {
  const match = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE) };
  writeField(match.mask, field, mask);
  writeField(match.value, field, value);
  if (field.here !== null) {
    const { word, bit } = field.here;
    for (let byte = 0; byte < 4; byte++) {
      const bits = (bit >>> (24 - 8 * byte)) & 0xff;
      match.mask[word + byte] = bits;
      match.value[word + byte] = bits;
    }
  }
  return { ...match, ranges: range === null ? [] : content.ranges.filter((one) => isOf(one, field)) };
}

function isOf({ dword, shift, fieldMask }: KeyMatch["ranges"][number], field: MatchTerm["field"]): boolean {
  const width = 32 - Math.clz32(fieldMask);
  return dword * 8 + 32 - shift - width === field.bit && width === field.width;
}
