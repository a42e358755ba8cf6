/** Every rule of a device, by the number that outcomes list. */

/**
 * A direct rule, an entry of verbs flows, a host rule, an entry of a flow table, or the rule of a
 * connection.
 */
export interface InstalledRule {
  readonly id: number;
}

export class InstalledRules {
  readonly #byId: (InstalledRule | undefined)[] = [];
  readonly #free: number[] = [];
  /** How many rules were removed since the device was made. The device reuses their numbers. */
  removed = 0;

  /** The number that the next rule gets. */
  get nextId(): number {
    return this.#free.at(-1) ?? this.#byId.length;
  }

  /** Adds a rule that was made with `nextId`. */
  add(one: InstalledRule): void {
    if (one.id === this.#byId.length) this.#byId.push(one);
    else this.#byId[this.#free.pop() as number] = one;
  }

  remove({ id }: InstalledRule): void {
    this.#byId[id] = undefined;
    this.#free.push(id);
    this.removed++;
  }

  /** The living rule with this number. */
  at(id: number): InstalledRule {
    return this.#byId[id] as InstalledRule;
  }

  *[Symbol.iterator](): Iterator<InstalledRule> {
    for (const one of this.#byId) if (one !== undefined) yield one;
  }
}
