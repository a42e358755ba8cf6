/**
 * Rules of one matcher. Both peers write the fields of the 5-tuple into each key before each
 * lookup. The trace is longer than a batch, so that a short trace does not keep the rules in the
 * CPU cache.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { Link } from "../../src/abi/headers.js";
import { KEY_SIZE, LAYER_DST_IPV4, LAYER_SRC_IPV4, LAYER_TCP_PORTS, OUTER, NEEDS_ALL } from "../../src/abi/key.js";
import { Batch } from "../../src/engine/batch.js";
import { tcpFrame } from "../makeFrames.js";
import { expectEqual, type Workload } from "../workload.js";
import { plainValue, TUPLE_MASK, TupleTable } from "../nic.js";
import { PlainClassifier } from "../peers/classifier.js";
import { PlainParser } from "../peers/parser.js";
import * as at from "../peers/record.js";
import { swap, trace, TUPLE_WANTS, tupleAt, type Tuple } from "../tuples.js";

/** Lookups of one run; the trace is TRACE long and continues where the last run ended. */
const RUN = 4096;
const TRACE = 65536;

export async function oneMatcher(rules: number): Promise<Workload> {
  const tuples = trace(rules, TRACE);
  const name = `one matcher, ${rules.toLocaleString("en")} ${rules === 1 ? "rule" : "rules"}`;
  const engine = await engineSide(rules, tuples);
  const plain = plainSide(rules, tuples);
  return {
    name,
    unit: "key",
    units: RUN,
    check() {
      for (const size of [MAX_BATCH, 32, 1]) {
        const sums = [engine.all(size), plain.all()];
        expectEqual(`${name}, batches of ${size}`, sums[0], sums[1]);
      }
    },
    cases: [
      { name: "engine, batch of 256", run: engine.runner(MAX_BATCH) },
      { name: "engine, batch of 32", run: engine.runner(32) },
      { name: "engine, one a call", run: engine.runner(1) },
      { name: "plain JavaScript, a Map a mask", peer: true, run: plain.runner() },
    ],
  };
}

interface Side {
  /** The results for the keys of the trace: numbers of rules, 0 for a miss. */
  all: (size: number) => number[];
  runner: (size: number) => () => number;
}

async function engineSide(rules: number, tuples: readonly Tuple[]): Promise<Side> {
  const nic = await TupleTable.open(1);
  const { core } = nic.device;
  const table = nic.table.classifier.table;
  const numberOf = new Map<number, number>([[0, 0]]);
  for (let i = 0; i < rules; i++) numberOf.set(nic.insert(tupleAt(i), i, i), i + 1);

  // Complete keys of TCP frames, from the parser.
  const batch = new Batch(core);
  for (let i = 0; i < MAX_BATCH; i++) batch.put(tcpFrame(tupleAt(0)), 64, 1, Link.ethernet);
  batch.parse(NEEDS_ALL);
  const words = Int32Array.from(tuples.flatMap(({ src, dst, ports }) => [swap(src), swap(dst), swap(ports)]));
  const memory = core.u32;
  const base = (core.keys + OUTER) >> 2;
  const found = core.found >> 2;

  const look = (first: number, size: number): void => {
    for (let i = 0, from = 3 * first, key = base; i < size; i++, from += 3, key += KEY_SIZE >> 2) {
      memory[key + (LAYER_SRC_IPV4 >> 2)] = words[from]!;
      memory[key + (LAYER_DST_IPV4 >> 2)] = words[from + 1]!;
      memory[key + (LAYER_TCP_PORTS >> 2)] = words[from + 2]!;
    }
    core.exports.classify(table, size, 0, 0);
  };
  return {
    all(size) {
      const answers: number[] = [];
      for (let first = 0; first < TRACE; first += size) {
        look(first, size);
        for (let i = 0; i < size; i++) answers.push(numberOf.get(memory[found + i]!)!);
      }
      return answers;
    },
    runner(size) {
      let position = 0;
      return () => {
        let hits = 0;
        for (let first = position; first < position + RUN; first += size) {
          look(first, size);
          for (let i = 0; i < size; i++) if (memory[found + i] !== 0) hits++;
        }
        position = (position + RUN) % TRACE;
        return hits;
      };
    },
  };
}

function plainSide(rules: number, tuples: readonly Tuple[]): { all: () => number[]; runner: () => () => number } {
  const classifier = new PlainClassifier<number>();
  const group = classifier.group(TUPLE_MASK);
  for (let i = 0; i < rules; i++) group.insert(plainValue(tupleAt(i)), i, i + 1);
  const parser = new PlainParser(1);
  const frame = tcpFrame(tupleAt(0));
  parser.parse(frame, 0, frame.length, 1, 0, TUPLE_WANTS);
  const { fields } = parser;
  const words = Int32Array.from(tuples.flatMap(({ src, dst, ports }) => [src, dst, ports]));

  const look = (i: number): number => {
    fields[at.SRC + 3] = words[3 * i]!;
    fields[at.DST + 3] = words[3 * i + 1]!;
    fields[at.TCP_PORTS] = words[3 * i + 2]!;
    return classifier.lookup(fields, 0) ?? 0;
  };
  return {
    all: () => Array.from(tuples, (_, i) => look(i)),
    runner() {
      let position = 0;
      return () => {
        let hits = 0;
        for (let i = position; i < position + RUN; i++) if (look(i) !== 0) hits++;
        position = (position + RUN) % TRACE;
        return hits;
      };
    },
  };
}
