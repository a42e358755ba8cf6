/** Sums over the answers of meters, flags and connections, and over the ends of the frames that got them. */
import type { HitRule, Outcome } from "../../model/traffic/outcome.js";
import type { RuleUses, StateUse } from "../state/use.js";
import type { SummedOutcome } from "./summed.js";
import { endsOf, keyOf, lengthened, type EndSum, type Sum } from "./tally.js";

/** The answer of a meter, a flag or a connection. */
export interface Answer {
  readonly use: StateUse;
  /** The low byte of the register. */
  readonly answer: number;
}

/** Frames that got the same answer. */
export interface AnswerSum extends Answer, Sum {
  /** By where they ended. */
  readonly ends: Map<string, EndSum>;
}

export class StateTally {
  readonly #uses: ReadonlyMap<HitRule, RuleUses>;
  readonly #sums = new Map<string, AnswerSum>();

  constructor(uses: ReadonlyMap<HitRule, RuleUses>) {
    this.#uses = uses;
  }

  /** By state object, in the order of their first answer. */
  get answers(): readonly AnswerSum[] {
    const names = [...new Set([...this.#sums.values()].map(({ use }) => use.name))];
    return [...this.#sums.values()].sort(
      (a, b) => names.indexOf(a.use.name) - names.indexOf(b.use.name) || a.answer - b.answer,
    );
  }

  /** The state that rules use, each object once. */
  get uses(): readonly StateUse[] {
    const all = [...this.#uses.values()].flatMap(({ uses }) => uses);
    return [...new Map(all.map((use) => [`${use.kind} ${use.name}`, use])).values()];
  }

  /** @internal Counts frames with this outcome. */
  addSummed(outcome: SummedOutcome, added: Sum): void {
    if (this.#uses.size === 0) return;
    for (const { use, answer } of this.answersOf(outcome)) {
      const key = `${use.kind} ${use.name} ${answer}`;
      const sum = this.#sums.get(key) ?? { use, answer, frames: 0, bytes: 0, ends: new Map<string, EndSum>() };
      this.#sums.set(key, sum);
      sum.frames += added.frames;
      sum.bytes += added.bytes;
      for (const end of endsOf(outcome)) {
        const before = sum.ends.get(keyOf(end)) ?? { ...end, frames: 0, bytes: 0 };
        sum.ends.set(keyOf(end), {
          ...before,
          frames: before.frames + added.frames,
          bytes: before.bytes + added.bytes,
        });
      }
    }
    for (const { growth, beyond } of outcome.to) {
      if (beyond !== null) this.addSummed(beyond, lengthened(added, growth));
    }
  }

  /** The answers that a frame got, one for each register. */
  answersOf({ rules, registers }: Pick<Outcome, "rules" | "registers">): Answer[] {
    const answers: Answer[] = [];
    for (const [register, use] of this.#lastWriters(rules)) {
      const value = registers[`C${register}`];
      if (use !== null && value !== undefined) answers.push({ use, answer: value & 0xff });
    }
    return answers;
  }

  /** By register, the state whose answer was written last; null for another action, or for two states of one rule. */
  #lastWriters(rules: readonly HitRule[]): Map<number, StateUse | null> {
    const writers = new Map<number, StateUse | null>();
    for (const rule of rules) {
      const { uses = [], writes = EMPTY } = this.#uses.get(rule) ?? {};
      for (const use of uses) {
        const twice = uses.some((other) => other !== use && other.register === use.register);
        writers.set(use.register, twice ? null : use);
      }
      for (const register of writes ?? [...writers.keys()]) writers.set(register, null);
    }
    return writers;
  }
}

const EMPTY: ReadonlySet<number> = new Set();
