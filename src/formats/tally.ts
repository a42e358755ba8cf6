/** Sums over outcomes: where frames went, and what each rule took. */
import type { HitRule, Outcome } from "../model/outcome.js";
import { farOutcomes } from "./outcomeRecord.js";

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
  readonly #copies = new Map<string, Sum>();
  readonly #beyond = new Map<string, EndSum & { port: string }>();
  readonly #rules = new Map<HitRule, Sum>();

  /** Counts a frame of `length` bytes on the wire. */
  add(length: number, outcome: Outcome): void {
    grow(this.all, length);
    grow(getOr(this.verdicts, outcome.verdict, nothing), length);
    for (const end of endsOf(outcome)) {
      grow(
        getOr(this.#ends, keyOf(end), () => ({ ...end, ...nothing() })),
        length,
      );
    }
    this.#addHits(length, outcome);
  }

  /** Where frames ended, in the order in which they first came up. */
  get ends(): readonly EndSum[] {
    return [...this.#ends.values()];
  }

  /** Copies by destination, those that were made beyond a port included. */
  get copies(): ReadonlyMap<string, Sum> {
    return this.#copies;
  }

  /** The ends of frames that left a port, at the port that they came to. */
  get beyond(): readonly (EndSum & { port: string })[] {
    return [...this.#beyond.values()];
  }

  /** What does not depend on which port it was. */
  #addHits(length: number, outcome: Outcome): void {
    for (const rule of outcome.rules) grow(getOr(this.#rules, rule, nothing), length);
    for (const { name } of outcome.copies) grow(getOr(this.#copies, name, nothing), length);
    for (const [port, far] of farOutcomes(outcome)) {
      for (const end of endsOf(far)) {
        grow(
          getOr(this.#beyond, `${port} ${keyOf(end)}`, () => ({ port, ...end, ...nothing() })),
          length,
        );
      }
      this.#addHits(length, far);
    }
  }

  /** Frames that hit the rule; a frame that came to it by several ways counts each time. */
  rule(rule: HitRule): Sum {
    return this.#rules.get(rule) ?? nothing();
  }
}

type End = Omit<EndSum, keyof Sum>;

function endsOf({ to, verdict, reason }: Outcome): End[] {
  if (to.length === 0) return [{ to: null, verdict, reason }];
  return to.map(({ name }) => ({ to: name, verdict, reason }));
}

function keyOf({ to, verdict, reason }: End): string {
  return to ?? `${verdict} ${reason ?? ""}`;
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
