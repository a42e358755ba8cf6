/** Memory and time of large tables of 5-tuple rules, and of one table with a million rules. */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { Link } from "../../src/abi/headers.js";
import { KEY_SIZE, LAYER_DST_IPV4, LAYER_SRC_IPV4, LAYER_TCP_PORTS, NEEDS_ALL } from "../../src/abi/key.js";
import { Batch } from "../../src/engine/batch.js";
import { tcpFrame } from "../makeFrames.js";
import { cpuSeconds } from "../harness.js";
import { TupleTable } from "../nic.js";
import { swap, missOf, tupleAt, type Tuple } from "../tuples.js";
import { numbers } from "../random.js";
import { BYTES_GOAL } from "./goals.js";

/** Headers looked up in the largest table; one in four misses. */
const TRACE = 65536;

export async function large(rules: number, most: number): Promise<Record<string, number>> {
  const nic = await TupleTable.open(1);
  const { device } = nic;
  const empty = device.memoryUsed;
  const bytes = (count: number): number => Math.round(((device.memoryUsed - empty) / count) * 10) / 10;
  const handles = new Uint32Array(most);
  for (let i = 0; i < rules; i++) handles[i] = nic.insert(tupleAt(i), i, i);
  const small = bytes(rules);
  const tuples = Array.from({ length: most - rules }, (_, i) => tupleAt(rules + i));
  const start = cpuSeconds();
  for (const [i, tuple] of tuples.entries()) handles[rules + i] = nic.insert(tuple, rules + i, rules + i);
  const perInsert = ((cpuSeconds() - start) * 1e9) / tuples.length;
  const perKey = answer(nic, handles);
  const [some, all] = [rules.toLocaleString("en"), most.toLocaleString("en")];
  return {
    [`${some} 5-tuple rules, core memory a rule, bytes (at most ${BYTES_GOAL})`]: small,
    [`${all} rules, core memory a rule, bytes`]: bytes(most),
    [`${all} rules, insert, ns a rule`]: Math.round(perInsert),
    [`${all} rules, look up in batches of 256, ns a key`]: Math.round(perKey),
  };
}

/**
 * Looks up rules across the whole table and checks every result; nanoseconds of CPU time per key,
 * without writing the keys.
 */
function answer(nic: TupleTable, handles: Uint32Array): number {
  const { core } = nic.device;
  const batch = new Batch(core);
  for (let i = 0; i < MAX_BATCH; i++) batch.put(tcpFrame(tupleAt(0)), 64, 1, Link.ethernet);
  batch.parse(NEEDS_ALL);
  const next = numbers(3);
  const asked = Array.from({ length: TRACE }, () => {
    const rule = next() % handles.length;
    return next() % 4 === 0
      ? { tuple: missOf(tupleAt(rule)), handle: 0 }
      : { tuple: tupleAt(rule), handle: handles[rule]! };
  });
  const write = (i: number, { src, dst, ports }: Tuple): void => {
    const key = core.keys + i * KEY_SIZE;
    core.u32[(key + LAYER_SRC_IPV4) >> 2] = swap(src);
    core.u32[(key + LAYER_DST_IPV4) >> 2] = swap(dst);
    core.u32[(key + LAYER_TCP_PORTS) >> 2] = swap(ports);
  };
  let spent = 0;
  for (let first = 0; first < TRACE; first += MAX_BATCH) {
    for (let i = 0; i < MAX_BATCH; i++) write(i, asked[first + i]!.tuple);
    const start = cpuSeconds();
    core.exports.classify(nic.table.classifier.table, MAX_BATCH, 0, 0);
    spent += cpuSeconds() - start;
    for (let i = 0; i < MAX_BATCH; i++) {
      const found = core.u32[(core.found >> 2) + i]!;
      const { handle } = asked[first + i]!;
      if (found !== handle) throw new Error(`bench: key ${first + i} finds ${found}, not ${handle}`);
    }
  }
  return (spent * 1e9) / TRACE;
}
