// Reference of rules of a root table that match the same frames. Written from docs/rules.md ("Root
// tables") and what it cites of the kernel's fs_core.c: one entry for a mask, a priority and a
// value; it takes further destinations and counters, and refuses what conflicts. The entry is
// derived from its rules each time, oldest first.

/** A mask and a value of one field, under a matcher; a matcher is as old as its number. */
export interface RootRule {
  id: string;
  /** Its age. */
  made: number;
  matcher: number;
  priority: number;
  mask: bigint;
  value: bigint;
  tag: number | null;
  /** Equal names are the same header changes. */
  changes: string | null;
  counter: string | null;
  end: { kind: "queue"; queue: string } | { kind: "table"; table: string } | { kind: "miss" } | { kind: "drop" };
}

/** Rules for the same frames. The tag is that of the first rule, even when it is gone. */
interface Entry {
  rules: RootRule[];
  tag: number | null;
}

export interface RootOutcome {
  rules: string[];
  tag: number | null;
  changes: string | null;
  counters: string[];
  queues: string[];
  /** Where the frame goes on; null where it ends here. */
  next: string | null;
  drop: boolean;
}

export class RootReference {
  #entries: Entry[] = [];

  /** The other rules of the entry of a rule, oldest first. */
  get entries(): readonly (readonly RootRule[])[] {
    return this.#entries.map(({ rules }) => rules);
  }

  /** Whether a rule is refused with EEXIST; otherwise it is made. */
  create(rule: RootRule): boolean {
    const there = this.#entries.find(({ rules: [first] }) => isSamePlace(first as RootRule, rule));
    if (there === undefined) {
      this.#entries.push({ rules: [rule], tag: rule.tag });
      return false;
    }
    if (conflicts(there, rule)) return true;
    there.rules.push(rule);
    return false;
  }

  destroy(id: string): void {
    for (const entry of this.#entries) entry.rules = entry.rules.filter((rule) => rule.id !== id);
    this.#entries = this.#entries.filter(({ rules }) => rules.length > 0);
  }

  /** What happens to a frame with this value of the field; null where no rule matches. */
  outcome(found: bigint): RootOutcome | null {
    // An entry has the place of its oldest living rule: priority, then age of the matcher, then
    // its own.
    const matching = this.#entries.filter(({ rules: [first] }) => (found & first!.mask) === first!.value);
    const [best] = matching.sort(
      ({ rules: [a] }, { rules: [b] }) => a!.priority - b!.priority || a!.matcher - b!.matcher || a!.made - b!.made,
    );
    if (best === undefined) return null;
    const { rules, tag } = best;
    return {
      rules: rules.map(({ id }) => id),
      tag,
      changes: rules[0]!.changes,
      counters: [...new Set(rules.flatMap(({ counter }) => counter ?? []))],
      queues: [...new Set(rules.flatMap(({ end }) => (end.kind === "queue" ? end.queue : [])))],
      next: nextOf(rules),
      drop: rules[0]!.end.kind === "drop",
    };
  }
}

function isSamePlace(a: RootRule, b: RootRule): boolean {
  return a.priority === b.priority && a.mask === b.mask && a.value === b.value;
}

/** The place besides queues; `miss` is the next stage. */
function nextOf(rules: readonly RootRule[]): string | null {
  for (const { end } of rules) {
    if (end.kind === "table") return end.table;
    if (end.kind === "miss") return "miss";
  }
  return null;
}

function conflicts({ rules, tag }: Entry, rule: RootRule): boolean {
  const [first] = rules as [RootRule];
  const [there, here] = [nextOf(rules), nextOf([rule])];
  return (
    (first.end.kind === "drop") !== (rule.end.kind === "drop") ||
    (rule.tag !== null && rule.tag !== (tag ?? 0)) ||
    first.changes !== rule.changes ||
    (there !== null && here !== null && there !== here)
  );
}
