/**
 * Bytes to outcome in plain JavaScript: the parser, the classifier, and rules that count, tag and
 * name a queue; once into reused arrays, once into one object a frame.
 */
import { PlainClassifier } from "./classifier.js";
import { TUPLE_WANTS } from "../tuples.js";
import { PlainParser } from "./parser.js";

/** A rule: its number and its actions. */
export interface PlainRule {
  id: number;
  counter: { packets: number; bytes: number };
  tag: number;
  queue: string;
}

export interface PlainOutcome {
  verdict: "deliver" | "miss";
  reason: string | null;
  to: { kind: "qp"; name: string; frame: Uint8Array }[];
  tag: number | null;
  registers: Record<string, number>;
  rules: PlainRule[];
  copies: never[];
}

export class PlainNic {
  readonly classifier = new PlainClassifier<PlainRule>();
  readonly #parser: PlainParser;
  /** Of each frame of the last batch: the rule, or null for a miss; and the tag, or -1. */
  readonly rules: (PlainRule | null)[];
  readonly tags: Int32Array;

  constructor(batch: number) {
    this.#parser = new PlainParser(batch);
    this.rules = Array.from({ length: batch }, () => null);
    this.tags = new Int32Array(batch);
  }

  /** Steers `count` frames of the list from `first` on. */
  steer(frames: readonly Uint8Array[], first: number, count: number): void {
    for (let i = 0; i < count; i++) {
      const rule = this.#classify(frames[first + i]!);
      this.rules[i] = rule;
      this.tags[i] = rule === null ? -1 : rule.tag;
    }
  }

  receive(frame: Uint8Array): PlainOutcome {
    const rule = this.#classify(frame);
    if (rule === null) {
      return { verdict: "miss", reason: "no_rule", to: [], tag: null, registers: {}, rules: [], copies: [] };
    }
    const { tag, queue } = rule;
    const to = [{ kind: "qp" as const, name: queue, frame }];
    return { verdict: "deliver", reason: null, to, tag, registers: {}, rules: [rule], copies: [] };
  }

  #classify(frame: Uint8Array): PlainRule | null {
    const parser = this.#parser;
    parser.parse(frame, 0, frame.length, 1, 0, TUPLE_WANTS);
    const rule = this.classifier.lookup(parser.fields, 0);
    if (rule !== null) {
      const { counter } = rule;
      counter.packets++;
      counter.bytes += frame.length;
    }
    return rule;
  }
}
