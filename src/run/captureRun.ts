/** Captured frames through a scenario, in bursts, without an object a frame: docs/frames.md, Big captures. */
import { MAX_FRAME } from "../abi/engine.js";
import type { Core } from "../engine/core.js";
import { Shapes } from "../engine/outcomeClasses.js";
import type { Burst } from "../model/traffic/burst.js";
import { hasParser } from "../model/traffic/links.js";
import type { Outcome } from "../model/traffic/outcome.js";
import type { Summing } from "../model/traffic/receive.js";
import type { FrameColumns } from "../packet/capture/read.js";
import { Trial } from "./adaptiveMode.js";
import { onClock, type LoadedScenario } from "../scenario/load.js";
import type { Sum } from "./tally.js";

/** Frames whose outcomes are one but for tags, bytes and lengths. */
export interface Alike extends Sum {
  /** That of the first of them, and its bytes, of which none but their length is good for long. */
  readonly outcome: Outcome;
  readonly bytes0: Uint8Array;
}

/** Hears of a frame that was run: its row in the columns, its number, its tag, and those that it is like, one object for many. */
export type SeeFrame = (row: number, number: number, wireLength: number, tag: number | null, alike: Alike) => void;

/** Hears of a frame that cannot be run. */
export type SkipFrame = (row: number, wireLength: number) => void;

/** Bytes that are copied at a time. */
const WORD = 8;
/** Kinds of frames that are kept apart, and bytes of changed frames that are kept with their outcomes. */
const MOST_ALIKE = 4096;
const MOST_KEPT = 16 << 20;

/** What a core knows. */
interface KnownShapes {
  readonly shapes: Shapes;
  /** By the number of their shape. */
  readonly alike: Alike[];
}

/** The rows of a burst are those of these columns from `begin` on. */
interface Rows {
  readonly burst: Burst;
  readonly frames: FrameColumns;
  readonly begin: number;
  /** That of the first frame of the columns. */
  readonly number: number;
  readonly see: SeeFrame | null;
}

type ReadOutcome = Parameters<Summing["summed"]>[3];

export class CaptureRun {
  readonly #loaded: LoadedScenario;
  readonly #port: number;
  /** In turn: one is filled while the other is under way, where several cores steer. */
  readonly #bursts: readonly [Burst, Burst];
  /** The one that was started last, as long as nobody has waited for it. */
  #underWay: Burst | null = null;
  readonly #known = new Map<Core, KnownShapes>();
  /** In the order in which they came up first; those of two cores can be of one shape. */
  readonly #alike: Alike[] = [];
  #kept = 0;
  /** Whether it pays to give others frames, which takes longer than to steer most of them. */
  readonly #trial = new Trial();
  /** When the last frames were done. */
  #since = performance.now();

  /** For a scenario of which sums are enough. */
  constructor(loaded: LoadedScenario, port: number) {
    this.#loaded = loaded;
    this.#port = port;
    this.#bursts = [loaded.device.openBurst(), loaded.device.openBurst()];
  }

  /** Runs the first `count` frames of the columns, which are numbered from `number` on. */
  run(frames: FrameColumns, count: number, number: number, skip: SkipFrame, see: SeeFrame | null): void {
    this.#runAll(frames, count, number, skip, see);
    const now = performance.now();
    if (count > 0) this.#trial.done(count, now - this.#since);
    this.#since = now;
  }

  #runAll(frames: FrameColumns, count: number, number: number, skip: SkipFrame, see: SeeFrame | null): void {
    for (let next = 0; next < count;) {
      if (!runs(frames, next)) {
        skip(next, wireLengthOf(frames, next));
        next++;
        continue;
      }
      const begin = next;
      const burst = this.#bursts[this.#underWay === this.#bursts[0] ? 1 : 0];
      next = this.#fill(burst, frames, begin, count);
      const rows = { frames, begin, number, see, burst };
      this.#wait();
      burst.start({ summed: (core, first, some, read) => this.#note(rows, core, first, some, read) });
      this.#underWay = burst;
      if (this.#alike.length > MOST_ALIKE || this.#kept > MOST_KEPT) this.flush();
    }
    this.#wait();
  }

  /** Adds the sums so far to those of the scenario. */
  flush(): void {
    this.#wait();
    for (const known of this.#known.values()) forget(known);
    for (const { outcome, bytes0, frames, bytes } of this.#alike) {
      this.#loaded.addAlike({ bytes: bytes0 }, outcome, { frames, bytes });
    }
    this.#alike.length = 0;
    this.#kept = 0;
  }

  /** Nothing is under way: rows and bytes can be others, and sums can be read. */
  #wait(): void {
    this.#underWay?.steer();
    this.#underWay = null;
  }

  /** Puts frames into a burst while they have room; gives the row behind them. */
  #fill(burst: Burst, frames: FrameColumns, begin: number, end: number): number {
    burst.clear(this.#trial.alone);
    const { bytes, offsets, lengths } = frames;
    const first = offsets[begin] ?? 0;
    // Memory that is shared is copied byte by byte unless words of both begin at the same bytes.
    const at = (bytes.byteOffset + first) % WORD;
    const next = begin + burst.addRows(frames, begin, end, at, this.#port);
    // As they lie in the file, headers of their records and all.
    const behind = (offsets[next - 1] ?? 0) + (lengths[next - 1] ?? 0);
    burst.bytes.set(bytes.subarray(first, behind), at);
    if (!this.#loaded.device.stateful) return next;
    this.#loaded.advance(frames.time(begin));
    for (let row = begin; row < next; row++) burst.stamp(row - begin, onClock(frames.time(row)));
    return next;
  }

  /** A core has summed rows of the burst; what it has no room for is summed when it has forgotten what it knew. */
  #note(rows: Rows, core: Core, first: number, count: number, read: ReadOutcome): void {
    const known = this.#knownBy(core);
    const looksAtAll = rows.see !== null || this.#loaded.expectations.ofFrames;
    for (let at = 0; at < count;) {
      const end = known.shapes.summed;
      this.#meet(rows, known, first, read);
      if (looksAtAll) for (let i = at; i < end; i++) this.#look(rows, known, first, i, read);
      at = end;
      if (at === count) return;
      forget(known);
      known.shapes.goOn(at, count);
    }
  }

  /** The shapes that are new in this burst. */
  #meet({ frames, begin }: Rows, { shapes, alike }: KnownShapes, first: number, read: ReadOutcome): void {
    for (let shape = alike.length; shape < shapes.count; shape++) {
      const i = shapes.rowOf(shape);
      const bytes0 = frames.frame(begin + first + i);
      const outcome = read(i, bytes0);
      for (const { frame } of [...outcome.to, ...outcome.copies]) if (frame !== bytes0) this.#kept += frame.length;
      const kind = { outcome, bytes0, frames: 0, bytes: 0 };
      alike.push(kind);
      this.#alike.push(kind);
    }
  }

  #look(
    { frames, begin, number, see, burst }: Rows,
    { shapes, alike }: KnownShapes,
    first: number,
    i: number,
    read: ReadOutcome,
  ): void {
    const place = first + i;
    const row = begin + place;
    const { tagged, tags } = burst;
    const tag = tagged[place] === 1 ? (tags[place] ?? 0) : null;
    see?.(row, number + row, wireLengthOf(frames, row), tag, alike[shapes.of(i)] as Alike);
    const { expectations } = this.#loaded;
    if (!expectations.awaits(number + row)) return;
    expectations.see(number + row, { linkType: frames.linkTypes[row] ?? 0 }, read(i, frames.frame(row)));
  }

  /** What a core knows: at first nothing, whoever has summed with it before. */
  #knownBy(core: Core): KnownShapes {
    const before = this.#known.get(core);
    if (before !== undefined) return before;
    const known = { shapes: new Shapes(core), alike: [] };
    this.#known.set(core, known);
    known.shapes.clear();
    return known;
  }
}

/** Sums go to the frames that are alike, and the core begins anew. */
function forget({ shapes, alike }: KnownShapes): void {
  for (const [shape, kind] of alike.entries()) {
    kind.frames += shapes.frames(shape);
    kind.bytes += shapes.bytes(shape);
  }
  alike.length = 0;
  shapes.clear();
}

function runs({ lengths, linkTypes }: FrameColumns, row: number): boolean {
  const linkType = linkTypes[row] ?? 0;
  return (lengths[row] ?? 0) <= MAX_FRAME && (linkType === 1 || hasParser(linkType));
}

/** A record may say less for the wire than it holds: what it holds was there. */
export function wireLengthOf({ lengths, wireLengths }: FrameColumns, row: number): number {
  return Math.max(wireLengths[row] ?? 0, lengths[row] ?? 0);
}
