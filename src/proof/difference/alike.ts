/** Keys that two devices treat alike for the same reason as one frame. */
import { VPORT_UPLINK } from "../../abi/engine.js";
import { EXT_PORT, KEY_SIZE, MISC_BITS, MISC_SOURCE_PORT, MISC_SOURCE_SQN } from "../../abi/key.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import type { ParsedKey } from "../keys/parsedKey.js";
import type { Literal } from "../literal.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { arrivalKey, openArrivalKey } from "../path/arrival.js";
import { decisiveLiterals } from "../path/decisive.js";
import type { Edge, Entry } from "../path/graph.js";
import { Route } from "../path/route.js";
import { bothMatches } from "../path/ruleMatch.js";
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
 * these ways, of frames that come to the same first tables. Where the same happens on both ways, the devices treat all of them alike.
 * @param key the key of the frame as it comes in at the old device
 * @returns null if the bits that decide are not bits of the frame
 */
export function sameWays(ways: readonly [Way, Way], key: Uint8Array): KeyMatch | null {
  const [a, b] = ways;
  const { device } = a.side.world.tracer;
  const solver = new Solver();
  const keys = cubeOf(solver, openArrivalKey(device, solver), ways, key);
  // The key in the other device has another number of its queue.
  if (a.entry.queue?.qp_num !== b.entry.queue?.qp_num) return keys !== null && asksQueue(keys) ? null : keys;
  if (keys !== null) return keys;
  // What is computed from bits of the origin is known for each origin.
  solver.reset();
  const own = cubeOf(solver, arrivalKey(device, a.entry, solver), ways, key);
  return own === null ? null : bothMatches(own, originMatch(a.entry));
}

/**
 * The keys of frames that come in where the frame does and are much like it: where the state of the device, or bytes that
 * are in no key, decide about its ways too, as far as bits of the key decide.
 */
export function nearWays(ways: readonly [Way, Way], key: Uint8Array): KeyMatch | null {
  const [{ side, entry }] = ways;
  const solver = new Solver();
  const near = cubeOf(solver, arrivalKey(side.world.tracer.device, entry, solver), ways, key, false);
  return near === null ? null : bothMatches(near, originMatch(entry));
}

/** The bits of an arriving key that decide both ways; with `whole` null if other things decide too. */
function cubeOf(
  solver: Solver,
  arrival: ParsedKey,
  ways: readonly [Way, Way],
  key: Uint8Array,
  whole = true,
): KeyMatch | null {
  const routes = ways.map(({ side, path }) => {
    const waysOf = (table: number, rule: RuleNode | null): readonly Edge[] =>
      side.waysOf(table, rule?.stored.address ?? 0);
    const route = new Route(side.world, solver, arrival, { ...path, rule: path.rule ?? null }, waysOf);
    route.askAll();
    return route;
  });
  const isSet = (bit: number): boolean => ((key[bit >> 3] as number) & (0x80 >> (bit & 7))) !== 0;
  const asked = [...arrival.asked].filter((bit) => bit < KEY_SIZE * 8);
  const given = asked.map((bit) => (isSet(bit) ? arrival.bit(bit) : -arrival.bit(bit)));
  const known = new Set(given);
  if (solver.solve(given, CONFLICTS) !== true || (whole && !routes.every(({ isTaken }) => isTaken))) return null;
  const decisive = new Set<Literal>();
  for (const route of routes) {
    const literals = decisiveLiterals(route, (literal) => known.has(literal));
    if (literals === null) return null;
    for (const literal of literals) decisive.add(literal);
  }
  const kept = new Set<Literal>();
  for (const literal of decisive) {
    const reasons = known.has(literal) ? [literal] : reasonsOf(solver, literal, given);
    if (reasons === null && whole) return null;
    for (const one of reasons ?? []) kept.add(one);
  }
  return matchOf(asked, arrival, kept);
}

/** Bits of the frame from which a literal follows; null if it does not follow from them. */
function reasonsOf(solver: Solver, literal: Literal, given: readonly Literal[]): readonly Literal[] | null {
  if (solver.solve([...given, -literal], CONFLICTS) !== false) return null;
  return solver.failed.filter((one) => one !== -literal);
}

/** The bits of the key that the literals stand for. */
function matchOf(asked: readonly number[], arrival: ParsedKey, literals: ReadonlySet<Literal>): KeyMatch {
  const mask = new Uint8Array(KEY_SIZE);
  const value = new Uint8Array(KEY_SIZE);
  for (const bit of asked) {
    const literal = arrival.bit(bit);
    const set = literals.has(literal);
    if (!set && !literals.has(-literal)) continue;
    const flag = 0x80 >> (bit & 7);
    mask[bit >> 3] = (mask[bit >> 3] as number) | flag;
    if (set) value[bit >> 3] = (value[bit >> 3] as number) | flag;
  }
  return { mask, value, ranges: [] };
}

/** Whether a match is about the number of the queue that sent a frame. */
export function asksQueue({ mask, ranges }: Pick<KeyMatch, "mask" | "ranges">): boolean {
  const dword = MISC_SOURCE_SQN & ~3;
  return (
    mask.subarray(MISC_SOURCE_SQN, MISC_SOURCE_SQN + 3).some((bits) => bits !== 0) ||
    ranges.some((range) => range.dword === dword)
  );
}

/** The keys of all frames that come in at a place. */
function originMatch({ source, queue }: Entry): KeyMatch {
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
