/** The sums of a part of a run as plain data, and how parts become the sums of the whole: docs/farm.md. */
import type { HitRule } from "../../model/traffic/outcome.js";
import type { Compared } from "../../scenario/expect/check.js";
import type { Failure } from "../../scenario/expect/failure.js";
import type { LoadedScenario } from "../../scenario/load.js";
import { withRules, type SummedOutcome } from "../../scenario/outcome/summed.js";
import type { Sum } from "../../scenario/outcome/tally.js";
import { addCounts, countsSince, readCounts, type CounterChange, type Counts } from "./counts.js";
import { applyState, readState, stateSince, type State, type StateChange } from "./stateChanges.js";

/** Frames whose outcomes are alike. Rules are their places in `LoadedScenario.hitRules`. */
export interface AlikeFrames extends Sum {
  readonly outcome: SummedOutcome<number>;
  /** The number of the first of them. */
  readonly first: number;
}

/** The sums of a part of a run. It survives JSON. */
export interface PartSums {
  /** In the order of their first frames. */
  readonly alike: readonly AlikeFrames[];
  readonly counters: readonly CounterChange[];
  /** What frames changed in meters, flags and connections. */
  readonly state: readonly StateChange[];
  /** Receive buffers: the name of the queue, buffers completed, buffers failed. */
  readonly buffers: readonly (readonly [queue: string, completed: number, failed: number])[];
  /** Frames that were compared with expectations. */
  readonly compared: readonly Compared[];
  readonly disagreements: readonly Failure[];
}

/**
 * Records what frames add to the sums of a loaded scenario. `take` gives it, and begins the next part.
 *
 * @example
 * const recorder = new PartRecorder(loaded);
 * run.run(columns, columns.count, 1, skip, null);
 * run.flush();
 * addParts(whole, [recorder.take()]);
 */
export class PartRecorder {
  readonly #loaded: LoadedScenario;
  readonly #places: ReadonlyMap<HitRule, number>;
  #alike = new Map<string, AlikeFrames>();
  #counts: Counts;
  readonly #state: State;
  #disagreements = 0;

  /** @param loaded a scenario that has steered no frame yet */
  constructor(loaded: LoadedScenario) {
    this.#loaded = loaded;
    this.#places = new Map(loaded.hitRules.map((rule, place) => [rule, place]));
    this.#counts = readCounts(loaded);
    this.#state = readState(loaded);
    loaded.onSum = (outcome, sum, first) => this.#add(outcome, sum, first);
  }

  /** What was added since the last call. Changes of state are those since the beginning. */
  take(): PartSums {
    const loaded = this.#loaded;
    const alike = [...this.#alike.values()].sort(byFirst);
    this.#alike = new Map();
    const before = this.#counts;
    this.#counts = readCounts(loaded);
    const disagreements = loaded.disagreements.slice(this.#disagreements);
    this.#disagreements += disagreements.length;
    return {
      alike,
      counters: countsSince(before, this.#counts),
      state: stateSince(this.#state, loaded),
      buffers: [...loaded.queues.values()].flatMap(({ name, buffers }) =>
        buffers === null ? [] : [[name, buffers.completed, buffers.failed] as const],
      ),
      compared: loaded.expectations.take(),
      disagreements,
    };
  }

  #add(outcome: SummedOutcome, { frames, bytes }: Sum, first: number): void {
    const placed = withRules(outcome, (rule) => this.#placeOf(rule));
    const key = JSON.stringify(placed);
    const before = this.#alike.get(key);
    this.#alike.set(key, {
      outcome: placed,
      first: Math.min(first, before?.first ?? Infinity),
      frames: frames + (before?.frames ?? 0),
      bytes: bytes + (before?.bytes ?? 0),
    });
  }

  #placeOf(rule: HitRule): number {
    const place = this.#places.get(rule);
    if (place === undefined) throw new Error(`a frame hit ${rule.name}, which is not in the document`);
    return place;
  }
}

/**
 * Adds parts to the sums of a scenario that has steered none of their frames. Afterwards they are as if it had steered them,
 * and had found the parts of one call side by side: the frames of such parts may alternate.
 */
export function addParts(loaded: LoadedScenario, parts: readonly PartSums[]): void {
  const rules = loaded.hitRules;
  const alike = parts.flatMap((part) => part.alike).sort(byFirst);
  for (const { outcome, frames, bytes, first } of alike) {
    loaded.addSums(
      withRules(outcome, (place) => rules[place] as HitRule),
      { frames, bytes },
      first,
    );
  }
  const compared = parts.flatMap((part) => part.compared).sort((a, b) => a.frame - b.frame);
  for (const one of compared) loaded.expectations.add(one);
  for (const { counters, state, buffers, disagreements } of parts) {
    addCounts(loaded, counters);
    applyState(loaded, state);
    loaded.addDisagreements(disagreements);
    for (const [queue, completed, failed] of buffers) {
      const held = loaded.queues.get(queue)?.buffers;
      if (held) Object.assign(held, { completed, failed });
    }
  }
}

function byFirst(a: AlikeFrames, b: AlikeFrames): number {
  return a.first - b.first;
}
