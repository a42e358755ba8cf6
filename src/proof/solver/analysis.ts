/** What a conflict teaches: a clause that prevents it (first unique implication point), or assumptions that exclude each other. */
import type { Literal } from "../literal.js";
import { decode, type Assignment } from "./assignment.js";
import type { Clauses } from "./clauses.js";
import { grown } from "./grown.js";

/** Marks of a variable during an analysis. */
const UNSEEN = 0;
const SEEN = 1;
const REDUNDANT = 2;
const NEEDED = 3;

/** How deep minimization follows reasons. */
const DEEPEST = 100;

export class Analysis {
  readonly #assignment: Assignment;
  readonly #clauses: Clauses;
  #marks = new Int8Array(64);
  /** Variables with a mark. */
  #marked = new Int32Array(64);
  #markedSize = 0;
  /** The codes of the learnt clause: the new conclusion first, then one of the highest other level. */
  learnt = new Int32Array(64);
  size = 0;
  /** The level at which the learnt clause has one literal without a value. */
  level = 0;
  /** How many levels the literals of the learnt clause have. */
  glue = 0;
  #levelSeen = new Int32Array(64);
  #round = 0;
  /** Literals of the conflict's own level that are marked and not yet resolved. */
  #open = 0;

  constructor(assignment: Assignment, clauses: Clauses) {
    this.#assignment = assignment;
    this.#clauses = clauses;
  }

  /** Learns from a clause that is false at the current level, which is not 0. */
  learn(conflict: number): void {
    const { trail, reasons } = this.#assignment;
    this.#reserve();
    this.size = 1;
    this.#open = 0;
    let index = this.#assignment.size;
    let code = 0;
    let reason = conflict;
    do {
      this.#clauses.open(reason);
      const { literals, from, to } = this.#clauses;
      for (let at = from; at < to; at++) if (literals[at] !== code) this.#see(literals[at]!);
      do code = trail[--index]!;
      while (this.#marks[code >> 1] === UNSEEN);
      reason = reasons[code >> 1]!;
    } while (--this.#open > 0);
    this.learnt[0] = code ^ 1;
    this.#minimize();
    this.#findLevel();
    this.#finish(true);
  }

  /** The assumptions that make an assumption false, with it. All decisions must be assumptions. */
  failed(code: number): Literal[] {
    const { trail, reasons, levels, facts } = this.#assignment;
    const failed = [decode(code)];
    if (levels[code >> 1] === 0) return failed;
    this.#reserve();
    this.#mark(code >> 1, SEEN);
    for (let index = this.#assignment.size - 1; index >= facts; index--) {
      const at = trail[index]!;
      if (this.#marks[at >> 1] === UNSEEN) continue;
      const reason = reasons[at >> 1]!;
      if (reason === 0) failed.push(decode(at));
      else this.#markAll(reason);
    }
    this.#finish(false);
    return failed;
  }

  /** Marks the literals of a reason that need decisions. */
  #markAll(reason: number): void {
    this.#clauses.open(reason);
    const { literals, from, to } = this.#clauses;
    for (let at = from; at < to; at++) {
      const variable = literals[at]! >> 1;
      if (this.#assignment.levels[variable] !== 0 && this.#marks[variable] === UNSEEN) this.#mark(variable, SEEN);
    }
  }

  #see(code: number): void {
    const variable = code >> 1;
    const level = this.#assignment.levels[variable]!;
    if (level === 0 || this.#marks[variable] !== UNSEEN) return;
    this.#mark(variable, SEEN);
    if (level === this.#assignment.level) this.#open++;
    else this.learnt[this.size++] = code;
  }

  /** Removes literals that follow from the others. */
  #minimize(): void {
    let size = 1;
    for (let index = 1; index < this.size; index++) {
      const code = this.learnt[index]!;
      const reason = this.#assignment.reasons[code >> 1]!;
      if (reason === 0 || !this.#follows(reason, code ^ 1, 0)) this.learnt[size++] = code;
    }
    this.size = size;
  }

  /** Whether all literals of a reason follow from literals of the learnt clause. */
  #follows(reason: number, implied: number, depth: number): boolean {
    this.#clauses.open(reason);
    const { literals, from, to } = this.#clauses;
    for (let at = from; at < to; at++) {
      if (literals[at] !== implied && !this.#isRedundant(literals[at]!, depth)) return false;
    }
    return true;
  }

  #isRedundant(code: number, depth: number): boolean {
    const variable = code >> 1;
    const mark = this.#marks[variable];
    if (mark === SEEN || mark === REDUNDANT || this.#assignment.levels[variable] === 0) return true;
    const reason = this.#assignment.reasons[variable]!;
    if (mark === NEEDED || reason === 0 || depth === DEEPEST) return false;
    const follows = this.#follows(reason, code ^ 1, depth + 1);
    this.#mark(variable, follows ? REDUNDANT : NEEDED);
    return follows;
  }

  #findLevel(): void {
    const { levels } = this.#assignment;
    const { learnt } = this;
    this.level = 0;
    this.glue = 1;
    this.#round++;
    for (let index = 1; index < this.size; index++) {
      const code = learnt[index]!;
      const level = levels[code >> 1]!;
      if (this.#levelSeen[level] !== this.#round) {
        this.#levelSeen[level] = this.#round;
        this.glue++;
      }
      if (level > this.level) {
        this.level = level;
        learnt[index] = learnt[1]!;
        learnt[1] = code;
      }
    }
  }

  #mark(variable: number, mark: number): void {
    this.#marks[variable] = mark;
    this.#marked[this.#markedSize++] = variable;
  }

  /** Takes the marks away; `bump`: the search decides the variables of this conflict first from now on. */
  #finish(bump: boolean): void {
    // The latest literals were marked first: they come to the very front.
    for (let index = this.#markedSize - 1; index >= 0; index--) {
      const variable = this.#marked[index]!;
      if (bump && this.#marks[variable] === SEEN) this.#assignment.order.bump(variable);
      this.#marks[variable] = UNSEEN;
    }
    this.#markedSize = 0;
  }

  #reserve(): void {
    const { variables, level } = this.#assignment;
    if (variables >= this.#marks.length) {
      this.#marks = grown(this.#marks, variables);
      this.#marked = grown(this.#marked, variables);
      this.learnt = grown(this.learnt, variables);
    }
    if (level >= this.#levelSeen.length) this.#levelSeen = grown(this.#levelSeen, level);
  }
}
