/** Steers captured frames in bursts and sums them by outcome class, without an object for each frame: docs/frames.md, Big captures. */
import { MAX_FRAME } from "../abi/engine.js";
import type { Burst } from "../model/traffic/burst.js";
import { hasParser } from "../model/traffic/links.js";
import type { Outcome } from "../model/traffic/outcome.js";
import type { OutcomeClasses } from "../model/traffic/outcomeClasses.js";
import type { Summing } from "../model/traffic/receive.js";
import type { FrameColumns } from "../packet/capture/read.js";
import { onClock, type LoadedScenario } from "../scenario/load.js";
import type { Sum } from "../scenario/outcome/tally.js";
import { AdaptiveMode } from "./adaptiveMode.js";

/** Frames whose outcomes are equal, but for tags, bytes and lengths. */
export interface OutcomeClass extends Sum {
  /** The outcome of the first of them. */
  readonly outcome: Outcome;
  /** The bytes of the first of them. Only their length stays valid. */
  readonly firstBytes: Uint8Array;
  /** The number of the first of them. */
  readonly first: number;
}

/** Called for each frame that was steered: its row in the columns, its number, its tag, and its class, one object for many frames. */
export type SeeFrame = (
  row: number,
  number: number,
  wireLength: number,
  tag: number | null,
  outcomeClass: OutcomeClass,
) => void;

/** Called for each frame that cannot be steered. */
export type SkipFrame = (row: number, wireLength: number) => void;

/** Bytes that are copied at a time. */
const WORD = 8;
/** Outcome classes that are kept apart, and bytes of changed frames that are kept with their outcomes. */
const MAX_CLASSES = 4096;
const MAX_KEPT_BYTES = 16 << 20;

/** The outcome classes of a core, by number. */
interface KnownClasses {
  readonly classes: OutcomeClasses;
  readonly known: OutcomeClass[];
}

/** The rows of a burst are those of the columns from `begin` on. */
interface Rows {
  readonly burst: Burst;
  readonly frames: FrameColumns;
  readonly begin: number;
  /** The number of the first frame that was read into the columns. */
  readonly number: number;
  readonly see: SeeFrame | null;
}

type ReadOutcome = Parameters<Summing["summed"]>[3];

/**
 * Steers the frames of captures through a loaded scenario. Sums go to `tally` and `state` of the scenario; each frame that an
 * expectation names is compared.
 *
 * @example
 * const run = new CaptureRun(loaded, 1);
 * run.run(columns, columns.count, 1, skip, null);
 * run.flush();
 */
export class CaptureRun {
  readonly #loaded: LoadedScenario;
  readonly #port: number;
  /** In turn: one is filled while several cores steer the other. */
  readonly #bursts: readonly [Burst, Burst];
  /** The burst that was started last, until its end has been awaited. */
  #underWay: Burst | null = null;
  readonly #byCore = new Map<OutcomeClasses, KnownClasses>();
  /** In the order of their first frame. Two cores can have the same class. */
  readonly #classes: OutcomeClass[] = [];
  #keptBytes = 0;
  /** Giving frames to other cores can take longer than steering them. */
  readonly #mode = new AdaptiveMode();
  /** The end of the last piece of work. */
  #since = performance.now();

  /**
   * @param loaded a scenario whose `sumsAlone` is true: it reads nothing that arrives
   * @param port the port at which all frames arrive, from 1 on
   */
  constructor(loaded: LoadedScenario, port: number) {
    this.#loaded = loaded;
    this.#port = port;
    this.#bursts = [loaded.device.openBurst(), loaded.device.openBurst()];
  }

  /**
   * Steers rows `first` to `end` - 1 of the columns.
   * @param number the number of the first frame that was read into the columns
   * @param skip called for frames that cannot be steered
   * @param see called for each other frame; null where sums are enough
   */
  run(frames: FrameColumns, end: number, number: number, skip: SkipFrame, see: SeeFrame | null, first = 0): void {
    this.#runAll(frames, first, end, number, skip, see);
    const now = performance.now();
    if (end > first) this.#mode.done(end - first, now - this.#since);
    this.#since = now;
  }

  #runAll(
    frames: FrameColumns,
    first: number,
    end: number,
    number: number,
    skip: SkipFrame,
    see: SeeFrame | null,
  ): void {
    for (let next = first; next < end;) {
      if (!canRun(frames, next)) {
        skip(next, wireLengthOf(frames, next));
        next++;
        continue;
      }
      const begin = next;
      const burst = this.#bursts[this.#underWay === this.#bursts[0] ? 1 : 0];
      next = this.#fill(burst, frames, begin, end);
      const rows = { frames, begin, number, see, burst };
      this.#wait();
      burst.start({ summed: (classes, first, some, read) => this.#note(rows, classes, first, some, read) });
      this.#underWay = burst;
      if (this.#classes.length > MAX_CLASSES || this.#keptBytes > MAX_KEPT_BYTES) this.flush();
    }
    this.#wait();
  }

  /** Adds the sums so far to those of the scenario. */
  flush(): void {
    this.#wait();
    for (const known of this.#byCore.values()) forget(known);
    for (const { outcome, firstBytes, frames, bytes, first } of this.#classes) {
      this.#loaded.addClass({ bytes: firstBytes }, outcome, { frames, bytes }, first);
    }
    this.#classes.length = 0;
    this.#keptBytes = 0;
  }

  /** After it, rows and bytes can be overwritten and sums can be read. */
  #wait(): void {
    this.#underWay?.steer();
    this.#underWay = null;
  }

  /** Puts frames into a burst while they fit. Gives the row after them. */
  #fill(burst: Burst, frames: FrameColumns, begin: number, end: number): number {
    burst.clear(this.#mode.alone);
    const { bytes, offsets, lengths } = frames;
    const first = offsets[begin] ?? 0;
    // Shared memory is copied byte by byte unless words of both sides are aligned alike.
    const at = (bytes.byteOffset + first) % WORD;
    const next = begin + burst.addRows(frames, begin, end, at, this.#port);
    // As they lie in the file, with the headers of their records.
    const last = (offsets[next - 1] ?? 0) + (lengths[next - 1] ?? 0);
    burst.bytes.set(bytes.subarray(first, last), at);
    if (!this.#loaded.device.stateful) return next;
    this.#loaded.advance(frames.time(begin));
    for (let row = begin; row < next; row++) {
      const time = frames.time(row);
      burst.stamp(row - begin, time === null ? this.#loaded.device.now() : onClock(time));
    }
    return next;
  }

  /** A core has summed rows of the burst. Where it had no room for a class, it continues after it was cleared. */
  #note(rows: Rows, classes: OutcomeClasses, first: number, count: number, read: ReadOutcome): void {
    const known = this.#knownBy(classes);
    const looksAtAll = rows.see !== null || this.#loaded.expectations.ofFrames;
    for (let at = 0; at < count;) {
      const end = classes.summed;
      this.#addNewClasses(rows, known, first, read);
      if (looksAtAll) for (let i = at; i < end; i++) this.#look(rows, known, first, i, read);
      at = end;
      if (at === count) return;
      forget(known);
      classes.goOn(at, count);
    }
  }

  /** Adds the classes that are new in this burst. */
  #addNewClasses(rows: Rows, { classes, known }: KnownClasses, first: number, read: ReadOutcome): void {
    const { frames, begin } = rows;
    for (let number = known.length; number < classes.count; number++) {
      const i = classes.rowOf(number);
      const row = begin + first + i;
      const firstBytes = frames.frame(row);
      const outcome = read(i, firstBytes);
      for (const { frame } of [...outcome.to, ...outcome.copies]) {
        if (frame !== firstBytes) this.#keptBytes += frame.length;
      }
      const added = { outcome, firstBytes, first: numberOf(rows, row), frames: 0, bytes: 0 };
      known.push(added);
      this.#classes.push(added);
    }
  }

  #look(rows: Rows, { classes, known }: KnownClasses, first: number, i: number, read: ReadOutcome): void {
    const { frames, begin, see, burst } = rows;
    const place = first + i;
    const row = begin + place;
    const { tagged, tags } = burst;
    const tag = tagged[place] === 1 ? (tags[place] ?? 0) : null;
    const number = numberOf(rows, row);
    see?.(row, number, wireLengthOf(frames, row), tag, known[classes.of(i)] as OutcomeClass);
    const { expectations } = this.#loaded;
    if (!expectations.awaits(number)) return;
    expectations.see(number, { linkType: frames.linkTypes[row] ?? 0 }, read(i, frames.frame(row)));
  }

  /** What is known of a core: nothing at first, whatever it has summed before. */
  #knownBy(classes: OutcomeClasses): KnownClasses {
    const before = this.#byCore.get(classes);
    if (before !== undefined) return before;
    const added = { classes, known: [] };
    this.#byCore.set(classes, added);
    classes.clear();
    return added;
  }
}

function numberOf({ frames, number }: Rows, row: number): number {
  return number + (frames.places[row] ?? 0);
}

/** Adds the sums of a core to their classes; the core starts again. */
function forget({ classes, known }: KnownClasses): void {
  for (const [number, one] of known.entries()) {
    one.frames += classes.frames(number);
    one.bytes += classes.bytes(number);
  }
  known.length = 0;
  classes.clear();
}

function canRun({ lengths, linkTypes }: FrameColumns, row: number): boolean {
  const linkType = linkTypes[row] ?? 0;
  return (lengths[row] ?? 0) <= MAX_FRAME && (linkType === 1 || hasParser(linkType));
}

/** The length of a row on the wire. A record can say less than it holds; then what it holds counts. */
export function wireLengthOf({ lengths, wireLengths }: FrameColumns, row: number): number {
  return Math.max(wireLengths[row] ?? 0, lengths[row] ?? 0);
}
