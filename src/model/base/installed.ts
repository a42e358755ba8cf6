/** Every rule of a device, by the number that outcomes list. */

/**
 * A direct rule, an entry of verbs flows, a host rule, an entry of a flow table, or the rule of a
 * connection.
 */
export interface InstalledRule {
  readonly id: number;
  /**
   * The flows that outcomes list in its place, for a frame of `sender`, or of nobody. A rule without
   * this method is listed itself.
   */
  flowsFor?(sender: object | null): readonly object[];
  /** The direct rules that it stands for, if there are several. */
  readonly entry?: { readonly rules: readonly object[] } | null;
}

/** Counts the hits of rules (hitCounts.ts). */
interface RuleCounts {
  added(rule: InstalledRule): void;
  removed(rule: InstalledRule): void;
}

export class InstalledRules {
  /** Counts their hits; null while hits are not counted. */
  counts: RuleCounts | null = null;
  private readonly _byId: (InstalledRule | undefined)[] = [];
  private readonly _free: number[] = [];
  /** How many rules were removed since the device was made. The device reuses their numbers. */
  removed = 0;

  /** The number that the next rule gets. */
  get nextId(): number {
    return this._free.at(-1) ?? this._byId.length;
  }

  /** Adds a rule that was made with `nextId`. */
  add(one: InstalledRule): void {
    if (one.id === this._byId.length) this._byId.push(one);
    else this._byId[this._free.pop() as number] = one;
    this.counts?.added(one);
  }

  remove(one: InstalledRule): void {
    const { id } = one;
    this.counts?.removed(one);
    this._byId[id] = undefined;
    this._free.push(id);
    this.removed++;
  }

  /** The numbers of all rules are below this one. */
  get room(): number {
    return this._byId.length;
  }

  /** The living rule with this number. */
  at(id: number): InstalledRule {
    return this._byId[id] as InstalledRule;
  }

  *[Symbol.iterator](): Iterator<InstalledRule> {
    for (const one of this._byId) if (one !== undefined) yield one;
  }
}
