/** The rules of a table by what they do with a frame. */
import type { TracedCore } from "../../engine/tracedCore.js";
import type { Overlaps } from "../path/overlaps.js";
import type { TableRules } from "../path/tableRules.js";

/** Smaller classes are compared rule by rule. */
const MIN_BITMAP = 32;

export class ActionClasses {
  readonly #overlaps: Overlaps;
  /** The class of each rule, and the size of each class. */
  readonly #classOf: Uint32Array;
  readonly #sizes: number[] = [];
  readonly #bitmaps = new Map<number, Uint32Array>();

  constructor(traced: TracedCore, rules: TableRules, overlaps: Overlaps) {
    this.#overlaps = overlaps;
    this.#classOf = new Uint32Array(rules.count);
    const known = new Map<string, number>();
    for (let i = 0; i < rules.count; i++) {
      const actions = traced.actionsOf(rules.node(i).stored).join();
      const found = known.get(actions) ?? known.size;
      known.set(actions, found);
      this.#classOf[i] = found;
      this.#sizes[found] = (this.#sizes[found] ?? 0) + 1;
    }
  }

  areSame(i: number, j: number): boolean {
    return this.#classOf[i] === this.#classOf[j];
  }

  /** Whether no other rule does what a rule does. */
  isAlone(i: number): boolean {
    return this.#sizes[this.#classOf[i] as number] === 1;
  }

  /** The rules that do what a rule does, for `Overlaps.of`; none where they are few. */
  like(i: number): readonly Uint32Array[] {
    const own = this.#classOf[i] as number;
    if ((this.#sizes[own] as number) < MIN_BITMAP) return [];
    let bits = this.#bitmaps.get(own);
    if (bits === undefined) this.#bitmaps.set(own, (bits = this.#overlaps.bitmapOf((j) => this.#classOf[j] === own)));
    return [bits];
  }
}
