/**
 * A SAT solver: conflict-driven clause learning as in MiniSat, on typed arrays.
 *
 * Own code, because a proof asks 100,000 questions of some hundred variables each, and each follows from the one before:
 * a clause more, other assumptions. An answer takes microseconds here; calls into a large solver cost more than its search
 * saves. The search goes on where the last one ended, so a clause that excludes a candidate changes a few values instead of
 * all. It runs in a browser and adds some kilobytes; Z3 for browsers has 30 megabytes and needs threads.
 */
import { TRUE, type Literal } from "../literal.js";
import { Analysis } from "./analysis.js";
import { Assignment, encode } from "./assignment.js";
import { Clauses } from "./clauses.js";
import { grown } from "./grown.js";

/** Conflicts until the first restart; later ones follow the Luby sequence. */
const RESTART = 64;
/** Learnt clauses that are kept at least; the limit grows with each reduction. */
const LEARNT = 2000;

/** What `Solver.mark` returns. */
export interface Mark {
  readonly variables: number;
  readonly facts: number;
  readonly clauses: number;
  readonly nodes: number;
  readonly satisfiable: boolean;
}

export class Solver {
  readonly #assignment = new Assignment();
  readonly #clauses = new Clauses();
  readonly #analysis = new Analysis(this.#assignment, this.#clauses);
  /** False if the formula has no solution, whatever is added. */
  #satisfiable = true;
  /** The values of the last solution, by code. */
  #model = new Int8Array(128);
  #modelVariables = 0;
  /** The codes of the assumptions of the last search: one for each of the first levels. */
  #assumed = new Int32Array(16);
  #assumedSize = 0;
  #failed: readonly Literal[] = [];
  /** A clause that is being added; per code the round in which it was last seen. */
  #codes = new Int32Array(64);
  #seen = new Int32Array(128);
  #round = 0;
  #learntLimit = LEARNT;
  #conflicts = 0;

  constructor() {
    this.reset();
  }

  /** Variable 1 exists and is true (src/proof/literal.ts). Returns a positive literal. */
  newVariable(): Literal {
    const variable = this.#assignment.add();
    this.#clauses.reserve(variable);
    return variable;
  }

  /**
   * After an answer of false under assumptions: assumptions that cannot hold together, a small subset; empty if the formula
   * itself is false.
   */
  get failed(): readonly Literal[] {
    return this.#failed;
  }

  /** How many conflicts all searches met: a measure of work that is the same on every machine. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** The value of a literal in the last solution; a variable that was made since has the value it prefers. */
  value(literal: Literal): boolean {
    const code = encode(literal);
    if (code >> 1 <= this.#modelVariables) return this.#model[code]! > 0;
    return (this.#assignment.preferred[code >> 1]! ^ (code & 1)) === 0;
  }

  /** The value that a decision tries first; without it a variable prefers to be false. */
  prefer(literal: Literal): void {
    const code = encode(literal);
    const { values, levels, preferred, saved } = this.#assignment;
    preferred[code >> 1] = code & 1;
    const level = levels[code >> 1]!;
    if (values[code]! < 0 && level > 0) this.#assignment.backtrack(level - 1);
    saved[code >> 1] = code & 1;
  }

  /**
   * Adds a clause: one of the literals must be true. Returns false if the formula is unsatisfiable from now on.
   *
   * @example
   * const solver = new Solver();
   * const [a, b] = [solver.newVariable(), solver.newVariable()];
   * solver.addClause([a, b]);
   * solver.addClause([-a]);
   * solver.solve(); // true
   * solver.value(b); // true
   */
  addClause(literals: readonly Literal[]): boolean {
    if (!this.#satisfiable) return false;
    const size = this.#simplify(literals);
    if (size < 0) return true;
    if (size < 2) {
      this.#assignment.backtrack(0);
      if (size === 1) this.#assignment.assign(this.#codes[0]!, 0);
      this.#satisfiable = size === 1 && this.#clauses.propagate(this.#assignment) === 0;
      return this.#satisfiable;
    }
    this.#chooseWatched(size);
    this.#clauses.add(this.#codes, size, 0);
    return true;
  }

  /**
   * Looks for a solution in which the assumptions hold. Returns undefined when `budget` conflicts were used up.
   *
   * @example
   * solver.addClause([-a, -b]);
   * solver.solve([a, b]); // false
   * solver.failed; // b, a
   * solver.solve([a]); // true
   */
  solve(assumptions: readonly Literal[] = [], budget = Infinity): boolean | undefined {
    this.#failed = [];
    if (!this.#satisfiable) return false;
    this.#assume(assumptions);
    if (this.#clauses.learnt >= this.#learntLimit) this.#reduce();
    this.#assignment.saved.set(this.#assignment.preferred);
    const answer = this.#search(budget);
    if (answer === true) {
      if (this.#model.length !== this.#assignment.values.length) this.#model = this.#assignment.values.slice();
      else this.#model.set(this.#assignment.values);
      this.#modelVariables = this.#assignment.variables;
    }
    return answer;
  }

  /** Back to the empty formula; keeps memory. */
  reset(): void {
    this.#assignment.clear();
    this.#clauses.clear();
    this.#satisfiable = true;
    this.#modelVariables = this.#assumedSize = 0;
    this.#failed = [];
    this.#learntLimit = LEARNT;
    this.newVariable();
    this.#assignment.assign(encode(TRUE), 0);
    this.#clauses.propagate(this.#assignment);
  }

  /** A state that `restore` comes back to, as often as it is asked to, until it restores an earlier one. */
  mark(): Mark {
    const place = this.#clauses.place();
    this.#clauses.keep(place.clauses);
    return {
      ...place,
      variables: this.#assignment.variables,
      facts: this.#assignment.facts,
      satisfiable: this.#satisfiable,
    };
  }

  /** Removes variables and clauses that were added since a mark, learnt ones too. */
  restore(mark: Mark): void {
    this.#assignment.restore(mark.facts, mark.variables);
    this.#clauses.restore(mark.clauses, mark.nodes);
    this.#clauses.keep(mark.clauses);
    this.#satisfiable = mark.satisfiable;
    this.#modelVariables = Math.min(this.#modelVariables, mark.variables);
  }

  /** Puts the codes of a clause into #codes, without false ones and duplicates; returns their number, -1 if it is true. */
  #simplify(literals: readonly Literal[]): number {
    const { values, levels } = this.#assignment;
    if (this.#seen.length < values.length) this.#seen = grown(this.#seen, values.length);
    if (this.#codes.length < literals.length) this.#codes = grown(this.#codes, literals.length);
    const round = ++this.#round;
    let size = 0;
    for (const literal of literals) {
      const code = encode(literal);
      if (this.#seen[code] === round) continue;
      if (this.#seen[code ^ 1] === round) return -1;
      this.#seen[code] = round;
      if (values[code] !== 0 && levels[code >> 1] === 0) {
        if (values[code]! > 0) return -1;
      } else this.#codes[size++] = code;
    }
    return size;
  }

  /** Brings the two codes forward that stay true or undecided longest, and takes decisions back that falsify one of them. */
  #chooseWatched(size: number): void {
    const { values, levels } = this.#assignment;
    const codes = this.#codes;
    for (let place = 0; place < 2; place++) {
      let best = place;
      for (let index = place; index < size && values[codes[best]!]! < 0; index++) {
        const code = codes[index]!;
        if (values[code]! >= 0 || levels[code >> 1]! > levels[codes[best]! >> 1]!) best = index;
      }
      const code = codes[best]!;
      codes[best] = codes[place]!;
      codes[place] = code;
    }
    const [first, second] = [codes[0]!, codes[1]!];
    if (values[second]! >= 0) return;
    const level = levels[second >> 1]!;
    // A literal that has been true for longer keeps the clause true until the second one has no value either.
    if (values[first]! > 0 && levels[first >> 1]! <= level) return;
    this.#assignment.backtrack(level - 1);
  }

  /** Keeps the levels of assumptions that are the same as last time. */
  #assume(assumptions: readonly Literal[]): void {
    if (assumptions.length > this.#assumed.length) this.#assumed = grown(this.#assumed, assumptions.length);
    const before = this.#assumedSize;
    let same = 0;
    while (same < before && same < assumptions.length && this.#assumed[same] === encode(assumptions[same]!)) same++;
    if (same < before || same < assumptions.length) this.#assignment.backtrack(same);
    for (let index = same; index < assumptions.length; index++) this.#assumed[index] = encode(assumptions[index]!);
    this.#assumedSize = assumptions.length;
  }

  #search(budget: number): boolean | undefined {
    const assignment = this.#assignment;
    let conflicts = 0;
    let restarts = 1;
    let restartAt = RESTART;
    for (;;) {
      const conflict = this.#clauses.propagate(assignment);
      if (conflict !== 0) {
        if (assignment.level === 0) {
          this.#satisfiable = false;
          return false;
        }
        this.#conflicts++;
        if (conflicts++ >= budget) {
          assignment.backtrack(0);
          return undefined;
        }
        this.#learn(conflict);
      } else if (conflicts >= restartAt) {
        restartAt = conflicts + RESTART * luby(++restarts);
        this.#restart();
      } else if (assignment.level < this.#assumedSize) {
        if (!this.#decideAssumption()) return false;
      } else {
        const variable = assignment.order.pick(assignment.values);
        if (variable === 0) return true;
        assignment.descend();
        assignment.assign((variable << 1) | assignment.saved[variable]!, 0);
      }
    }
  }

  #learn(conflict: number): void {
    const assignment = this.#assignment;
    const analysis = this.#analysis;
    analysis.learn(conflict);
    assignment.backtrack(analysis.level);
    const { learnt, size } = analysis;
    const reason = size === 1 ? 0 : this.#clauses.add(learnt, size, analysis.glue);
    assignment.assign(learnt[0]!, reason);
  }

  #restart(): void {
    if (this.#clauses.learnt >= this.#learntLimit) this.#reduce();
    else this.#assignment.backtrack(this.#assumedSize);
  }

  #reduce(): void {
    this.#assignment.backtrack(0);
    this.#clauses.reduce(this.#assignment.values);
    this.#learntLimit = Math.max(LEARNT, this.#clauses.learnt + LEARNT / 2);
  }

  /** Decides the next assumption; returns false if it cannot hold. */
  #decideAssumption(): boolean {
    const assignment = this.#assignment;
    const code = this.#assumed[assignment.level]!;
    const value = assignment.values[code]!;
    if (value < 0) {
      this.#failed = this.#analysis.failed(code);
      return false;
    }
    assignment.descend();
    if (value === 0) assignment.assign(code, 0);
    return true;
  }
}

/** Element `index`, from 1, of 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8... */
function luby(index: number): number {
  for (;;) {
    const log = 31 - Math.clz32(index + 1);
    if (index + 1 === 1 << log) return 1 << (log - 1);
    index -= (1 << log) - 1;
  }
}
