/**
 * Dead lines of a rule set in plain JavaScript: a line is a box of five intervals, and the boxes of earlier lines are taken
 * out of it one by one. What is left are disjoint boxes, as in Header Space Analysis; a line is dead when none is left.
 */
import type { SetRule } from "../classify/ruleSets.js";

const SIDES = 5;
/** A line that falls into more boxes is given up. */
const MAX = 2000;

export interface BoxAnswer {
  readonly state: "live" | "dead" | "unknown";
  /** A header that only this line takes: source, destination, ports, protocol. */
  readonly point: readonly number[] | null;
}

export class Boxes {
  readonly #low: Uint32Array;
  readonly #high: Uint32Array;

  constructor(rules: readonly SetRule[]) {
    const sides = rules.map(({ src, srcMask, dst, dstMask, sport, dport, protocol, protocolMask }) => [
      [src, (src | ~srcMask) >>> 0],
      [dst, (dst | ~dstMask) >>> 0],
      sport,
      dport,
      [protocol, (protocol | ~protocolMask) & 0xff],
    ]);
    this.#low = Uint32Array.from(sides.flat(), (side) => side[0]);
    this.#high = Uint32Array.from(sides.flat(), (side) => side[1]);
  }

  /** Whether a header takes line `line` and none before it. */
  answer(line: number): BoxAnswer {
    const before = this.#before(line);
    if (before === null) return { state: "dead", point: null };
    const own = SIDES * line;
    let pieces = [[...this.#low.subarray(own, own + SIDES), ...this.#high.subarray(own, own + SIDES)]];
    for (const other of before) {
      const next: number[][] = [];
      for (const piece of pieces) this.#without(piece, other, next);
      if (next.length === 0) return { state: "dead", point: null };
      if (next.length > MAX) return { state: "unknown", point: null };
      pieces = next;
    }
    return { state: "live", point: pieces[0]!.slice(0, SIDES) };
  }

  /** The places of lines before `line` that take some of its headers; null if one takes all. */
  #before(line: number): number[] | null {
    const [low, high] = [this.#low, this.#high];
    const own = SIDES * line;
    const found: number[] = [];
    for (let at = 0; at < own; at += SIDES) {
      let all = true;
      let side = 0;
      for (; side < SIDES; side++) {
        const [from, to] = [low[own + side]!, high[own + side]!];
        if (low[at + side]! > to || high[at + side]! < from) break;
        if (low[at + side]! > from || high[at + side]! < to) all = false;
      }
      if (side < SIDES) continue;
      if (all) return null;
      found.push(at);
    }
    return found;
  }

  /** Adds the parts of a piece outside a line: at most two for each side. */
  #without(piece: number[], line: number, parts: number[][]): void {
    const [low, high] = [this.#low, this.#high];
    for (let side = 0; side < SIDES; side++) {
      if (low[line + side]! > piece[SIDES + side]! || high[line + side]! < piece[side]!) {
        parts.push(piece);
        return;
      }
    }
    const rest = piece.slice();
    for (let side = 0; side < SIDES; side++) {
      const [from, to] = [low[line + side]!, high[line + side]!];
      if (rest[side]! < from) {
        const part = rest.slice();
        part[SIDES + side] = from - 1;
        parts.push(part);
        rest[side] = from;
      }
      if (rest[SIDES + side]! > to) {
        const part = rest.slice();
        part[side] = to + 1;
        parts.push(part);
        rest[SIDES + side] = to;
      }
    }
  }
}
