/**
 * Headers of flows that hit random rules of a set, and sequences of them: skewed, and without
 * repetition.
 */
import { HEADER_WORDS, LinearSearch, type SetRule, type Trace } from "../classify/ruleSets.js";
import { FlatTupleSpace, HAS_PORTS } from "../peers/flatTupleSpace.js";
import { numbers } from "../random.js";
import { Shares } from "./shares.js";

const TCP = 6;
const UDP = 17;
/** One in this many headers is checked against a linear search. */
const HELD = 256;

/** This many headers, each at a random point of a random rule, with the winning rule. */
export function randomFlows(rules: readonly SetRule[], count: number, seed: number): Trace {
  const next = numbers(seed);
  const headers = new Uint32Array(HEADER_WORDS * count);
  for (let i = 0; i < count; i++) {
    const { src, srcMask, dst, dstMask, sport, dport, protocol, protocolMask } = rules[next() % rules.length]!;
    const one = [(src | (next() & ~srcMask)) >>> 0, (dst | (next() & ~dstMask)) >>> 0];
    const ports = ((within(sport, next()) << 16) | within(dport, next())) >>> 0;
    headers.set([...one, ports, protocol | (next() & ~protocolMask & 0xff)], HEADER_WORDS * i);
  }
  return { headers, expected: winners(rules, headers) };
}

function within([low, high]: SetRule["sport"], chance: number): number {
  return low + (chance % (high - low + 1));
}

/** Found by a tuple space, which is checked against a linear search at intervals. */
function winners(rules: readonly SetRule[], headers: Uint32Array): Int32Array {
  const space = new FlatTupleSpace(rules);
  const search = new LinearSearch(rules);
  return Int32Array.from({ length: headers.length / HEADER_WORDS }, (_, i) => {
    const [src, dst, ports, protocol] = headers.subarray(
      HEADER_WORDS * i,
      HEADER_WORDS * (i + 1),
    ) as unknown as number[];
    const has = protocol === TCP || protocol === UDP ? HAS_PORTS : 0;
    const line = space.lookup(src! | 0, dst! | 0, has === 0 ? 0 : ports! | 0, protocol! | has);
    if (i % HELD === 0) {
      const searched = search.find(headers, i);
      if (searched !== line) throw new Error(`bench: header ${i} finds line ${line}, not ${searched}`);
    }
    return line;
  });
}

/** A sequence of flows whose shares fall with their place, as 1 / place^exponent. */
export function zipf(flows: Trace, length: number, exponent: number, seed: number): Trace {
  const count = flows.expected.length;
  const shares = new Shares(Array.from({ length: count }, (_, i) => 1 / (i + 1) ** exponent));
  const next = numbers(seed);
  const headers = new Uint32Array(HEADER_WORDS * length);
  const expected = new Int32Array(length);
  for (let i = 0; i < length; i++) {
    const flow = shares.pick(next());
    headers.set(flows.headers.subarray(HEADER_WORDS * flow, HEADER_WORDS * (flow + 1)), HEADER_WORDS * i);
    expected[i] = flows.expected[flow]!;
  }
  return { headers, expected };
}
