/** Captured frames through a scenario, in bursts, without an object a frame: docs/frames.md, Big captures. */
import { MAX_FRAME } from "../abi/engine.js";
import { Shapes } from "../engine/shapes.js";
import type { Burst } from "../model/burst.js";
import { hasParser } from "../model/links.js";
import type { Outcome } from "../model/outcome.js";
import type { FrameColumns } from "../packet/capture.js";
import { onClock, type LoadedScenario } from "./load.js";
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

/** Bytes of changed frames that are kept with the outcomes of their kind. */
const MOST_KEPT = 16 << 20;

export class CaptureRun {
  readonly #loaded: LoadedScenario;
  readonly #port: number;
  readonly #burst: Burst;
  readonly #shapes = new Shapes();
  /** By the number of their shape. */
  readonly #alike: Alike[] = [];
  #kept = 0;

  /** For a scenario of which sums are enough. */
  constructor(loaded: LoadedScenario, port: number) {
    this.#loaded = loaded;
    this.#port = port;
    this.#burst = loaded.device.openBurst();
  }

  /** Runs the first `count` frames of the columns, which are numbered from `number` on. */
  run(frames: FrameColumns, count: number, number: number, skip: SkipFrame, see: SeeFrame | null): void {
    for (let next = 0; next < count;) {
      if (!runs(frames, next)) {
        skip(next, wireLengthOf(frames, next));
        next++;
        continue;
      }
      const begin = next;
      next = this.#fill(frames, begin, count);
      this.#burst.steer();
      for (let row = begin; row < next; row++) this.#note(frames, row, row - begin, number + row, see);
    }
  }

  /** Adds the sums so far to those of the scenario. */
  flush(): void {
    for (const { outcome, bytes0, frames, bytes } of this.#alike) {
      this.#loaded.addAlike({ bytes: bytes0 }, outcome, { frames, bytes });
    }
    this.#alike.length = 0;
    this.#kept = 0;
    this.#shapes.clear();
  }

  /** Puts frames into the burst while they have room; gives the row behind them. */
  #fill(frames: FrameColumns, begin: number, end: number): number {
    const burst = this.#burst;
    burst.clear();
    const { offsets, lengths, linkTypes } = frames;
    const room = burst.bytes;
    const origin = offsets[begin] ?? 0;
    const last = Math.min(end, begin + burst.rows);
    let next = begin;
    let used = 0;
    for (; next < last && runs(frames, next); next++) {
      const behind = (offsets[next] ?? 0) + (lengths[next] ?? 0) - origin;
      if (behind > room.length) break;
      used = behind;
    }
    // As they lie in the file, headers of their records and all.
    room.set(frames.bytes.subarray(origin, origin + used));
    const { remembers } = this.#loaded.device;
    if (remembers) this.#loaded.advance(frames.time(begin));
    for (let row = begin; row < next; row++) {
      const offset = (offsets[row] ?? 0) - origin;
      const length = lengths[row] ?? 0;
      if (burst.add(offset, length, this.#port, linkTypes[row], wireLengthOf(frames, row)) < 0) return row;
      if (remembers) burst.stamp(row - begin, onClock(frames.time(row)));
    }
    return next;
  }

  #note(frames: FrameColumns, row: number, place: number, number: number, see: SeeFrame | null): void {
    const burst = this.#burst;
    const alike = this.#alikeOf(frames, row, place);
    alike.frames++;
    const wireLength = wireLengthOf(frames, row);
    alike.bytes += wireLength;
    if (see !== null) see(row, number, wireLength, burst.tagged[place] === 1 ? (burst.tags[place] ?? 0) : null, alike);
    const { expectations } = this.#loaded;
    if (!expectations.awaits(number)) return;
    const frame = frames.frame(row);
    expectations.see(number, { linkType: frames.linkTypes[row] ?? 0 }, burst.outcome(place, frame));
  }

  #alikeOf(frames: FrameColumns, row: number, place: number): Alike {
    const length = frames.lengths[row] ?? 0;
    let shape = this.#burst.shape(place, length, this.#shapes);
    if (shape < 0 || this.#kept > MOST_KEPT) {
      this.flush();
      shape = this.#burst.shape(place, length, this.#shapes);
    }
    const known = this.#alike[shape];
    if (known !== undefined) return known;
    const bytes0 = frames.frame(row);
    const outcome = this.#burst.outcome(place, bytes0);
    for (const { frame } of [...outcome.to, ...outcome.copies]) if (frame !== bytes0) this.#kept += frame.length;
    const first = { outcome, bytes0, frames: 0, bytes: 0 };
    this.#alike.push(first);
    return first;
  }
}

function runs({ lengths, linkTypes }: FrameColumns, row: number): boolean {
  const linkType = linkTypes[row] ?? 0;
  return (lengths[row] ?? 0) <= MAX_FRAME && (linkType === 1 || hasParser(linkType));
}

/** A record may say less for the wire than it holds: what it holds was there. */
export function wireLengthOf({ lengths, wireLengths }: FrameColumns, row: number): number {
  return Math.max(wireLengths[row] ?? 0, lengths[row] ?? 0);
}
