/**
 * The values of a search, in the order in which they came. A literal is held as a code: 2v for variable v, 2v + 1 for its
 * negation, so `code ^ 1` negates.
 */
import type { Literal } from "../literal.js";
import { grown } from "./grown.js";
import { DecisionOrder } from "./order.js";

export function encode(literal: Literal): number {
  return literal > 0 ? literal << 1 : (-literal << 1) | 1;
}

export function decode(code: number): Literal {
  return (code & 1) === 0 ? code >> 1 : -(code >> 1);
}

export class Assignment {
  readonly order = new DecisionOrder();
  /** The highest variable. */
  variables = 0;
  /** 1 for a true literal, -1 for a false one, 0 without a value; by code. */
  values = new Int8Array(128);
  /** How many decisions came before a variable got its value. */
  levels = new Int32Array(64);
  /** Why a variable has its value: 0 for decisions, a clause, or the negated code of the other literal of a binary clause. */
  reasons = new Int32Array(64);
  /** The low bit of the code that a decision chooses: by preference, and as it was last in this search. */
  preferred = new Int8Array(64);
  saved = new Int8Array(64);
  /** The true literals, oldest first. */
  trail = new Int32Array(64);
  size = 0;
  /** How many literals of the trail have been propagated. */
  propagated = 0;
  level = 0;
  /** Where the literals of a level begin in the trail. */
  #starts = new Int32Array(64);

  add(): number {
    const variable = ++this.variables;
    if (variable >= this.levels.length) {
      this.levels = grown(this.levels, variable);
      this.reasons = grown(this.reasons, variable);
      this.preferred = grown(this.preferred, variable);
      this.saved = grown(this.saved, variable);
      this.trail = grown(this.trail, variable);
      this.values = grown(this.values, this.levels.length);
    }
    this.values[2 * variable] = this.values[2 * variable + 1] = 0;
    this.preferred[variable] = this.saved[variable] = 1;
    this.order.append(variable);
    return variable;
  }

  /** Makes a literal true. */
  assign(code: number, reason: number): void {
    const variable = code >> 1;
    this.values[code] = 1;
    this.values[code ^ 1] = -1;
    this.levels[variable] = this.level;
    this.reasons[variable] = reason;
    this.trail[this.size++] = code;
  }

  /** Begins a level; a decision, if any, follows. */
  descend(): void {
    this.level++;
    if (this.level >= this.#starts.length) this.#starts = grown(this.#starts, this.level);
    this.#starts[this.level] = this.size;
  }

  /** The number of literals that hold without decisions. */
  get facts(): number {
    return this.level === 0 ? this.size : this.#starts[1]!;
  }

  /** Takes back all levels above this one. */
  backtrack(level: number): void {
    if (level >= this.level) return;
    this.#takeBack(this.#starts[level + 1]!);
    this.level = level;
  }

  /** Takes back decisions, facts after the first `facts`, and variables after `variables`. */
  restore(facts: number, variables: number): void {
    this.#takeBack(facts);
    this.level = 0;
    while (this.variables > variables) this.order.remove(this.variables--);
  }

  clear(): void {
    this.variables = this.size = this.propagated = this.level = 0;
    this.order.clear();
  }

  #takeBack(size: number): void {
    const { values, trail, saved, order } = this;
    for (let index = this.size - 1; index >= size; index--) {
      const code = trail[index]!;
      values[code] = values[code ^ 1] = 0;
      saved[code >> 1] = code & 1;
      order.unassigned(code >> 1);
    }
    this.size = this.propagated = size;
  }
}
