/** Sums over outcomes: frames by destination, by verdict and by rule. */
import type { HitRule, Outcome } from "../../model/traffic/outcome.js";
import type { RunFrame } from "./record.js";
import { summedOutcome, type SummedOutcome } from "./summed.js";

export interface Sum {
  frames: number;
  /** Bytes on the wire. */
  bytes: number;
}

/**
 * Frames with the same end: one destination, or without a destination one verdict, reason and list of
 * missed tables.
 */
export interface EndSum extends Sum {
  /** `qp:web`; null where the frame reached none. */
  to: string | null;
  verdict: Outcome["verdict"];
  reason: Outcome["reason"];
  /** The tables without a rule for them; empty where they reached a destination. */
  missed: Outcome["missed"];
}

/** The values of a register at the end of frames. */
export interface RegisterSum {
  frames: number;
  /** Frames by value. */
  readonly values: Map<number, number>;
}

export class Tally {
  readonly all: Sum = { frames: 0, bytes: 0 };
  readonly verdicts = new Map<Outcome["verdict"], Sum>();
  readonly #ends = new Map<string, EndSum>();
  readonly #copies = new Map<string, Sum>();
  readonly #beyond = new Map<string, EndSum & { port: string }>();
  readonly #rules = new Map<HitRule, Sum>();
  readonly #rewritten = new Map<string, Sum>();
  readonly #registers = new Map<string, RegisterSum>();

  /**
   * Counts a frame, or all frames of an outcome class.
   * @param sum the frames of the class and their bytes; rules change the length of each by the same amount
   */
  add({ bytes, wireLength: length = bytes.length }: RunFrame, outcome: Outcome, sum = one(length)): void {
    this.addSummed(summedOutcome(bytes, outcome), sum);
  }

  /** @internal Counts frames with this outcome. */
  addSummed(outcome: SummedOutcome, sum: Sum): void {
    grow(this.all, sum);
    grow(getOr(this.verdicts, outcome.verdict, nothing), sum);
    for (const end of endsOf(outcome)) {
      grow(
        getOr(this.#ends, keyOf(end), () => ({ ...end, ...nothing() })),
        sum,
      );
    }
    this.#addHits(outcome, sum);
  }

  /** The ends of frames, in the order of their first frame. */
  get ends(): readonly EndSum[] {
    return [...this.#ends.values()];
  }

  /** Copies by destination, including those made after a frame left by a port. */
  get copies(): ReadonlyMap<string, Sum> {
    return this.#copies;
  }

  /** The ends of frames that left by a port, at the port where they arrived next. */
  get beyond(): readonly (EndSum & { port: string })[] {
    return [...this.#beyond.values()];
  }

  /** Frames that arrived at a destination with changed bytes, with their length there. */
  get rewritten(): ReadonlyMap<string, Sum> {
    return this.#rewritten;
  }

  /** By register: the values that rules have written. */
  get registers(): ReadonlyMap<string, RegisterSum> {
    return this.#registers;
  }

  /** The sums that do not depend on the port. */
  #addHits(outcome: SummedOutcome, sum: Sum): void {
    for (const rule of outcome.rules) grow(getOr(this.#rules, rule, nothing), sum);
    for (const { name } of outcome.copies) grow(getOr(this.#copies, name, nothing), sum);
    for (const { name, growth } of [...outcome.to, ...outcome.copies]) {
      if (growth !== null) grow(getOr(this.#rewritten, name, nothing), lengthened(sum, growth));
    }
    for (const [name, value] of Object.entries(outcome.registers)) {
      const register = getOr(this.#registers, name, (): RegisterSum => ({ frames: 0, values: new Map() }));
      register.frames += sum.frames;
      register.values.set(value, (register.values.get(value) ?? 0) + sum.frames);
    }
    for (const { name: port, growth, beyond: far } of outcome.to) {
      if (far === null) continue;
      const there = lengthened(sum, growth);
      for (const end of endsOf(far)) {
        grow(
          getOr(this.#beyond, `${port} ${keyOf(end)}`, () => ({ port, ...end, ...nothing() })),
          there,
        );
      }
      this.#addHits(far, there);
    }
  }

  /** Frames that hit the rule; a frame that reaches it several times counts each time. */
  rule(rule: HitRule): Sum {
    return this.#rules.get(rule) ?? nothing();
  }
}

type End = Omit<EndSum, keyof Sum>;

/** The ends of a frame: its destinations. */
export function endsOf({ to, verdict, reason, missed }: SummedOutcome): End[] {
  if (to.length === 0) return [{ to: null, verdict, reason, missed }];
  return to.map(({ name }) => ({ to: name, verdict, reason, missed: [] }));
}

/** A key that is equal for equal ends. */
export function keyOf({ to, verdict, reason, missed }: End): string {
  if (to !== null) return to;
  const tables = missed.map(({ domain, vport, table }) => `${domain} ${vport} ${table}`);
  return [verdict, reason ?? "", ...tables].join(" ");
}

function nothing(): Sum {
  return { frames: 0, bytes: 0 };
}

/** One frame of this many bytes. */
export function one(bytes: number): Sum {
  return { frames: 1, bytes };
}

/** The same frames, after each has grown by this number of bytes; null for unchanged frames. */
export function lengthened({ frames, bytes }: Sum, growth: number | null): Sum {
  return { frames, bytes: bytes + frames * (growth ?? 0) };
}

function grow(sum: Sum, by: Sum): void {
  sum.frames += by.frames;
  sum.bytes += by.bytes;
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
