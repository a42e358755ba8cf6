/** The values of fields of frames, in columns: a filter that is typed reads each field of the frames once. */
import { filterValues, holds, leavesOf, parseDisplayFilter, passes } from "flowsteer/packet";
import type { FilterField, FilterLeaf, FilterValue } from "flowsteer/packet";
import type { Progress } from "../api.js";
import { filterFields, OUTCOME_FIELDS } from "../filterFields.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import { secondsOf, type Frames } from "./frames.js";
import { scanParsed } from "./parsedScan.js";

/** Columns that are kept, the newest. */
const KEPT = 16;

type Values = readonly FilterValue[];
type Passes = (frame: number) => boolean;

/** The values of one field in all frames. Frames with the same values share a list of them. */
class Column {
  readonly lists: Values[] = [[]];
  readonly #numbers: Uint32Array;
  readonly #byKey = new Map<FilterValue, number>();

  constructor(frames: number) {
    this.#numbers = new Uint32Array(frames);
  }

  set(frame: number, values: Values): void {
    if (values.length === 0) return;
    const [only] = values as [FilterValue];
    const key = values.length === 1 ? only : values.join(" ");
    let number = this.#byKey.get(key);
    if (number === undefined) {
      number = this.lists.push(values) - 1;
      this.#byKey.set(key, number);
    }
    this.#numbers[frame - 1] = number;
  }

  passing(leaf: FilterLeaf): Passes {
    const pass = this.lists.map((values) => passes(leaf, values));
    return (frame) => pass[this.#numbers[frame - 1] ?? 0] === true;
  }
}

/** Which frames pass a condition on whole headers, whose bytes are not kept. */
class Marks {
  readonly #marks: Uint8Array;

  constructor(
    readonly leaf: FilterLeaf,
    frames: number,
  ) {
    this.#marks = new Uint8Array(frames);
  }

  set(frame: number, values: Values): void {
    if (passes(this.leaf, values)) this.#marks[frame - 1] = 1;
  }

  passing(): Passes {
    return (frame) => this.#marks[frame - 1] === 1;
  }
}

export class FrameFields {
  readonly #frames: Frames;
  readonly #columns = new Map<string, Column>();

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  /** Whether a frame passes a filter; all frames do where the text is none. */
  async passing(text: string, run: Run, pace: Pace, progress: Progress): Promise<Passes> {
    const parsed = parseDisplayFilter(text, filterFields());
    if (parsed.fault !== null || parsed.expression === null) return () => true;
    const { expression } = parsed;
    const leaves = leavesOf(expression);
    const marks = await this.#read(leaves, run, pace, progress);
    const tests = new Map(leaves.map((leaf) => [leaf, this.#test(leaf, run, marks)]));
    return (frame) => holds(expression, (leaf) => tests.get(leaf)?.(frame) ?? false);
  }

  #test(leaf: FilterLeaf, { outcomes }: Run, marks: readonly Marks[]): Passes {
    const { field } = leaf;
    const ofOutcome = OUTCOME_FIELDS[field.name];
    if (ofOutcome !== undefined) {
      const pass = outcomes.classes.map((one) => passes(leaf, ofOutcome(one)));
      return (frame) => pass[outcomes.numberOf(frame) - 1] === true;
    }
    if (field.places === null) return (frame) => passes(leaf, this.#ofRecord(field, frame));
    return (marks.find((one) => one.leaf === leaf) ?? this.#columns.get(field.name))?.passing(leaf) ?? (() => false);
  }

  #ofRecord({ name }: FilterField, frame: number): Values {
    const { length, wireLength, time } = this.#frames.head(frame);
    const seconds = secondsOf(this.#frames, time);
    const values: Readonly<Record<string, number | null>> = {
      "frame.number": frame,
      "frame.len": wireLength,
      "frame.cap_len": length,
      "frame.time_relative": seconds,
    };
    const value = values[name] ?? null;
    return value === null ? [] : [value];
  }

  /** Reads what is not known yet. */
  async #read(leaves: readonly FilterLeaf[], run: Run, pace: Pace, progress: Progress): Promise<Marks[]> {
    const { count } = this.#frames;
    const asked = leaves.filter(({ field }) => field.places !== null);
    const marks = asked.filter(({ field }) => field.header).map((leaf) => new Marks(leaf, count));
    const fields = new Map(asked.filter(({ field }) => !field.header).map(({ field }) => [field.name, field]));
    const missing = [...fields.values()].filter(({ name }) => !this.#columns.has(name));
    const fresh = missing.map((field) => [field, new Column(count)] as const);
    const reads = [...fresh, ...marks.map((one) => [one.leaf.field, one] as const)];
    if (reads.length > 0) {
      await scanParsed(this.#frames, run.loaded.device, pace, progress, (frame, bytes, parsed) => {
        for (const [field, into] of reads) into.set(frame, filterValues(field, bytes, parsed));
      });
    }
    for (const [{ name }, column] of fresh) this.#columns.set(name, column);
    this.#forget(new Set(fields.keys()));
    return marks;
  }

  #forget(used: ReadonlySet<string>): void {
    for (const name of this.#columns.keys()) {
      if (this.#columns.size <= KEPT) return;
      if (!used.has(name)) this.#columns.delete(name);
    }
  }
}
