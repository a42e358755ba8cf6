/**
 * The order in which a search decides variables: a list (variable move to front). Variables of recent conflicts come
 * first, then the others as they were made, so that bits of a frame are decided before what is derived from them.
 */
import { grown } from "./grown.js";

export class DecisionOrder {
  #next = new Int32Array(64);
  #previous = new Int32Array(64);
  /** Falls along the list. */
  #stamps = new Float64Array(64);
  #first = 0;
  #last = 0;
  #highest = 0;
  #lowest = 0;
  /** All variables before this one are assigned; 0 if all are. */
  #candidate = 0;

  append(variable: number): void {
    if (variable >= this.#next.length) {
      this.#next = grown(this.#next, variable);
      this.#previous = grown(this.#previous, variable);
      this.#stamps = grown(this.#stamps, variable);
    }
    this.#stamps[variable] = --this.#lowest;
    this.#next[variable] = 0;
    this.#previous[variable] = this.#last;
    if (this.#last === 0) this.#first = variable;
    else this.#next[this.#last] = variable;
    this.#last = variable;
    if (this.#candidate === 0) this.#candidate = variable;
  }

  /** Removes an unassigned variable. */
  remove(variable: number): void {
    if (this.#candidate === variable) this.#candidate = this.#next[variable]!;
    this.#unlink(variable);
  }

  /** Moves an assigned variable to the front. */
  bump(variable: number): void {
    if (this.#first === variable) return;
    if (this.#candidate === variable) this.#candidate = this.#next[variable]!;
    this.#unlink(variable);
    this.#stamps[variable] = ++this.#highest;
    this.#previous[variable] = 0;
    this.#next[variable] = this.#first;
    this.#previous[this.#first] = variable;
    this.#first = variable;
  }

  /** Says that a variable has lost its value. */
  unassigned(variable: number): void {
    const candidate = this.#candidate;
    if (candidate === 0 || this.#stamps[variable]! > this.#stamps[candidate]!) this.#candidate = variable;
  }

  /** The first variable without a value, 0 if there is none. `values` is by code. */
  pick(values: Int8Array): number {
    let candidate = this.#candidate;
    while (candidate !== 0 && values[candidate << 1] !== 0) candidate = this.#next[candidate]!;
    this.#candidate = candidate;
    return candidate;
  }

  clear(): void {
    this.#first = this.#last = this.#highest = this.#lowest = this.#candidate = 0;
  }

  #unlink(variable: number): void {
    const before = this.#previous[variable]!;
    const after = this.#next[variable]!;
    if (before === 0) this.#first = after;
    else this.#next[before] = after;
    if (after === 0) this.#last = before;
    else this.#previous[after] = before;
  }
}
