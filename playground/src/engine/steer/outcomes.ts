/** The outcomes of all frames: a class number for each frame, and the outcome of each class. */
import type { HitRule, Outcome } from "flowsteer";
import { farOutcomes, outcomeNames, type Answer, type LoadedScenario } from "flowsteer/scenario";
import { isUnclaimed } from "flowsteer/import";
import type { FrameEnd, FrameOutcome } from "../api.js";

/** Frames with the same outcome, whatever their bytes and tags are. */
export interface OutcomeClass {
  readonly outcome: FrameOutcome;
  /** Equal for classes that end alike. */
  readonly end: string;
  /** Names of rules and destinations, those beyond ports included. */
  readonly hits: ReadonlySet<string>;
  readonly reached: ReadonlySet<string>;
  /** The tables of the rules, in order, and those without a rule for the frame. */
  readonly tables: readonly string[];
  /** What meters, connections and flags answered. */
  readonly answers: readonly Answer[];
}

export class Outcomes {
  readonly classes: OutcomeClass[] = [];
  /** By frame; 0 is no class. */
  readonly #numbers: Uint32Array;
  /** Tags plus one by frame, of which few rules give any. */
  #tags: Float64Array | null = null;
  readonly #byKey = new Map<string, number>();
  readonly #loaded: LoadedScenario;

  constructor(loaded: LoadedScenario, frames: number) {
    this.#loaded = loaded;
    this.#numbers = new Uint32Array(frames);
  }

  get count(): number {
    return this.#numbers.length;
  }

  /** The number of a class in `classes`, plus one; 0 for a frame without an outcome. */
  numberOf(frame: number): number {
    return this.#numbers[frame - 1] ?? 0;
  }

  of(frame: number): OutcomeClass | undefined {
    return this.classes[this.numberOf(frame) - 1];
  }

  /** How many frames no rule took but the driver's own. */
  get unclaimed(): number {
    const are = this.classes.map(({ outcome }) => outcome.unclaimed);
    return are.includes(true) ? this.#numbers.reduce((sum, number) => sum + Number(are[number - 1] === true), 0) : 0;
  }

  /** The first frame that missed or was dropped; null if none did. */
  get firstLost(): number | null {
    const lost = this.classes.map(({ outcome: { verdict } }) => verdict === "miss" || verdict === "drop");
    const at = lost.includes(true) ? this.#numbers.findIndex((number) => lost[number - 1] === true) : -1;
    return at === -1 ? null : at + 1;
  }

  /** Null without a tag. */
  tagOf(frame: number): number | null {
    const tag = this.#tags?.[frame - 1] ?? 0;
    return tag === 0 ? null : tag - 1;
  }

  /** Gives a frame the class of this number. */
  set(frame: number, number: number, tag: number | null = null): void {
    this.#numbers[frame - 1] = number;
    if (tag !== null) (this.#tags ??= new Float64Array(this.count))[frame - 1] = tag + 1;
  }

  /** The number of the class of an outcome. */
  classOf(outcome: Outcome): number {
    const { verdict, reason, to, copies, rules } = outcomeNames(outcome);
    const answers = this.#loaded.state.answersOf(outcome);
    const [hits, reached] = [new Set(rules), new Set([...to, ...copies])];
    for (const [, far] of farOutcomes(outcome)) addFar(far, hits, reached);
    const tables = [...new Set([...outcome.rules.map(tableOf), ...outcome.missed.map(({ table }) => table)])];
    const said = answers.map(({ use, answer }) => [use.kind, use.name, answer]);
    const key = JSON.stringify([verdict, reason, to, copies, [...hits], [...reached], said, rules, tables]);
    return this.#add(key, () => {
      const named = { verdict, reason, to, copies, rules, unclaimed: isUnclaimed(rules), skipped: null };
      return { outcome: named, end: endKey(named), hits, reached, tables, answers };
    });
  }

  /** The number of the class of frames that cannot be steered. */
  skipped(why: string): number {
    return this.#add(why, () => {
      const outcome = { ...NOTHING, skipped: why };
      return { outcome, end: why, hits: NONE, reached: NONE, tables: [], answers: [] };
    });
  }

  #add(key: string, make: () => OutcomeClass): number {
    let number = this.#byKey.get(key);
    if (number === undefined) {
      number = this.classes.push(make());
      this.#byKey.set(key, number);
    }
    return number;
  }
}

const NOTHING: FrameOutcome = {
  verdict: null,
  reason: null,
  to: [],
  copies: [],
  rules: [],
  unclaimed: false,
  skipped: null,
};
const NONE: ReadonlySet<string> = new Set();

/** Flows of verbs and rules of the host have no table of their own. */
function tableOf(rule: HitRule): string {
  if ("place" in rule && "table" in rule.place) return rule.place.table.name;
  return "group" in rule ? rule.table.name : "root";
}

function addFar(outcome: Outcome, hits: Set<string>, reached: Set<string>): void {
  for (const { name } of outcome.rules) hits.add(name);
  for (const { name } of [...outcome.to, ...outcome.copies]) reached.add(name);
  for (const [, far] of farOutcomes(outcome)) addFar(far, hits, reached);
}

function endKey({ verdict, reason, to, copies }: FrameEnd): string {
  return JSON.stringify([verdict, reason, to, copies]);
}
