/** Sums over outcomes: where frames went, and what each rule took. */
import type { HitRule, Outcome } from "../../model/traffic/outcome.js";
import { farOutcomes, type RunFrame } from "./record.js";

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

/** What a register held at the end of frames. */
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

  /** Counts a frame, or as many as are `alike`: their outcomes are this one but for bytes, lengths and tags, and rules have lengthened all by as much. */
  add({ bytes, wireLength: length = bytes.length }: RunFrame, outcome: Outcome, alike = one(length)): void {
    grow(this.all, alike);
    grow(getOr(this.verdicts, outcome.verdict, nothing), alike);
    for (const end of endsOf(outcome)) {
      grow(
        getOr(this.#ends, keyOf(end), () => ({ ...end, ...nothing() })),
        alike,
      );
    }
    this.#addHits(bytes, outcome, alike);
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

  /** Frames that arrived at a destination with other bytes than came in, with those that they have there. */
  get rewritten(): ReadonlyMap<string, Sum> {
    return this.#rewritten;
  }

  /** By register: what rules left there. */
  get registers(): ReadonlyMap<string, RegisterSum> {
    return this.#registers;
  }

  /** What does not depend on which port it was. */
  #addHits(input: Uint8Array, outcome: Outcome, alike: Sum): void {
    for (const rule of outcome.rules) grow(getOr(this.#rules, rule, nothing), alike);
    for (const { name } of outcome.copies) grow(getOr(this.#copies, name, nothing), alike);
    for (const { name, frame } of [...outcome.to, ...outcome.copies]) {
      if (frame !== input) grow(getOr(this.#rewritten, name, nothing), lengthened(alike, input, frame));
    }
    for (const [name, value] of Object.entries(outcome.registers)) {
      const sum = getOr(this.#registers, name, (): RegisterSum => ({ frames: 0, values: new Map() }));
      sum.frames += alike.frames;
      sum.values.set(value, (sum.values.get(value) ?? 0) + alike.frames);
    }
    for (const [port, far, frame] of farOutcomes(outcome)) {
      const there = lengthened(alike, input, frame);
      for (const end of endsOf(far)) {
        grow(
          getOr(this.#beyond, `${port} ${keyOf(end)}`, () => ({ port, ...end, ...nothing() })),
          there,
        );
      }
      this.#addHits(frame, far, there);
    }
  }

  /** Frames that hit the rule; a frame that came to it by several ways counts each time. */
  rule(rule: HitRule): Sum {
    return this.#rules.get(rule) ?? nothing();
  }
}

type End = Omit<EndSum, keyof Sum>;

/** Where a frame ended. */
export function endsOf({ to, verdict, reason }: Outcome): End[] {
  if (to.length === 0) return [{ to: null, verdict, reason }];
  return to.map(({ name }) => ({ to: name, verdict, reason }));
}

/** What frames that ended alike have in common. */
export function keyOf({ to, verdict, reason }: End): string {
  return to ?? `${verdict} ${reason ?? ""}`;
}

function nothing(): Sum {
  return { frames: 0, bytes: 0 };
}

/** One frame of so many bytes. */
export function one(bytes: number): Sum {
  return { frames: 1, bytes };
}

/** The same frames, each with as many bytes more as `now` has more than `was`. */
export function lengthened({ frames, bytes }: Sum, was: Uint8Array, now: Uint8Array): Sum {
  return { frames, bytes: bytes + frames * (now.length - was.length) };
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
