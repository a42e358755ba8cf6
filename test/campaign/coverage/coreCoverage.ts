/** Statements of `assembly/` that the coverage core has executed in this process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tellHits } from "../../../scripts/coverage-hits.mjs";
import { ROOT } from "../../support/root.js";
import type { Coverage } from "./coverage.js";

/** Where a statement is, as the compiler's transform wrote it down. */
export interface Statement {
  readonly file: string;
  readonly line: number;
}

export class CoreCoverage implements Coverage {
  readonly statements: readonly Statement[];
  readonly #reached: Uint8Array;
  #count = 0;
  #told = 0;

  constructor() {
    this.statements = JSON.parse(readFileSync(join(ROOT, "build/coverage/statements.json"), "utf8")) as Statement[];
    const reached = (this.#reached = new Uint8Array(this.statements.length));
    tellHits((statement) => {
      if (reached[statement] !== 0) return;
      reached[statement] = 1;
      this.#count++;
    });
  }

  fresh(): number {
    const fresh = this.#count - this.#told;
    this.#told = this.#count;
    return fresh;
  }

  get reached(): number {
    return this.#count;
  }

  get all(): number {
    return this.statements.length;
  }

  /** The numbers of the statements that were executed. */
  get numbers(): number[] {
    return [...this.#reached.keys()].filter((statement) => this.#reached[statement] === 1);
  }
}
