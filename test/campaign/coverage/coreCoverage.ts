/** Statements and branches of `assembly/` that the coverage core has executed in this process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tellHits } from "../../../scripts/coverage-hits.mjs";
import { ROOT } from "../../support/root.js";
import type { Coverage } from "./coverage.js";

/** Where a statement or a branch is, as the compiler's transform wrote it down. */
export interface Point {
  readonly file: string;
  readonly line: number;
}

export class CoreCoverage implements Coverage {
  readonly points: readonly Point[];
  readonly #reached: Uint8Array;
  #count = 0;
  #told = 0;

  constructor() {
    this.points = JSON.parse(readFileSync(join(ROOT, "build/coverage/points.json"), "utf8")) as Point[];
    const reached = (this.#reached = new Uint8Array(this.points.length));
    tellHits((point) => {
      if (reached[point] !== 0) return;
      reached[point] = 1;
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
    return this.points.length;
  }

  /** The numbers of the points that were reached. */
  get numbers(): number[] {
    return [...this.#reached.keys()].filter((point) => this.#reached[point] === 1);
  }
}
