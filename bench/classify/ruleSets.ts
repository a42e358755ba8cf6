/**
 * The rule sets and traces of bench/rulesets/. Lines are in order of priority; the first matching
 * line wins.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parseFilter } from "../../src/formats/classbench/read/lines.js";

/** All but lookups is measured on these, unless others are named. */
export const FEW_SETS = ["acl1", "fw1", "ipc1"] as const;
export const SETS = [...FEW_SETS, "acl3", "acl5", "fw3", "fw4"] as const;
export const SIZES = ["1k", "10k", "100k"] as const;

export type SetName = (typeof SETS)[number];
export type SetSize = (typeof SIZES)[number];
export type TraceKind = "uniform" | "mix";

/** Numbers are unsigned; bits of an address outside `mask` are 0; port ranges are inclusive. */
export interface SetRule {
  src: number;
  srcMask: number;
  dst: number;
  dstMask: number;
  sport: readonly [low: number, high: number];
  dport: readonly [low: number, high: number];
  protocol: number;
  protocolMask: number;
}

/** A header: | src | dst | source port high, destination port low | protocol |, in a typed array. */
export const HEADER_WORDS = 4;

export interface Trace {
  headers: Uint32Array;
  /** The line of the winning rule, -1 for none. */
  expected: Int32Array;
}

// The same path from here and from the bundle in build/bench/.
const FOLDER = new URL("../../bench/rulesets/", import.meta.url);

export function readRules(set: SetName, size: SetSize): SetRule[] {
  return lines(`${set}_${size}.rules.gz`).map((line) => {
    const { src, dst, sport, dport, protocol, protocolMask } = parseFilter(line);
    return {
      src: Number(src.address),
      srcMask: maskOf(src.length),
      dst: Number(dst.address),
      dstMask: maskOf(dst.length),
      sport,
      dport,
      protocol,
      protocolMask,
    };
  });
}

/** A "mix" trace exists for 10k only. */
export function readTrace(set: SetName, size: SetSize, kind: TraceKind): Trace {
  const rows = lines(`${set}_${size}.${kind}.trace.gz`);
  const headers = new Uint32Array(HEADER_WORDS * rows.length);
  const expected = new Int32Array(rows.length);
  for (const [i, row] of rows.entries()) {
    const [src, dst, sport, dport, protocol, rule] = row.split("\t").map(Number);
    headers.set([src!, dst!, (sport! << 16) | dport!, protocol!], HEADER_WORDS * i);
    expected[i] = rule!;
  }
  return { headers, expected };
}

/** A linear search through the rules, to check `expected`. */
export class LinearSearch {
  readonly #rows: Uint32Array;

  constructor(rules: readonly SetRule[]) {
    this.#rows = Uint32Array.from(
      rules.flatMap(({ src, srcMask, dst, dstMask, sport, dport, protocol, protocolMask }) => [
        ...[src, srcMask, dst, dstMask],
        ...[...sport, ...dport, protocol, protocolMask],
      ]),
    );
  }

  /** The winning line for header i of a trace, or -1. */
  find(headers: Uint32Array, i: number): number {
    const [src, dst, ports, protocol] = headers.subarray(HEADER_WORDS * i, HEADER_WORDS * (i + 1));
    const [sport, dport] = [ports! >>> 16, ports! & 0xffff];
    const rows = this.#rows;
    for (let at = 0; at < rows.length; at += 10) {
      if (((src! ^ rows[at]!) & rows[at + 1]!) !== 0 || ((dst! ^ rows[at + 2]!) & rows[at + 3]!) !== 0) continue;
      if (sport < rows[at + 4]! || sport > rows[at + 5]! || dport < rows[at + 6]! || dport > rows[at + 7]!) continue;
      if (((protocol! ^ rows[at + 8]!) & rows[at + 9]!) === 0) return at / 10;
    }
    return -1;
  }
}

function lines(name: string): string[] {
  return gunzipSync(readFileSync(new URL(name, FOLDER)))
    .toString()
    .trim()
    .split("\n");
}

function maskOf(length: number): number {
  return length === 0 ? 0 : (-1 << (32 - length)) >>> 0;
}
