/** The values of fields of frames, in columns: a filter that is typed reads each field of the frames once. */
import type { ParsedHeaders } from "flowsteer";
import { filterValues, holds, leavesOf, parseDisplayFilter, passes } from "flowsteer/packet";
import type { FilterExpression, FilterField, FilterLeaf, FilterValue } from "flowsteer/packet";
import type { Progress } from "../api.js";
import { filterFields, OUTCOME_FIELDS } from "../filterFields.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import { secondsOf, type Frames } from "./frames.js";
import { scanParsed } from "./parsedScan.js";

/** Columns that are kept, the newest. */
const KEPT = 16;

export type Values = readonly FilterValue[];
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

  /** Frames with the same values get the same list. */
  of(frame: number): Values {
    return this.lists[this.#numbers[frame - 1] ?? 0] ?? [];
  }

  passing(leaf: FilterLeaf): Passes {
    const pass = this.lists.map((values) => passes(leaf, values));
    return (frame) => pass[this.#numbers[frame - 1] ?? 0] === true;
  }
}

/** Which frames pass a condition on whole headers, whose bytes are not kept, or on two fields. */
class Marks {
  readonly #marks: Uint8Array;

  constructor(
    readonly leaf: FilterLeaf,
    frames: number,
  ) {
    this.#marks = new Uint8Array(frames);
  }

  /** @param valuesOf the values of a field in the frame */
  set(frame: number, valuesOf: (field: FilterField) => Values): void {
    const { field, versus } = this.leaf;
    const others = versus === null ? [] : valuesOf(versus.operand.field);
    if (passes(this.leaf, valuesOf(field), others)) this.#marks[frame - 1] = 1;
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
    const fields = leaves.filter(({ versus }) => versus === null).map(({ field }) => field);
    const marks = await this.#read(fields, leaves, run, pace, progress);
    const tests = new Map(leaves.map((leaf) => [leaf, this.#test(leaf, run, marks)]));
    return (frame) => holds(expression, (leaf) => tests.get(leaf)?.(frame) ?? false);
  }

  /** The values of the first of several fields that a frame has. */
  async values(
    fields: readonly FilterField[],
    run: Run,
    pace: Pace,
    progress: Progress,
  ): Promise<(frame: number) => Values> {
    const kept = fields.filter(({ header }) => header !== true);
    await this.#read(kept, [], run, pace, progress);
    return (frame) => {
      for (const field of kept) {
        const values =
          field.places === null
            ? (ofOutcome(field, run, frame) ?? ofRecord(field, run, frame))
            : (this.#columns.get(field.name)?.of(frame) ?? []);
        if (values.length > 0) return values;
      }
      return [];
    };
  }

  #test(leaf: FilterLeaf, run: Run, marks: readonly Marks[]): Passes {
    const { field } = leaf;
    const { outcomes } = run;
    const marked = marks.find((one) => one.leaf === leaf);
    if (marked !== undefined) return marked.passing();
    const ofClass = OUTCOME_FIELDS[field.name];
    if (ofClass !== undefined) {
      const pass = outcomes.classes.map((one) => passes(leaf, ofClass(one)));
      return (frame) => pass[outcomes.numberOf(frame) - 1] === true;
    }
    if (field.places === null) return (frame) => passes(leaf, ofRecord(field, run, frame));
    return this.#columns.get(field.name)?.passing(leaf) ?? (() => false);
  }

  /** Reads what is not known yet. */
  async #read(
    wanted: readonly FilterField[],
    leaves: readonly FilterLeaf[],
    run: Run,
    pace: Pace,
    progress: Progress,
  ): Promise<Marks[]> {
    const { count } = this.#frames;
    const marked = leaves.filter(({ field, versus }) => field.header === true || versus !== null);
    const marks = marked.map((leaf) => new Marks(leaf, count));
    const inBytes = wanted.filter(({ header, places }) => places !== null && header !== true);
    const fields = new Map(inBytes.map((field) => [field.name, field]));
    const missing = [...fields.values()].filter(({ name }) => !this.#columns.has(name));
    const fresh = missing.map((field) => [field, new Column(count)] as const);
    if (fresh.length + marks.length > 0) {
      await scanParsed(this.#frames, run.loaded.device, pace, progress, (frame, bytes, parsed) => {
        for (const [field, column] of fresh) column.set(frame, filterValues(field, bytes, parsed));
        for (const one of marks) one.set(frame, (field) => valuesIn(field, run, frame, bytes, parsed));
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

/** The fields of a column: `tcp.port || udp.port`. */
export function fieldsOf(column: string): FilterField[] {
  const { expression = null } = { ...parseDisplayFilter(column, filterFields()) } as { expression?: FilterExpression };
  return expression === null ? [] : leavesOf(expression).map(({ field }) => field);
}

/** The values of any field; those in its bytes only of a frame that can be steered. */
export function valuesIn(
  field: FilterField,
  run: Run,
  frame: number,
  bytes: Uint8Array,
  parsed: ParsedHeaders | null,
): Values {
  if (field.places === null) return ofOutcome(field, run, frame) ?? ofRecord(field, run, frame);
  return parsed === null ? [] : filterValues(field, bytes, parsed);
}

/** What the engine answered about a frame; null where the field is none of an outcome. */
export function ofOutcome({ name }: FilterField, { outcomes }: Run, frame: number): Values | null {
  const ofClass = OUTCOME_FIELDS[name];
  const found = outcomes.of(frame);
  if (ofClass === undefined) return null;
  return found === undefined ? [] : ofClass(found);
}

/** What a capture says of a frame, and the tag that rules gave it. */
export function ofRecord({ name }: FilterField, { frames, outcomes }: Run, frame: number): Values {
  const { length, wireLength, time } = frames.head(frame);
  const values: Readonly<Record<string, number | null>> = {
    "frame.number": frame,
    "frame.len": wireLength,
    "frame.cap_len": length,
    "frame.time_relative": secondsOf(frames, time),
    "fs.tag": outcomes.tagOf(frame),
  };
  const value = values[name] ?? null;
  return value === null ? [] : [value];
}
