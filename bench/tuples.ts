/**
 * TCP 5-tuples for rules, and traces of them, as in the flow table of a busy host.
 *
 * Invariant: tuples with different numbers have different source addresses, so a key with one
 * tuple's source and another destination port matches no rule of the set.
 */
import { GROUP_EXT, GROUP_INNER, GROUP_MISC, GROUP_OUTER, NEEDS_INNER } from "../src/abi/key.js";
import { numbers } from "./random.js";

/** What rules on the 5-tuple make the parser fill. */
export const TUPLE_WANTS = (1 << GROUP_OUTER) | (1 << GROUP_EXT);
/** What rules on a tunnel's endpoints, its VNI and the inner 5-tuple do. */
export const TUNNEL_WANTS = TUPLE_WANTS | (1 << GROUP_MISC) | (1 << GROUP_INNER) | NEEDS_INNER;

/** Everything as unsigned 32-bit numbers; the protocol is TCP. */
export interface Tuple {
  src: number;
  dst: number;
  /** Source port in the high half, destination port in the low one. */
  ports: number;
}

/** Tuple number i, i < 2^24: 10.0.0.0/8 to anywhere. */
export function tupleAt(i: number): Tuple {
  const next = numbers(i);
  // An odd factor permutes the 24-bit numbers.
  return { src: (0x0a000000 | (Math.imul(i, 0x9e3779b1) & 0xffffff)) >>> 0, dst: next(), ports: next() };
}

/** A tuple that misses the rules of every tuple: another destination port. */
export function missOf(tuple: Tuple): Tuple {
  return { ...tuple, ports: (tuple.ports ^ 1) >>> 0 };
}

/** Tuples of a trace: uniform over `rules` rules, one in four misses. */
export function trace(rules: number, length: number, seed = 1): Tuple[] {
  const next = numbers(seed);
  return Array.from({ length }, () => {
    const tuple = tupleAt(next() % rules);
    return next() % 4 === 0 ? missOf(tuple) : tuple;
  });
}

/** The bytes of a number in the order of the wire, read as the machine reads. */
export function swap(word: number): number {
  return ((word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24)) >>> 0;
}
