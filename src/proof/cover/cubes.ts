/**
 * The keys that take a chain of tables, as cubes: from one solution, the bits that decide its way are kept and all others are
 * left free; then the cube is excluded, and the next solution is looked for.
 */
import { KEY_SIZE } from "../../abi/key.js";
import type { TraceSource } from "../../explain/trace/trace.js";
import type { ParsedKey } from "../keys/parsedKey.js";
import { FIELDS, type Field } from "../../model/match/fields.js";
import { isConstant, TRUE, type Literal } from "../literal.js";
import { arrivalKey } from "../path/arrival.js";
import { Chain } from "../path/chain.js";
import type { Edge, Entry } from "../path/graph.js";
import { decisiveLiterals } from "../path/decisive.js";
import { bitLiterals, maskedBits } from "../path/ruleMatch.js";
import type { Goal } from "../path/search.js";
import type { World } from "../path/world.js";
import { Solver } from "../solver/solver.js";

export interface Cube {
  readonly source: TraceSource;
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
  /** Bits that it fixes. */
  readonly bits: number;
}

export interface Cubes {
  readonly list: readonly Cube[];
  readonly complete: boolean;
}

/** Tables in a chain. */
const MAX_TABLES = 24;

/** The cubes of all ways to a goal. Frames that a port loops back are left out: their senders' rules decide about them. */
export function cubesOf(world: World, goal: Goal, most: number): Cubes {
  const finder = new CubeFinder(world, goal, most);
  finder.extend([]);
  return { list: finder.list, complete: finder.complete };
}

class CubeFinder {
  readonly list: Cube[] = [];
  complete = true;
  readonly #world: World;
  readonly #goal: Goal;
  readonly #most: number;
  readonly #solver = new Solver();

  constructor(world: World, goal: Goal, most: number) {
    this.#world = world;
    this.#goal = goal;
    this.#most = most;
  }

  extend(edges: readonly Edge[]): void {
    const { graph } = this.#world;
    const first = edges[0]?.from ?? this.#goal.table;
    for (const entry of graph.entries) if (entry.table === first) this.#ofEntry(entry, edges);
    const before = graph.edgesTo(first);
    if (before.length > 0 && edges.length >= MAX_TABLES) this.complete = false;
    else for (const edge of before) if (edge.move !== "resume" && edge.move !== "loop") this.extend([edge, ...edges]);
  }

  #ofEntry(entry: Entry, edges: readonly Edge[]): void {
    const solver = this.#solver;
    solver.reset();
    const { newKeys } = this.#world;
    const arrival = arrivalKey(this.#world.tracer.device, entry, solver);
    const chain = new Chain(this.#world, solver, arrival, edges, { table: this.#goal.table, target: this.#goal.rule });
    // A frame that is forked may take two ways: the cubes stay disjoint all the same.
    for (const { source, mask, value } of this.list) {
      if (source !== entry.source) continue;
      const excluded = bitLiterals({ mask, value, ranges: [] }, arrival);
      if (excluded !== null && !solver.addClause(excluded.map((one) => -one))) return;
    }
    chain.askAll();
    for (;;) {
      const answer = chain.solve();
      if (answer === false) return;
      // Packets that the device makes of messages are in no cube.
      if (answer === undefined || entry.transport || this.list.length >= this.#most) {
        this.complete = false;
        return;
      }
      const decisive = decisiveLiterals(chain);
      if (decisive === null) throw new Error("a solution of a chain takes its way");
      const literals = this.#ofArrival(arrival, decisive);
      // Where bytes decide that are in no field, no set of arriving keys takes the way.
      if (literals !== decisive && this.#world.newKeys > newKeys) {
        this.complete = false;
        return;
      }
      for (const cube of this.list) if (cube.source === entry.source) keepOff(solver, arrival, cube, literals);
      this.list.push(this.#cube(entry, arrival, literals));
      if (!solver.addClause([...literals].map((one) => -one))) return;
    }
  }

  /** Literals of the arriving key that decide the same: all that were asked, where no single bit stands for one of them. */
  #ofArrival(arrival: ParsedKey, decisive: Set<Literal>): Set<Literal> {
    const all = new Set<Literal>();
    for (const bit of arrival.asked) {
      const literal = arrival.bit(bit);
      if (bit < KEY_SIZE * 8 && !isConstant(literal)) all.add(this.#solver.value(literal) ? literal : -literal);
    }
    return [...decisive].every((literal) => all.has(literal)) ? decisive : all;
  }

  #cube({ source }: Entry, arrival: ParsedKey, literals: ReadonlySet<Literal>): Cube {
    const mask = new Uint8Array(KEY_SIZE);
    const value = new Uint8Array(KEY_SIZE);
    const left = new Set(literals);
    for (const bit of arrival.asked) {
      if (bit >= KEY_SIZE * 8) continue;
      const literal = arrival.bit(bit);
      const set = literals.has(literal);
      if (!set && !literals.has(-literal)) continue;
      left.delete(set ? literal : -literal);
      const flag = 0x80 >> (bit & 7);
      mask[bit >> 3] = (mask[bit >> 3] as number) | flag;
      if (set) value[bit >> 3] = (value[bit >> 3] as number) | flag;
    }
    for (const field of FIELDS) fillConstants(arrival, field, mask, value);
    // A sum, say, that no single bit of the arriving key stands for.
    if (left.size > 0) this.complete = false;
    return { source, mask, value, bits: literals.size };
  }
}

/** Adds the bits of a field that are the same in every key, where the cube has others of its bits: an IP version reads as one. */
function fillConstants(arrival: ParsedKey, { bit, width }: Field, mask: Uint8Array, value: Uint8Array): void {
  const bits = Array.from({ length: width }, (_, n) => bit + n);
  if (!bits.some((one) => ((mask[one >> 3] as number) & (0x80 >> (one & 7))) !== 0)) return;
  for (const one of bits) {
    const literal = arrival.literalAt(one);
    if (literal === 0 || !isConstant(literal)) continue;
    const flag = 0x80 >> (one & 7);
    mask[one >> 3] = (mask[one >> 3] as number) | flag;
    if (literal === TRUE) value[one >> 3] = (value[one >> 3] as number) | flag;
  }
}

/** Keeps a bit by which the solution differs from an earlier cube. */
function keepOff(solver: Solver, arrival: ParsedKey, { mask, value }: Cube, kept: Set<Literal>): void {
  let differing: Literal | null = null;
  let away = false;
  maskedBits({ mask, value, ranges: [] }, (bit, set) => {
    const literal = arrival.bit(bit);
    if (away || solver.value(literal) === set) return;
    const differs = set ? -literal : literal;
    if (kept.has(differs)) away = true;
    else differing ??= differs;
  });
  if (!away && differing !== null) kept.add(differing);
}
