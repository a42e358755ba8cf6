/** The competitors for one rule set, each with the headers of one trace ready. */
import { loadCore } from "../core.js";
import type { Core } from "../../src/engine/core.js";
import { cpuSeconds } from "../harness.js";
import { limits, TupleSpace } from "../peers/tupleSpace.js";
import { CoreKeys, CoreRules, exact } from "./coreRules.js";
import { HEADER_WORDS, type SetRule } from "./ruleSets.js";

/** Rules by line. */
export interface Side {
  /** Replaces the table by an empty one. */
  renew: () => void;
  insert: (line: number) => void;
  remove: (line: number) => void;
  /** The line found for each header of the trace, -1 for none. */
  answers: (batch: number) => Int32Array;
}

export class EngineSide implements Side {
  readonly core: Core;
  readonly #rules: CoreRules;
  readonly #keys: CoreKeys;
  readonly #headers: number;
  readonly #handles: Uint32Array;
  #table = 0;

  private constructor(core: Core, rules: readonly SetRule[], headers: Uint32Array) {
    this.core = core;
    this.#rules = new CoreRules(rules);
    this.#keys = new CoreKeys(core, headers);
    this.#headers = headers.length / HEADER_WORDS;
    this.#handles = new Uint32Array(rules.length);
    this.renew();
  }

  static async open(rules: readonly SetRule[], headers: Uint32Array): Promise<EngineSide> {
    return new EngineSide(await loadCore(), rules, headers);
  }

  renew(): void {
    const { exports } = this.core;
    for (const handle of this.#handles) if (handle !== 0) exports.removeRule(handle);
    this.#handles.fill(0);
    if (this.#table !== 0) exports.destroyTable(this.#table);
    this.#table = exports.createTable(0) >>> 0;
  }

  insert(line: number): void {
    this.#handles[line] = this.#rules.insert(this.core, this.#table, line);
  }

  remove(line: number): void {
    this.core.exports.removeRule(this.#handles[line]!);
    this.#handles[line] = 0;
  }

  answers(batch: number): Int32Array {
    const lineOf = new Map(Array.from(this.#handles, (handle, line) => [handle, line]));
    lineOf.set(0, -1);
    const lines = new Int32Array(this.#headers);
    for (let first = 0; first < lines.length; first += batch) {
      const count = Math.min(batch, lines.length - first);
      this.#keys.fill(first, count);
      this.core.exports.classify(this.#table, count, 0, 0);
      const found = this.core.found >> 2;
      for (let i = 0; i < count; i++) lines[first + i] = lineOf.get(this.core.u32[found + i]!)!;
    }
    return lines;
  }

  /**
   * CPU seconds of `classify` for the trace, `times` times. Keys are written between the calls; the
   * time of writing alone is subtracted pass by pass.
   */
  seconds(batch: number, times: number): number {
    let sum = 0;
    for (let pass = 0; pass < times; pass++) {
      const start = cpuSeconds();
      this.#lookAll(batch);
      const middle = cpuSeconds();
      this.#fill(batch);
      sum += middle - start - (cpuSeconds() - middle);
    }
    return sum;
  }

  /** Looks up `count` keys, from a header on. */
  look(first: number, count: number): void {
    this.#keys.fill(first, count);
    this.core.exports.classify(this.#table, count, 0, 0);
  }

  #lookAll(batch: number): void {
    for (let first = 0; first < this.#headers; first += batch) this.look(first, batch);
  }

  #fill(batch: number): void {
    for (let first = 0; first < this.#headers; first += batch) this.#keys.fill(first, batch);
  }
}

/**
 * One Map per mask; ranges stay ranges. Its rules match only the tuple, and its keys contain only
 * the tuple.
 */
export class PlainSide implements Side {
  readonly #rules: { mask: Int32Array; value: Int32Array; sport: number; dport: number }[];
  readonly #headers: Int32Array;
  readonly #places: Int32Array;
  #space = new TupleSpace();

  constructor(rules: readonly SetRule[], headers: Uint32Array) {
    this.#rules = rules.map(({ src, srcMask, dst, dstMask, sport, dport, protocol, protocolMask }) => {
      const ports = (exact(sport) ? 0xffff0000 : 0) | (exact(dport) ? 0xffff : 0);
      const mask = Int32Array.of(srcMask, dstMask, ports, protocolMask);
      const value = Int32Array.of(src, dst, ((sport[0] << 16) | dport[0]) & ports, protocol);
      return { mask, value, sport: limits(sport), dport: limits(dport) };
    });
    this.#headers = Int32Array.from(headers);
    this.#places = new Int32Array(rules.length);
  }

  renew(): void {
    this.#space = new TupleSpace();
  }

  insert(line: number): void {
    const { mask, value, sport, dport } = this.#rules[line]!;
    this.#places[line] = this.#space.insert(mask, value, line, sport, dport);
  }

  remove(line: number): void {
    this.#space.remove(this.#places[line]!);
  }

  answers(): Int32Array {
    const lines = new Int32Array(this.#headers.length / HEADER_WORDS);
    for (let i = 0; i < lines.length; i++) lines[i] = this.#space.lookup(this.#headers, HEADER_WORDS * i);
    return lines;
  }

  /** CPU seconds of the trace, `times` times. */
  seconds(times: number): number {
    const start = cpuSeconds();
    let hits = 0;
    for (let pass = 0; pass < times; pass++) {
      for (let at = 0; at < this.#headers.length; at += HEADER_WORDS) {
        if (this.#space.lookup(this.#headers, at) >= 0) hits++;
      }
    }
    if (hits === 0) throw new Error("bench: nothing is found");
    return cpuSeconds() - start;
  }
}

export function insertAll(side: Side, rules: number): void {
  for (let line = 0; line < rules; line++) side.insert(line);
}
