/** Keys that two devices treat alike for the same reason as one frame. */
import { VPORT_UPLINK } from "../../abi/engine.js";
import { EXT_PORT, KEY_SIZE, MISC_BITS, MISC_SOURCE_PORT } from "../../abi/key.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import type { ParsedKey } from "../keys/parsedKey.js";
import type { Literal } from "../literal.js";
import { arrivalKey } from "../path/arrival.js";
import { Chain } from "../path/chain.js";
import { decisiveLiterals } from "../path/decisive.js";
import type { Entry } from "../path/graph.js";
import { Solver } from "../solver/solver.js";
import type { Path } from "./path.js";
import type { Side } from "./sides.js";

/** The way of a frame through a device. */
export interface Way {
  readonly side: Side;
  readonly entry: Entry;
  readonly path: Path;
}

/** Conflicts of the solver: all bits of the key are given. */
const CONFLICTS = 10_000;

/**
 * The keys of frames that take the same ways as one frame through both devices, as a mask and a value: the bits that decide
 * these ways. Where the same happens on both ways, the devices treat all of them alike.
 * @param key the key of the frame as it comes in
 * @returns null if the bits that decide are not bits of the frame
 */
export function sameWays([a, b]: readonly [Way, Way], key: Uint8Array): KeyMatch | null {
  const solver = new Solver();
  const { device } = a.side.world.tracer;
  if (!isSameOrigin(a.entry, b.entry)) return null;
  const arrival = arrivalKey(device, a.entry, solver);
  const chains = [a, b].map(({ side, path: { edges, table, rule } }) => {
    const chain = new Chain(side.world, solver, arrival, edges, { table, target: rule });
    chain.askAll();
    return chain;
  });
  if (!chains.every(({ possible }) => possible)) return null;
  const isSet = (bit: number): boolean => ((key[bit >> 3] as number) & (0x80 >> (bit & 7))) !== 0;
  const asked = [...arrival.asked].filter((bit) => bit < KEY_SIZE * 8);
  const given = asked.map((bit) => (isSet(bit) ? arrival.bit(bit) : -arrival.bit(bit)));
  if (solver.solve(given, CONFLICTS) !== true) return null;
  const left = new Set(chains.flatMap((chain) => [...decisiveLiterals(chain)]));
  return cubeOf(asked, arrival, left);
}

/** The bits of the key that the literals stand for; null if some literal is none of them. */
function cubeOf(asked: readonly number[], arrival: ParsedKey, literals: Set<Literal>): KeyMatch | null {
  const mask = new Uint8Array(KEY_SIZE);
  const value = new Uint8Array(KEY_SIZE);
  const left = new Set(literals);
  for (const bit of asked) {
    const literal = arrival.bit(bit);
    const set = literals.has(literal);
    if (!set && !literals.has(-literal)) continue;
    left.delete(set ? literal : -literal);
    const flag = 0x80 >> (bit & 7);
    mask[bit >> 3] = (mask[bit >> 3] as number) | flag;
    if (set) value[bit >> 3] = (value[bit >> 3] as number) | flag;
  }
  return left.size === 0 ? { mask, value, ranges: [] } : null;
}

/** Whether the keys of frames from two places say the same of their origin. */
function isSameOrigin(a: Entry, b: Entry): boolean {
  return JSON.stringify(a.source) === JSON.stringify(b.source) && a.queue?.qp_num === b.queue?.qp_num;
}

/** The keys of all frames that come in at a place. */
export function originMatch({ source, queue }: Entry): KeyMatch {
  const mask = new Uint8Array(KEY_SIZE);
  const value = new Uint8Array(KEY_SIZE);
  const [bits, is] = [new DataView(mask.buffer), new DataView(value.buffer)];
  // | source_vhca_port and bits of GRE and BTH 8 | source_sqn 24 |
  bits.setUint32(MISC_BITS, 0xffffff);
  is.setUint32(MISC_BITS, (queue?.qp_num ?? 0) & 0xffffff);
  bits.setUint16(MISC_SOURCE_PORT, 0xffff);
  is.setUint16(MISC_SOURCE_PORT, source.kind === "wire" ? VPORT_UPLINK : source.vport);
  bits.setUint16(EXT_PORT, 0xffff);
  is.setUint16(EXT_PORT, source.port);
  return { mask, value, ranges: [] };
}
