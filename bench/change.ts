/**
 * Inserts and deletes: many rules into an empty table, all of them out again, and pairs on a live
 * table; rules of one matcher, then ClassBench sets.
 */
import { Link } from "../src/abi/headers.js";
import { GROUP_SIZE } from "../src/abi/key.js";
import { Batch } from "../src/engine/batch.js";
import { createRules, mlx5dv_dr_action_create_drop, mlx5dv_dr_rule_destroy } from "../src/mlx5dv/index.js";
import type { Rule } from "../src/model/rule/rule.js";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { changes } from "./classify/changes.js";
import { FEW_SETS, SIZES } from "./classify/ruleSets.js";
import { memoryOf, tails } from "./classify/tails.js";
import { tcpFrame } from "./makeFrames.js";
import { expectEqual, type Suite, type Workload } from "./harness.js";
import { plainValue, TUPLE_MASK, TupleTable, writeTuple } from "./nic.js";
import { PlainClassifier } from "./peers/classifier.js";
import { PlainParser } from "./peers/parser.js";
import { missOf, TUPLE_WANTS, tupleAt } from "./tuples.js";

const BULK = 100_000;
const LIVE = 10_000;
/**
 * Precomputed tuples; pairs cycle through them and reuse a tuple long after its rule was deleted.
 */
const TUPLES = Array.from({ length: 2 ** 17 }, (_, i) => tupleAt(i));
/** Pairs of one run. */
const PAIRS = 1000;

export const change: Suite = {
  name: "change",
  title: "Insert and delete: 5-tuple rules of one matcher, then ClassBench sets",
  async *workloads(quick) {
    const rules = quick ? 2000 : BULK;
    const sides = [await throughNames(), await throughCore(), plainSide()];
    const count = rules.toLocaleString("en");
    yield bulk(`insert ${count}`, rules, [await throughBulk(rules), ...sides], (side) => ({
      before: () => undefined,
      run: () => side.insertAll(rules),
      after: () => removeAll(side, rules),
    }));
    yield bulk(`delete ${count}`, rules, sides, (side) => ({
      before: () => side.insertAll(rules),
      run: () => removeAll(side, rules),
      after: () => undefined,
    }));
    yield pairs(sides, quick ? 1000 : LIVE);
    for (const set of quick ? FEW_SETS.slice(0, 1) : FEW_SETS) yield* changes(set, quick ? "1k" : "10k");
  },
  async facts(quick) {
    const facts = await memory(quick);
    for (const set of quick ? FEW_SETS.slice(0, 1) : FEW_SETS) {
      for (const size of quick ? SIZES.slice(0, 1) : SIZES) Object.assign(facts, await memoryOf(set, size));
      Object.assign(facts, await tails(set, quick ? "1k" : "100k"));
    }
    return facts;
  },
};

/** One competitor: rules by number. */
interface Side {
  name: string;
  peer?: boolean;
  /** Inserts the rules of the first tuples as numbers 0 and on. */
  insertAll: (rules: number) => void;
  remove: (i: number) => void;
  /** Whether the rules match the frame of tuple `tuple`, and that of its near miss. */
  hits: (tuple: number) => [boolean, boolean];
}

/** A competitor that takes rules one by one. */
interface StepSide extends Side {
  /** Inserts the rule of tuple `tuple` as number `i`. */
  insert: (i: number, tuple: number) => void;
}

function oneByOne(side: Omit<StepSide, "insertAll">): StepSide {
  const insertAll = (rules: number): void => {
    for (let i = 0; i < rules; i++) side.insert(i, i);
  };
  return { ...side, insertAll };
}

function removeAll(side: Side, rules: number): void {
  for (let i = 0; i < rules; i++) side.remove(i);
}

function bulk(
  name: string,
  rules: number,
  sides: Side[],
  work: (side: Side) => { before: () => void; run: () => void; after: () => void },
): Workload {
  return {
    name,
    unit: "rule",
    units: rules,
    check() {
      for (const side of sides) {
        side.insertAll(rules);
        for (let i = 0; i < rules; i += 997) expectEqual(`${side.name}, rule ${i}`, side.hits(i), [true, false]);
        removeAll(side, rules);
        for (let i = 0; i < rules; i += 997) expectEqual(`${side.name}, no rule ${i}`, side.hits(i), [false, false]);
      }
    },
    cases: sides.map((side) => ({ name: side.name, peer: side.peer === true, ...work(side) })),
  };
}

/** Repeatedly deletes the oldest rule and inserts one with the next tuple. */
function pairs(sides: StepSide[], live: number): Workload {
  const step = (side: StepSide, position: number): void => {
    for (let i = position; i < position + PAIRS; i++) {
      side.remove(i % live);
      side.insert(i % live, (live + i) % TUPLES.length);
    }
  };
  const positions = sides.map(() => 0);
  return {
    name: `delete and insert, ${live.toLocaleString("en")} live`,
    unit: "pair",
    units: PAIRS,
    check() {
      for (const [n, side] of sides.entries()) {
        side.insertAll(live);
        step(side, 0);
        positions[n] = PAIRS;
        expectEqual(`${side.name}, replaced`, side.hits(PAIRS - 1), [false, false]);
        expectEqual(`${side.name}, replacing`, side.hits(live + PAIRS - 1), [true, false]);
      }
    },
    cases: sides.map((side, n) => ({
      name: side.name,
      peer: side.peer === true,
      run: () => {
        step(side, positions[n]!);
        positions[n]! += PAIRS;
      },
    })),
  };
}

async function throughNames(): Promise<StepSide> {
  const nic = await TupleTable.open(0);
  const actions = [mlx5dv_dr_action_create_drop()];
  const rules: Rule[] = [];
  return oneByOne({
    name: "engine, mlx5dv_dr_rule_create",
    insert: (i, tuple) => void (rules[i] = nic.create(TUPLES[tuple]!, actions)),
    remove: (i) => void mlx5dv_dr_rule_destroy(rules[i]!),
    hits: hitsOf(nic),
  });
}

/**
 * All rules in one call. Their values are written inside the call, as the others create theirs one
 * by one.
 */
async function throughBulk(rules: number): Promise<Side> {
  const nic = await TupleTable.open(0);
  const actions = [mlx5dv_dr_action_create_drop()];
  const values = new Uint8Array(rules * GROUP_SIZE);
  for (let i = 0; i < rules; i++) values.set(nic.value.subarray(0, GROUP_SIZE), i * GROUP_SIZE);
  const view = new DataView(values.buffer);
  let made: Rule[] = [];
  return {
    name: "engine, createRules",
    insertAll: (count) => {
      for (let i = 0; i < count; i++) writeTuple(view, i * GROUP_SIZE, TUPLES[i]!);
      made = createRules(nic.matcher, { match_sz: GROUP_SIZE, match_buf: values }, actions);
    },
    remove: (i) => void mlx5dv_dr_rule_destroy(made[i]!),
    hits: hitsOf(nic),
  };
}

async function throughCore(): Promise<StepSide> {
  const nic = await TupleTable.open(0);
  const { core } = nic.device;
  const handles: number[] = [];
  let rank = 0;
  return oneByOne({
    name: "engine, insertRule",
    insert: (i, tuple) => void (handles[i] = nic.insert(TUPLES[tuple]!, i, rank++)),
    remove: (i) => core.exports.removeRule(handles[i]!),
    hits: hitsOf(nic),
  });
}

function hitsOf(nic: TupleTable): Side["hits"] {
  const { core } = nic.device;
  const batch = new Batch(core);
  return (tuple) => {
    batch.clear();
    for (const one of [tupleAt(tuple), missOf(tupleAt(tuple))]) batch.put(tcpFrame(one), 64, 1, Link.ethernet);
    batch.parse(TUPLE_WANTS);
    core.exports.classify(nic.table.classifier.table, batch.count, 0, 0);
    const found = core.found >> 2;
    return [core.u32[found] !== 0, core.u32[found + 1] !== 0];
  };
}

function plainSide(): StepSide {
  const classifier = new PlainClassifier<number>();
  const parser = new PlainParser(1);
  const group = classifier.group(TUPLE_MASK);
  const rules: number[] = [];
  let rank = 0;
  const hit = (frame: Uint8Array): boolean => {
    parser.parse(frame, 0, frame.length, 1, 0, TUPLE_WANTS);
    return classifier.lookup(parser.fields, 0) !== null;
  };
  return oneByOne({
    name: "plain JavaScript, a Map a mask",
    peer: true,
    insert: (i, tuple) => void (rules[i] = group.insert(plainValue(TUPLES[tuple]!), rank++, i)),
    remove: (i) => group.remove(rules[i]!),
    hits: (tuple) => [hit(tcpFrame(tupleAt(tuple))), hit(tcpFrame(missOf(tupleAt(tuple))))],
  });
}

/** Bytes per rule, including the table itself. */
async function memory(quick: boolean): Promise<Record<string, number>> {
  const rules = quick ? 2000 : BULK;
  const nic = await TupleTable.open(0);
  const empty = nic.device.memoryUsed;
  for (let i = 0; i < rules; i++) nic.insert(tupleAt(i), i, i);
  const arena = (nic.device.memoryUsed - empty) / rules;

  const names = await throughNames();
  const plain = plainSide();
  const before = heap();
  names.insertAll(rules);
  const between = heap();
  const arrays = process.memoryUsage().arrayBuffers;
  plain.insertAll(rules);
  const after = heap() + process.memoryUsage().arrayBuffers - arrays;
  // Both stay alive until here.
  expectEqual(
    "rules held",
    [names.hits(0), plain.hits(0)],
    Array.from({ length: 2 }, () => [true, false]),
  );
  return {
    rules,
    "core memory a rule, bytes": Math.round(arena * 10) / 10,
    "rule object beside it, JavaScript heap, bytes": Math.round((between - before) / rules),
    "plain classifier, heap and arrays a rule, bytes": Math.round((after - between) / rules),
  };
}

/** Bytes of the JavaScript heap in use; linear memory and typed arrays are not in it. */
function heap(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
