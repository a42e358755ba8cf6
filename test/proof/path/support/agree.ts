/** Compares the key that an edge makes of a real key with the key that the engine has at the next table. */
import type { Tracer } from "../../../../src/explain/trace/tracer.js";
import { FIELDS } from "../../../../src/model/match/fields.js";
import { ParsedKey } from "../../../../src/proof/keys/parsedKey.js";
import type { SymbolicKey } from "../../../../src/proof/keys/symbolicKey.js";
import { FALSE, TRUE, type Literal } from "../../../../src/proof/literal.js";
import { ConstantKey } from "../../../../src/proof/path/bits.js";
import type { Condition, Edge } from "../../../../src/proof/path/graph.js";
import { keyAlong, type Changing } from "../../../../src/proof/path/transform.js";
import { Solver } from "../../../../src/proof/solver/solver.js";
import { Op } from "../../../../src/abi/engine.js";

const BITS = 4096;

/** How a key differs from that of the engine; `exact`: the bits that the key before determines. */
export interface Agreement {
  readonly difference: string | null;
  readonly exact: number;
}

/**
 * @param known whether the key before is given as constants; else as the key of some frame that has these bits, whose inner
 * packet decapsulation asks
 */
export function agreement(
  tracer: Tracer,
  edge: Edge,
  before: Uint8Array,
  after: Uint8Array,
  known: boolean,
): Agreement {
  const solver = new Solver();
  const changing = { solver, tracer, newKey: newKeys(solver, tracer) };
  const first = known ? new ConstantKey(before) : changing.newKey();
  if (!known)
    for (let bit = 0; bit < BITS; bit++) solver.addClause([isSet(before, bit) ? first.bit(bit) : -first.bit(bit)]);
  const { key, when } = keyAlong(changing, first, edge);
  if (when === FALSE) return { difference: "the frame ends", exact: 0 };
  if (!edge.conditions.every((condition) => holds(condition, after))) return { difference: "conditions", exact: 0 };
  solver.addClause([when]);
  let exact = 0;
  const open: Literal[] = [];
  for (let bit = 0; bit < BITS; bit++) {
    const real = isSet(after, bit);
    const literal = key.bit(bit);
    if (literal === TRUE || literal === FALSE) {
      exact++;
      if ((literal === TRUE) !== real) return { difference: `${nameOf(bit)} is ${String(real)}`, exact };
    } else open.push(real ? literal : -literal);
  }
  if (solver.solve(open) === true) return { difference: null, exact };
  const failed = solver.failed.map((literal) => named(key, literal)).slice(0, 8);
  return { difference: `not together: ${failed.join(", ")}`, exact };
}

function newKeys(solver: Solver, { device: { parser } }: Tracer): Changing["newKey"] {
  return (origin, link) =>
    new ParsedKey(solver, {
      parser,
      given: () => solver.newVariable(),
      ...(origin instanceof ParsedKey ? { insideOf: origin } : {}),
      ...(link ? { ethernet: link } : {}),
    });
}

function isSet(key: Uint8Array, bit: number): boolean {
  return (((key[bit >> 3] as number) >> (7 - (bit & 7))) & 1) === 1;
}

function named(key: SymbolicKey, literal: Literal): string {
  const bit = Array.from({ length: BITS }, (_, i) => i).find((i) => Math.abs(key.bit(i)) === Math.abs(literal));
  return bit === undefined ? "?" : `${nameOf(bit)} ${key.bit(bit) === literal ? "1" : "0"}`;
}

function holds({ bit, width, value, equal }: Condition, key: Uint8Array): boolean {
  let number = 0;
  for (let at = bit; at < bit + width; at++) number = 2 * number + Number(isSet(key, at));
  return (number === value) === equal;
}

/** The field that has a bit of the key. */
function nameOf(bit: number): string {
  const field = FIELDS.find((one) => bit >= one.bit && bit < one.bit + one.width);
  return `${field?.name ?? "key"} (bit ${bit})`;
}

/** The names of the operations on an edge that change keys, and its move. */
export function kindsOf({ changes, move }: Edge): string[] {
  const ops = changes.filter((_, i) => i % 2 === 0).map((op) => Op[op] as string);
  return [move, ...ops.filter((op) => op !== "state")];
}
