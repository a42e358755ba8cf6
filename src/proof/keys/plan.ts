/**
 * The constraints of a parser as a plan, made once for each declaration of a parser: for each cell, how it gets its literal
 * and which clauses come with it. A clause belongs to the cell that depends on the others, so a key that nobody asks
 * about EtherTypes has no clause about them; cells that were not asked can always be chosen to fit.
 */
import type { ParserDeclaration } from "../../model/base/parser.js";
import { CELLS, type Cell, type Term } from "./cells.js";

/** What a device declares of its parser. */
export type Declaration = Pick<ParserDeclaration, "geneveOption" | "samples" | "udpPorts">;

/** How a cell gets its literal. */
export const ABSENT = 0;
export const VARIABLE = 1;
export const GIVEN = 2;
export const ALIAS = 3;

const NONE: readonly never[] = [];

export class Plan {
  /** ABSENT: always 0. */
  readonly kinds = new Uint8Array(CELLS);
  /** The terms that are other names for a term. */
  readonly aliases = new Int32Array(CELLS);
  readonly preferred = new Uint8Array(CELLS);
  /** Cells that get their variables before this one, and so are decided before it. */
  readonly before: (readonly Cell[])[] = new Array<readonly Cell[]>(CELLS).fill(NONE);
  /** Cells that get variables with this one. */
  readonly others: (readonly Cell[])[] = new Array<readonly Cell[]>(CELLS).fill(NONE);
  readonly clauses: (readonly (readonly Term[])[])[] = new Array<readonly Term[][]>(CELLS).fill(NONE);

  variable(term: Term): void {
    this.kinds[term - 1] = VARIABLE;
  }

  given(term: Term): void {
    this.kinds[term - 1] = GIVEN;
  }

  alias(term: Term, other: Term): void {
    this.kinds[term - 1] = ALIAS;
    this.aliases[term - 1] = other;
  }

  absent(...terms: readonly Term[]): void {
    for (const term of terms) this.kinds[term - 1] = ABSENT;
  }

  prefer(term: Term): void {
    this.preferred[Math.abs(term) - 1] = Number(term > 0);
  }

  /** `others` get their variables before the cell. */
  after(term: Term, ...others: readonly Term[]): void {
    const cell = term - 1;
    const cells = others.map((other) => Math.abs(other) - 1);
    this.before[cell] = [...new Set([...(this.before[cell] ?? NONE), ...cells])];
  }

  /** Whoever asks for one of these asks for all; returns the first, which clauses about the whole value belong to. */
  together(terms: readonly Term[]): Term {
    const [first, ...rest] = terms.map((term) => term - 1);
    for (const cell of rest) this.others[cell] = [first as Cell];
    this.others[first as Cell] = rest;
    return terms[0] as Term;
  }

  /** One of the terms holds. The clause is added with the variable of `at`. */
  clause(at: Term, ...terms: readonly Term[]): void {
    const cell = at - 1;
    this.clauses[cell] = [...(this.clauses[cell] ?? NONE), terms];
  }

  /** `at` brings all of these. */
  implies(at: Term, ...terms: readonly Term[]): void {
    for (const term of terms) this.clause(at, -at, term);
  }

  /** Where all of `when` hold, all of `then` do. */
  when(at: Term, when: readonly Term[], then: readonly Term[]): void {
    for (const term of then) this.clause(at, ...when.map((one) => -one), term);
  }
}
