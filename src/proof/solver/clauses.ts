/**
 * Clauses in flat arrays. A binary clause is two nodes, one in the list of each of its literals. A longer clause is in the
 * lists of the two literals that it watches; the links of these lists are in the clause itself, so watching another literal
 * moves two numbers and allocates nothing.
 */
import type { Assignment } from "./assignment.js";
import { grown } from "./grown.js";

/** A longer clause: its size, the next clause in the list of its first and second literal, its glue, the codes. */
const NEXT = 1;
/** 0 for clauses of the formula; for learnt ones the number of levels that its literals had. */
const GLUE = 3;
const CODES = 4;

/** What `propagate` returns if a binary clause is false. */
export const BINARY_CONFLICT = -1;

/** Learnt clauses of at most this glue are never dropped. */
const GOOD_GLUE = 2;

export class Clauses {
  #arena = new Int32Array(1024);
  /** The first clause of the list of a code, 0 at its end; so clauses begin at 1. */
  #watched = new Int32Array(128);
  #end = 1;
  /** Nodes: the other literal, the next node. */
  #nodes = new Int32Array(1024);
  #implied = new Int32Array(128);
  #nodesEnd = 4;
  /** The literals of the binary clause that is false. */
  readonly #conflict = new Int32Array(2);
  readonly #single = new Int32Array(1);
  /** What `open` has opened. */
  literals = this.#arena;
  from = 0;
  to = 0;
  /** Learnt clauses of three literals and more after the last `keep`. */
  learnt = 0;
  #kept = 1;

  /** Makes room for the codes of a variable. */
  reserve(variable: number): void {
    const code = 2 * variable + 1;
    if (code >= this.#watched.length) {
      this.#watched = grown(this.#watched, code);
      this.#implied = grown(this.#implied, code);
    }
    this.#watched[code - 1] = this.#watched[code] = 0;
    this.#implied[code - 1] = this.#implied[code] = 0;
  }

  /** The first two of at least two codes are watched. Returns the reason for the first one. */
  add(codes: Int32Array, size: number, glue: number): number {
    if (size === 2) {
      this.#link(codes[0]!, codes[1]!);
      this.#link(codes[1]!, codes[0]!);
      return -codes[1]!;
    }
    const clause = this.#end;
    if (clause + CODES + size > this.#arena.length) this.#arena = grown(this.#arena, clause + CODES + size);
    const arena = this.#arena;
    arena[clause] = size;
    arena[clause + GLUE] = glue;
    for (let index = 0; index < size; index++) arena[clause + CODES + index] = codes[index]!;
    this.#end = clause + CODES + size;
    if (glue !== 0) this.learnt++;
    this.#watch(clause);
    return clause;
  }

  #watch(clause: number): void {
    const arena = this.#arena;
    for (let which = 0; which < 2; which++) {
      const code = arena[clause + CODES + which]!;
      arena[clause + NEXT + which] = this.#watched[code]!;
      this.#watched[code] = clause;
    }
  }

  #link(code: number, other: number): void {
    const node = this.#nodesEnd;
    if (node + 2 > this.#nodes.length) this.#nodes = grown(this.#nodes, node + 2);
    this.#nodes[node] = other;
    this.#nodes[node + 1] = this.#implied[code]!;
    this.#implied[code] = node;
    this.#nodesEnd = node + 2;
  }

  /** Sets `literals`, `from` and `to` to the literals of a reason: all are false, except the one that it implies. */
  open(reason: number): void {
    this.from = 0;
    if (reason > 0) {
      this.literals = this.#arena;
      this.from = reason + CODES;
      this.to = this.from + this.#arena[reason]!;
    } else if (reason === BINARY_CONFLICT) {
      this.literals = this.#conflict;
      this.to = 2;
    } else {
      this.literals = this.#single;
      this.#single[0] = -reason;
      this.to = 1;
    }
  }

  /** Draws all conclusions. Returns the clause that is false, BINARY_CONFLICT, or 0. */
  propagate(assignment: Assignment): number {
    const { values, trail } = assignment;
    const nodes = this.#nodes;
    while (assignment.propagated < assignment.size) {
      const falsified = trail[assignment.propagated++]! ^ 1;
      for (let node = this.#implied[falsified]!; node !== 0; node = nodes[node + 1]!) {
        const other = nodes[node]!;
        const value = values[other]!;
        if (value === 0) assignment.assign(other, -falsified);
        else if (value < 0) {
          this.#conflict[0] = falsified;
          this.#conflict[1] = other;
          return BINARY_CONFLICT;
        }
      }
      const conflict = this.#visitWatched(assignment, values, falsified);
      if (conflict !== 0) return conflict;
    }
    return 0;
  }

  /** Finds another literal to watch for the clauses that watch a literal that has become false. */
  #visitWatched(assignment: Assignment, values: Int8Array, falsified: number): number {
    const arena = this.#arena;
    const watched = this.#watched;
    /** Where the link to the clause is, 0 for the head of the list. */
    let from = 0;
    for (let clause = watched[falsified]!; clause !== 0;) {
      const codes = clause + CODES;
      const which = arena[codes] === falsified ? 0 : 1;
      const link = clause + NEXT + which;
      const next = arena[link]!;
      const other = arena[codes + 1 - which]!;
      if (values[other]! > 0) {
        from = link;
        clause = next;
        continue;
      }
      const end = codes + arena[clause]!;
      let at = codes + 2;
      while (at < end && values[arena[at]!]! < 0) at++;
      if (at < end) {
        const code = arena[at]!;
        arena[at] = falsified;
        arena[codes + which] = code;
        if (from === 0) watched[falsified] = next;
        else arena[from] = next;
        arena[link] = watched[code]!;
        watched[code] = clause;
      } else if (values[other]! < 0) return clause;
      else {
        assignment.assign(other, clause);
        from = link;
      }
      clause = next;
    }
    return 0;
  }

  /** The place after the last clause, for `restore`. */
  place(): { clauses: number; nodes: number } {
    return { clauses: this.#end, nodes: this.#nodesEnd };
  }

  /** Does not drop clauses before this place any more, until another `keep`. */
  keep(clauses: number): void {
    this.#kept = clauses;
    this.learnt = 0;
  }

  /** Removes clauses after a place. */
  restore(clauses: number, nodes: number): void {
    for (let node = this.#nodesEnd - 2; node >= nodes; node -= 2) {
      // The two nodes of a clause follow each other: each names the list that the other one is in.
      this.#implied[this.#nodes[node ^ 2]!] = this.#nodes[node + 1]!;
    }
    this.#nodesEnd = nodes;
    this.#unwatch(clauses);
    this.#end = clauses;
  }

  /** Takes the clauses from a place on out of the lists. */
  #unwatch(from: number): void {
    const arena = this.#arena;
    const watched = this.#watched;
    for (let removed = from; removed < this.#end; removed += CODES + arena[removed]!) {
      for (let which = 0; which < 2; which++) {
        const code = arena[removed + CODES + which]!;
        // A negative head says that the list has been cleaned.
        if (watched[code]! <= 0) continue;
        watched[code] = -1 - this.#cleaned(code, from);
      }
    }
    for (let removed = from; removed < this.#end; removed += CODES + arena[removed]!) {
      for (let which = 0; which < 2; which++) {
        const code = arena[removed + CODES + which]!;
        if (watched[code]! < 0) watched[code] = -1 - watched[code]!;
      }
    }
  }

  /** Removes the clauses from a place on from the list of a code; returns its head. */
  #cleaned(code: number, from: number): number {
    const arena = this.#arena;
    let head = 0;
    let last = 0;
    for (let clause = this.#watched[code]!; clause !== 0;) {
      const link = clause + NEXT + (arena[clause + CODES] === code ? 0 : 1);
      const next = arena[link]!;
      if (clause < from) {
        if (last === 0) head = clause;
        else arena[last] = clause;
        last = link;
      }
      clause = next;
    }
    if (last !== 0) arena[last] = 0;
    return head;
  }

  /** Drops the older half of the learnt clauses after the last `keep`, except good ones. Only without decisions. */
  reduce(values: Int8Array): void {
    const from = this.#kept;
    this.#unwatch(from);
    const arena = this.#arena;
    const old = this.#end;
    let doubtful = this.learnt >> 1;
    this.#end = from;
    this.learnt = 0;
    for (let clause = from; clause < old;) {
      const size = arena[clause]!;
      const glue = arena[clause + GLUE]!;
      if (glue > GOOD_GLUE && doubtful-- > 0) clause += CODES + size;
      else {
        this.#moveDown(clause, values);
        clause += CODES + size;
      }
    }
  }

  /** Adds a clause of the same arena, at or after the end, again, unless a literal is true; without false literals. */
  #moveDown(clause: number, values: Int8Array): void {
    const arena = this.#arena;
    const glue = arena[clause + GLUE]!;
    const after = clause + CODES + arena[clause]!;
    const start = this.#end + CODES;
    let size = 0;
    for (let at = clause + CODES; at < after; at++) {
      const code = arena[at]!;
      if (values[code]! > 0) return;
      if (values[code]! === 0) arena[start + size++] = code;
    }
    arena[this.#end] = size;
    arena[this.#end + GLUE] = glue;
    this.#watch(this.#end);
    if (glue !== 0) this.learnt++;
    this.#end = start + size;
  }

  clear(): void {
    this.#end = this.#kept = 1;
    this.#nodesEnd = 4;
    this.learnt = 0;
  }
}
