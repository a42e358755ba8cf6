/**
 * Frames that RSS spread unevenly: one queue got far more than its share of the indirection table. The cause is read from
 * traces of some frames of that queue.
 */
import type { HitRule, Outcome } from "../../model/traffic/outcome.js";
import { hashClauses } from "../print/hashText.js";
import type { HashChoice, Trace } from "../trace/trace.js";
import type { KeyFrame } from "./frameKeys.js";

/** A frame of the fullest queue. */
export interface SampledFrame extends KeyFrame {
  readonly number: number;
  /** Where it arrived. */
  readonly port: number;
}

/** How RSS spread the frames of a rule. */
export interface Spread {
  readonly rule: string;
  /** All frames that it spread. */
  readonly frames: number;
  /** Those of each queue, the fullest first. */
  readonly queues: readonly { readonly queue: string; readonly frames: number }[];
  /** The part of the indirection table that the fullest queue has: 0 to 1. */
  readonly share: number;
  /** Frames of the fullest queue. */
  readonly examples: readonly number[];
  /** Why they went there. */
  readonly sentence: string;
}

/** A queue is uneven if it gets a quarter of all frames more than its share, of as many frames. */
const TOO_MUCH = 0.25;
const MIN_FRAMES = 64;
/** Frames of each queue that are kept to be traced: drawn at random, with a fixed seed. */
const SAMPLES = 32;
const EXAMPLES = 4;

/** The frames that a rule sent to one queue. */
export class SpreadPart {
  frames = 0;
  readonly samples: SampledFrame[] = [];
  #seed = 0x9e3779b9;
  #place = 0;

  /** Counts a frame. @returns whether it is wanted as a sample, for `keep` */
  count(): boolean {
    this.frames++;
    if (this.frames <= SAMPLES) {
      this.#place = this.frames - 1;
      return true;
    }
    // xorshift32
    let seed = this.#seed;
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    this.#seed = seed ^= seed << 5;
    this.#place = (seed >>> 0) % this.frames;
    return this.#place < SAMPLES;
  }

  /** Keeps a copy of the frame that was counted last. */
  keep(frame: SampledFrame): void {
    this.samples[this.#place] = { ...frame, bytes: frame.bytes.slice() };
  }
}

/** Counts the frames that rules sent to queues, and finds the rules whose frames RSS spread unevenly. */
export class Spreads {
  readonly #rules = new Map<HitRule, Map<string, SpreadPart>>();

  /** Where frames of an outcome are counted; null for those that no rule sent to one queue. */
  partOf({ rules, to }: Outcome): SpreadPart | null {
    const [only] = to;
    const rule = rules.at(-1);
    if (rule === undefined || only === undefined || only.kind === "port" || to.length > 1) return null;
    const queues = this.#rules.get(rule) ?? new Map<string, SpreadPart>();
    this.#rules.set(rule, queues);
    const part = queues.get(only.name) ?? new SpreadPart();
    queues.set(only.name, part);
    return part;
  }

  /** The uneven ones, the largest first. @param trace a trace of a frame, after all were steered */
  async uneven(trace: (frame: SampledFrame) => Promise<Trace>): Promise<Spread[]> {
    const uneven: Spread[] = [];
    for (const [rule, parts] of this.#rules) {
      const queues = [...parts].sort(([, a], [, b]) => b.frames - a.frames);
      const frames = queues.reduce((sum, [, part]) => sum + part.frames, 0);
      const [, fullest] = queues[0] as [string, SpreadPart];
      if (frames < MIN_FRAMES || fullest.frames / frames <= TOO_MUCH) continue;
      const [first] = fullest.samples as [SampledFrame];
      const hash = hashOf(await trace(first));
      if (hash === null) continue;
      const share = hash.sharing / hash.entries;
      if (fullest.frames / frames < share + TOO_MUCH) continue;
      const all = [hash];
      for (const sample of fullest.samples.slice(1)) all.push(hashOf(await trace(sample)) ?? hash);
      uneven.push({
        rule: rule.name,
        frames,
        queues: queues.map(([queue, part]) => ({ queue, frames: part.frames })),
        share,
        examples: fullest.samples
          .map(({ number }) => number)
          .sort((a, b) => a - b)
          .slice(0, EXAMPLES),
        sentence: causeOf(all),
      });
    }
    return uneven.sort((a, b) => b.frames - a.frames);
  }
}

function hashOf({ steps }: Trace): HashChoice | null {
  return steps.flatMap((step) => (step.kind === "action" ? (step.hash ?? []) : [])).at(-1) ?? null;
}

/** Why frames share a queue: the hash has nothing to tell them apart, or they are one flow or a few. */
function causeOf(all: readonly HashChoice[]): string {
  const alike = mostFrequent(all, ({ function: name, fields, leftOut }) =>
    JSON.stringify([name, fields.length === 0, leftOut.map(({ sentence }) => sentence)]),
  );
  const [hash] = alike as [HashChoice];
  const clauses = hashClauses(hash);
  const some = alike.length === all.length ? "" : `${alike.length} of ${all.length} frames looked at: `;
  if (hash.function === "none" || hash.fields.length === 0) return some + clauses.join("; ");
  // What is not selected comes last.
  const end = clauses.length - hash.leftOut.filter(({ cause }) => cause === "unselected").length;
  return some + [...clauses.slice(1, end), flowsOf(alike), ...clauses.slice(end)].join("; ");
}

function flowsOf(hashes: readonly HashChoice[]): string {
  const common = mostFrequent(hashes, ({ input }) => input);
  const [{ fields }] = common as [HashChoice];
  const input = `the hash input ${fields.map(({ field, value }) => `${field} ${value}`).join(", ")}`;
  if (common.length === hashes.length) return `all have ${input}`;
  const inputs = new Set(hashes.map((one) => one.input)).size;
  return common.length * 2 > hashes.length
    ? `${common.length} of ${hashes.length} frames looked at have ${input}`
    : `${hashes.length} frames looked at have ${inputs} different hash inputs`;
}

function mostFrequent<T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return [...groups.values()].reduce((most, one) => (one.length > most.length ? one : most));
}
