/**
 * What frames that come to a table have in common, however they come there: bits of the key that say where a frame came in,
 * registers, and header fields that rules on the way ask for. It is found forwards, from where frames come in.
 */
import { KEY_SIZE } from "../../abi/key.js";
import type { RuleContent } from "../../engine/tracedCore.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { ParsedKey } from "../keys/parsedKey.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { constant, FALSE, isConstant, TRUE, type Literal } from "../literal.js";
import { Solver } from "../solver/solver.js";
import { arrivalOf } from "./arrival.js";
import { hasBit } from "./bits.js";
import type { Condition, Edge, Entry, Graph } from "./graph.js";
import { KnownWays, type State } from "./knownWays.js";
import { IS_PATH } from "./levels.js";
import type { Changed } from "./transform.js";

/** Lists of known bits of a table; more are put together. */
const MAX_STATES = 16;
/** The same of a table that many ways lead on from. */
const FEW_STATES = 4;
const MANY_EDGES = 100;
/** A literal that is no constant. */
const OPEN: Literal = 2;

/** The states of a table: every frame that comes there has one of them. */
interface Known {
  states: State[];
  /** Those whose ways on are not known yet. */
  pending: State[];
}

/** The device that frames go through, as `World` knows it. */
interface Walked {
  readonly tracer: Tracer;
  readonly graph: Graph;
  contentOf(rule: RuleNode): RuleContent;
  after(solver: Solver, key: SymbolicKey, edge: Edge): Changed;
}

/** The states of a table when all are known. */
interface Summary {
  /** What all have in common. */
  readonly common: State;
  readonly states: readonly State[];
  /** The bits of headers that some state has. */
  readonly headers: readonly number[];
}

const NOTHING: State = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE) };

export class Origins {
  readonly #world: Walked;
  readonly #solver = new Solver();
  readonly #known = new Map<number, Known>();
  /** What frames have in common that took a way; no way that no frame takes. */
  readonly #after = new Map<Edge, State>();
  readonly #summaries = new Map<number, Summary>();
  readonly #before = new Map<number, readonly Edge[]>();
  /** The bits that states have: those of the way, and those that rules which lead on mask. */
  readonly #bits: readonly number[];
  readonly #ways: KnownWays;

  constructor(world: Walked) {
    this.#world = world;
    this.#bits = bitsOf(world);
    this.#ways = new KnownWays(world.tracer, this.#bits);
    const { entries } = world.graph;
    for (const entry of entries) this.#add(entry.table, this.#arriving(entry));
    // Tables that are added while they are walked are walked too.
    const waiting = new Set(entries.map(({ table }) => table));
    for (const table of waiting) {
      waiting.delete(table);
      for (const to of this.#leave(table)) waiting.add(to);
    }
  }

  /** The ways to a table that some frame may take. Ways back from a port come last: readers expect them least. */
  edgesTo(table: number): readonly Edge[] {
    let before = this.#before.get(table);
    if (before === undefined) {
      const edges = this.#world.graph.edgesTo(table).filter((edge) => edge.move !== "resume" && this.#after.has(edge));
      before = edges.toSorted((a, b) => Number(a.move === "loop") - Number(b.move === "loop"));
      this.#before.set(table, before);
    }
    return before;
  }

  /** Whether frames that took a way may match a rule at its end: some header or register may speak against it. */
  mayMatch(edge: Edge, rule: KeyMatch): boolean {
    const after = this.#after.get(edge);
    return after !== undefined && !exclude(after, rule);
  }

  /** What is known of frames at a table: each frame has one of these. */
  statesAt(table: number): readonly State[] {
    return this.#known.get(table)?.states ?? [];
  }

  /** Whether frames that took a way have something. */
  gives(edge: Edge, has: (state: State) => boolean): boolean {
    const after = this.#after.get(edge);
    return after !== undefined && has(after);
  }

  /** The key of frames at a table. Bits that rules on the way ask for get literals at once. */
  keyAt(table: number, solver: Solver): ParsedKey {
    const { parser } = this.#world.tracer.device;
    const { common, states, headers } = this.#summaryOf(table);
    if (states.length === 0) {
      solver.addClause([FALSE]);
      return new ParsedKey(solver, { parser });
    }
    const which = states.length === 1 ? [] : states.map(() => solver.newVariable());
    if (which.length > 0) solver.addClause(which);
    const tell = (bit: number, literal: Literal): void => {
      for (const [n, one] of which.entries()) {
        const { mask, value } = states[n] as State;
        if (hasBit(mask, bit)) solver.addClause([-one, hasBit(value, bit) ? literal : -literal]);
      }
    };
    const given = (bit: number): Literal => {
      if (hasBit(common.mask, bit)) return constant(hasBit(common.value, bit));
      const literal = solver.newVariable();
      tell(bit, literal);
      return literal;
    };
    const key = new ParsedKey(solver, { parser, given });
    for (const bit of headers) {
      if (hasBit(common.mask, bit)) solver.addClause([hasBit(common.value, bit) ? key.bit(bit) : -key.bit(bit)]);
      else tell(bit, key.bit(bit));
    }
    return key;
  }

  #summaryOf(table: number): Summary {
    let summary = this.#summaries.get(table);
    if (summary === undefined) {
      const states = this.#known.get(table)?.states ?? [];
      const common = states.length === 0 ? NOTHING : states.reduce(union);
      const isKnown = (bit: number): boolean => states.some(({ mask }) => hasBit(mask, bit));
      const headers = this.#bits.filter((bit) => IS_PATH[bit] !== 1 && isKnown(bit));
      this.#summaries.set(table, (summary = { common, states, headers }));
    }
    return summary;
  }

  #arriving(entry: Entry): State {
    const settings = arrivalOf(this.#world.tracer.device, entry, this.#solver);
    return stateOf(this.#bits, (bit) => (IS_PATH[bit] === 1 ? (settings.given?.(bit) ?? FALSE) : OPEN));
  }

  /** Follows the ways from a table for states that are new. @returns tables with new states */
  #leave(table: number): number[] {
    const known = this.#known.get(table);
    if (known === undefined) return [];
    const states = known.pending;
    known.pending = [];
    const { graph } = this.#world;
    return graph.edgesFrom(table).flatMap((edge) => {
      const added = states.filter((state) => {
        const after = this.#along(state, edge);
        if (after === null) return false;
        const known = this.#after.get(edge);
        this.#after.set(edge, known === undefined ? after : union(known, after));
        return this.#add(edge.to, after);
      });
      return added.length === 0 ? [] : [edge.to];
    });
  }

  /** @returns whether the state is new */
  #add(table: number, state: State): boolean {
    let known = this.#known.get(table);
    if (known === undefined) this.#known.set(table, (known = { states: [], pending: [] }));
    if (known.states.some((one) => contains(one, state))) return false;
    const most = this.#world.graph.edgesFrom(table).length > MANY_EDGES ? FEW_STATES : MAX_STATES;
    const isNew = (one: State): boolean => !contains(state, one);
    if (known.states.length < most) {
      known.states = [...known.states.filter(isNew), state];
      known.pending = [...known.pending.filter(isNew), state];
    } else {
      const all = known.states.reduce(union, state);
      known.states = [all];
      known.pending = [all];
    }
    return true;
  }

  /** The state at the end of a way; null if no frame of the state takes it. */
  #along(before: State, edge: Edge): State | null {
    const matched = edge.rule === null ? before : both(before, this.#world.contentOf(edge.rule));
    if (matched === null) return null;
    if (edge.changes.length === 0 && (edge.move === "jump" || edge.move === "miss" || edge.move === "resume"))
      return withConditions(matched, edge.conditions);
    const after = this.#ways.along(edge, matched, () => this.#made(matched, edge));
    return after === null ? null : withConditions(after, edge.conditions);
  }

  /** What the actions of a way make of a state. */
  #made(matched: State, edge: Edge): State | null {
    const solver = this.#solver;
    solver.reset();
    const { key, when } = this.#world.after(solver, new StateKey(solver, matched), edge);
    return when === FALSE ? null : stateOf(this.#bits, (bit) => key.bit(bit));
  }
}

/** A key of which a state is known. */
class StateKey implements SymbolicKey {
  readonly #solver: Solver;
  readonly #state: State;
  readonly #literals = new Map<number, Literal>();

  constructor(solver: Solver, state: State) {
    this.#solver = solver;
    this.#state = state;
  }

  bit(index: number): Literal {
    const { mask, value } = this.#state;
    if (hasBit(mask, index)) return constant(hasBit(value, index));
    let literal = this.#literals.get(index);
    if (literal === undefined) this.#literals.set(index, (literal = this.#solver.newVariable()));
    return literal;
  }
}

/** The bits that states of a device have. */
function bitsOf(world: Walked): number[] {
  const asked = new Uint8Array(KEY_SIZE);
  for (const { rule } of world.graph.tables.flatMap((table) => world.graph.edgesFrom(table))) {
    if (rule === null) continue;
    for (const [byte, bits] of world.contentOf(rule).mask.entries()) asked[byte] = (asked[byte] as number) | bits;
  }
  return Array.from({ length: 8 * KEY_SIZE }, (_, bit) => bit).filter(
    (bit) => IS_PATH[bit] === 1 || hasBit(asked, bit),
  );
}

/** The bits that are constants. */
function stateOf(bits: readonly number[], literalOf: (bit: number) => Literal): State {
  const state = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE) };
  for (const bit of bits) {
    const literal = literalOf(bit);
    if (!isConstant(literal)) continue;
    setBit(state.mask, bit);
    if (literal === TRUE) setBit(state.value, bit);
  }
  return state;
}

/** Whether nothing has both. */
function exclude(one: State, other: State): boolean {
  for (let byte = 0; byte < KEY_SIZE; byte++) {
    const bits = (one.mask[byte] as number) & (other.mask[byte] as number);
    if ((bits & ((one.value[byte] as number) ^ (other.value[byte] as number))) !== 0) return true;
  }
  return false;
}

/** What has both; null if nothing does. */
function both(one: State, other: State): State | null {
  if (exclude(one, other)) return null;
  const mask = one.mask.map((bits, byte) => bits | (other.mask[byte] as number));
  const value = one.value.map((bits, byte) => bits | ((other.value[byte] as number) & (other.mask[byte] as number)));
  return { mask, value };
}

/** What both have in common. */
function union(one: State, other: State): State {
  const mask = one.mask.map((bits, byte) => {
    const differing = (one.value[byte] as number) ^ (other.value[byte] as number);
    return bits & (other.mask[byte] as number) & ~differing;
  });
  return { mask, value: one.value.map((bits, byte) => bits & (mask[byte] as number)) };
}

/** Whether every key of the second state is one of the first. */
function contains(one: State, other: State): boolean {
  return one.mask.every((bits, byte) => {
    const differing = (one.value[byte] as number) ^ (other.value[byte] as number);
    return (bits & ~(other.mask[byte] as number)) === 0 && (bits & differing) === 0;
  });
}

/** The state of frames that meet all conditions; null if none does. */
function withConditions(state: State, conditions: readonly Condition[]): State | null {
  let met: State | null = state;
  for (const { bit, width, value, equal } of conditions) {
    const asked = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE) };
    for (let n = 0; n < width; n++) {
      setBit(asked.mask, bit + n);
      if (Math.floor(value / 2 ** (width - 1 - n)) % 2 === 1) setBit(asked.value, bit + n);
    }
    if (equal) met = both(met, asked);
    else if (contains(asked, met)) return null;
    if (met === null) return null;
  }
  return met;
}

function setBit(bytes: Uint8Array, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] as number) | (0x80 >> (bit & 7));
}
