/**
 * A chain of tables in plain JavaScript: frames are copied in, matched, changed and encapsulated.
 */
import { FRAME_HEAD_ROOM } from "../../src/abi/engine.js";
import { TUPLE_WANTS } from "../tuples.js";
import { PlainClassifier } from "./classifier.js";
import { PlainParser } from "./parser.js";
import { change, Places, type PlainChange, type PlainTunnel } from "./rewrite.js";

/** A rule's actions, in order of execution. */
export interface PlainStep {
  changes: readonly PlainChange[];
  counter: { packets: number; bytes: number } | null;
  tunnel: PlainTunnel | null;
  /** The next table; null ends the path, at a queue unless the frame is dropped. */
  next: PlainTable | null;
  drop: boolean;
}

export interface PlainOutcome {
  verdict: string;
  reason: string;
  /** Number of rules that the frame hit. */
  rules: number;
  /** Hexadecimal; null if it was not delivered. */
  frame: string | null;
}

export class PlainTable {
  readonly classifier = new PlainClassifier<PlainStep>();
}

const DELIVERED = 0;
const DROPPED = 1;
const MISSED = 2;
const ROOT_MISSED = 3;
const OUTCOMES = [
  ["deliver", "none"],
  ["drop", "drop_action"],
  ["drop", "table_miss"],
  ["miss", "no_rule"],
] as const;

export class PlainPipeline {
  readonly root = new PlainTable();
  /**
   * For each frame of the last batch: its result (of OUTCOMES), the number of rules hit, and its
   * bytes in `bytes`.
   */
  readonly verdicts: Uint8Array;
  readonly hits: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly bytes: Uint8Array;
  readonly #parser = new PlainParser(1);
  readonly #places = new Places();

  /** `room` bytes for the frames of a batch. */
  constructor(batch: number, room: number) {
    this.verdicts = new Uint8Array(batch);
    this.hits = new Uint8Array(batch);
    this.starts = new Int32Array(batch);
    this.ends = new Int32Array(batch);
    this.bytes = new Uint8Array(room);
  }

  /** Steers `count` frames of the list from `first` on. */
  steer(frames: readonly Uint8Array[], first: number, count: number): void {
    let next = 0;
    for (let i = 0; i < count; i++) {
      const frame = frames[first + i]!;
      const start = next + FRAME_HEAD_ROOM;
      this.bytes.set(frame, start);
      this.#walk(i, start, start + frame.length);
      next = (start + frame.length + 15) & ~15;
    }
  }

  /** Frame i of the last batch. */
  outcome(i: number): PlainOutcome {
    const [verdict, reason] = OUTCOMES[this.verdicts[i]!]!;
    const bytes = this.bytes.subarray(this.starts[i], this.ends[i]);
    const frame = verdict === "deliver" ? Buffer.from(bytes).toString("hex") : null;
    return { verdict, reason, rules: this.hits[i]!, frame };
  }

  #walk(i: number, start: number, end: number): void {
    const parser = this.#parser;
    const places = this.#places;
    const { bytes } = this;
    this.#parse(start, end);
    let table: PlainTable | null = this.root;
    let hits = 0;
    let verdict = DELIVERED;
    while (table !== null) {
      const step = table.classifier.lookup(parser.fields, 0);
      if (step === null) {
        verdict = hits === 0 ? ROOT_MISSED : MISSED;
        break;
      }
      hits++;
      if (step.changes.length > 0) change(bytes, places, step.changes, parser.fields, 0);
      const { counter, tunnel } = step;
      if (counter !== null) {
        counter.packets++;
        counter.bytes += end - start;
      }
      if (step.drop) verdict = DROPPED;
      table = step.next;
      if (tunnel === null) continue;
      tunnel.put(bytes, start, end, places);
      start -= tunnel.length;
      if (table !== null) this.#parse(start, end);
    }
    this.verdicts[i] = verdict;
    this.hits[i] = hits;
    this.starts[i] = start;
    this.ends[i] = end;
  }

  #parse(start: number, end: number): void {
    const parser = this.#parser;
    parser.parse(this.bytes, start, end - start, 1, 0, TUPLE_WANTS);
    this.#places.find(parser.lists, 0, start);
  }
}
