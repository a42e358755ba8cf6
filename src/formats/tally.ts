/** Sums over outcomes: where frames went, and what each rule took. */
import type { Outcome } from "../model/outcome.js";
import type { Rule } from "../model/rule.js";

export interface Sum {
  frames: number;
  /** Bytes on the wire. */
  bytes: number;
}

/** Frames that ended alike: at one destination, or with one verdict and reason without a destination. */
export interface EndSum extends Sum {
  /** `qp:web`; null where the frame reached none. */
  to: string | null;
  verdict: Outcome["verdict"];
  reason: Outcome["reason"];
}

export class Tally {
  readonly all: Sum = { frames: 0, bytes: 0 };
  readonly verdicts = new Map<Outcome["verdict"], Sum>();
  readonly #ends = new Map<string, EndSum>();
  readonly #rules = new Map<Rule, Sum>();

  /** Counts a frame of `length` bytes on the wire. */
  add(length: number, outcome: Outcome): void {
    const { verdict, reason } = outcome;
    grow(this.all, length);
    grow(getOr(this.verdicts, verdict, nothing), length);
    for (const rule of outcome.rules) grow(getOr(this.#rules, rule, nothing), length);
    const targets: (string | null)[] = outcome.to.length > 0 ? outcome.to.map(({ name }) => name) : [null];
    for (const to of targets) {
      const key = to ?? `${verdict} ${reason ?? ""}`;
      grow(
        getOr(this.#ends, key, () => ({ to, verdict, reason, frames: 0, bytes: 0 })),
        length,
      );
    }
  }

  /** In the order in which they first came up. */
  get ends(): readonly EndSum[] {
    return [...this.#ends.values()];
  }

  /** Frames that hit the rule; a frame that came to it by several ways counts each time. */
  rule(rule: Rule): Sum {
    return this.#rules.get(rule) ?? nothing();
  }
}

function nothing(): Sum {
  return { frames: 0, bytes: 0 };
}

function grow(sum: Sum, length: number): void {
  sum.frames++;
  sum.bytes += length;
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
