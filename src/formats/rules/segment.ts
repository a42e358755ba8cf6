/**
 * The actions of one rule. The device executes them in an order of its own: an action of a list that it would
 * execute before an earlier one belongs to a rule after this one.
 */
import type { Change, ListAction, RuleAction } from "./importRule.js";

/** The order of the device. `tag` is a change of the first VLAN tag, `end` a destination. */
const RANKS = { any: -1, decap: 0, pop: 1, tag: 2, modify: 2, push: 3, encap: 4, end: 5 } as const;
export type Kind = keyof typeof RANKS;

/** An earlier kind and a later one whose order makes no difference to the frame. */
const COMMUTING: ReadonlySet<string> = new Set(["modify pop", "push modify"]);

export interface SegmentStyle {
  /** Actions change places where that makes no difference to the frame. */
  readonly commutes?: true;
  /** Actions stay in the order of the list, with all header changes last. */
  readonly listed?: true;
}

interface Part {
  readonly kind: Kind;
  readonly action: RuleAction;
}

export class Segment {
  readonly #parts: Part[] = [];
  readonly #changes: Change[] = [];
  readonly #counts = new Map<Kind, number>();

  constructor(private readonly style: SegmentStyle = {}) {}

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  has(kind: Kind): boolean {
    return (this.#counts.get(kind) ?? 0) > 0;
  }

  /** @returns whether this rule can do it; else another one has to */
  take(one: ListAction): boolean {
    switch (one.kind) {
      case "modify":
        return one.changes.every((change) => this.modify(change));
      case "read":
        if ([...this.#counts.keys()].some((kind) => kind !== "any")) return false;
        this.put("any", one.action);
        return true;
      default:
        return this.add(one.kind, one.action);
    }
  }

  add(kind: Kind, action: RuleAction): boolean {
    if (!this.#fits(kind)) return false;
    this.put(kind, action);
    return true;
  }

  modify(change: Change, kind: "tag" | "modify" = "modify"): boolean {
    if (!this.#fits(kind)) return false;
    if (this.#changes.push(change) === 1) this.#parts.push({ kind: "modify", action: { modify: this.#changes } });
    this.note(kind, 1);
    return true;
  }

  /** Adds an action without regard to the order. */
  protected put(kind: Kind, action: RuleAction): void {
    this.#parts.push({ kind, action });
    this.note(kind, 1);
  }

  /** Removes the last action of a kind. */
  protected remove(kind: Kind): void {
    this.#parts.splice(
      this.#parts.findLastIndex((part) => part.kind === kind),
      1,
    );
    this.note(kind, -1);
  }

  protected note(kind: Kind, by: 1 | -1): void {
    const count = (this.#counts.get(kind) ?? 0) + by;
    if (count === 0) this.#counts.delete(kind);
    else this.#counts.set(kind, count);
  }

  #fits(kind: Kind): boolean {
    if ((kind === "encap" || kind === "decap") && this.has(kind)) return false;
    const commutes = (before: Kind): boolean => this.style.commutes === true && COMMUTING.has(`${before} ${kind}`);
    return kind === "any" || [...this.#counts.keys()].every((one) => RANKS[one] <= RANKS[kind] || commutes(one));
  }

  /** The actions, without the end of the rule. */
  actions(): RuleAction[] {
    const rank = ({ kind }: Part): number => {
      if (this.style.listed === true) return kind === "modify" ? 1 : 0;
      return RANKS[kind];
    };
    return this.#parts.toSorted((a, b) => rank(a) - rank(b)).map(({ action }) => action);
  }
}
