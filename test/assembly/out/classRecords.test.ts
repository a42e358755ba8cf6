/** Outcome classes, word by word: outcomes as the core keeps them, with the words of their classes. */
import { beforeEach, describe, expect, it } from "vitest";
import {
  Area,
  FRAME_LENGTH,
  FRAME_SIZE,
  FRAME_WIRE_LENGTH,
  HITS_PER_FRAME,
  REGISTER_A,
  REGISTER_B,
  CLASS_BYTES,
  CLASS_FIRST,
  CLASS_HASH,
  CLASS_ROW,
  CLASS_SIZE,
  CLASS_SLOTS,
  CLASS_WORDS,
  CLASSES_COUNT,
  CLASSES_RECORDS,
  CLASSES_SLOTS,
  CLASSES_USED,
  CLASSES_WORDS,
  MAX_CLASS_WORDS,
} from "../../../src/abi/engine.js";
import {
  DEST_FLAGS,
  DEST_LENGTH,
  DEST_NEXT,
  DEST_QUEUE,
  DEST_SIZE,
  DEST_STATUS,
  OUTCOME_DESTINATIONS,
  OUTCOME_HITS,
  OUTCOME_KEY,
  OUTCOME_MISSED,
  OUTCOME_MISSED_FDB,
  OUTCOME_REASON,
  OUTCOME_SIZE,
  OUTCOME_VERDICT,
  OUTCOME_WRITTEN,
} from "../../../src/abi/outcome.js";
import { EXT_REGISTER_B, KEY_SIZE, MISC2_REGISTER_A, MISC2_REGISTER_C_0 } from "../../../src/abi/key.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { OutcomeClasses } from "../../../src/engine/outcomeClasses.js";

const LENGTH = 60;
const WIRE_LENGTH = 64;
const KEY = { row: 3, value: 0x1000 };

interface Arrival {
  queue: number;
  flags?: number;
  status?: number;
  more?: number;
}

interface Fields {
  verdict?: number;
  reason?: number;
  hits?: readonly number[];
  /** Registers with values: bit n is register n. */
  written?: number;
  destinations?: readonly Arrival[];
  /** The place of the miss, and the table of the FDB that was missed before. */
  missed?: readonly [number, number];
}

let core: Core;
let classes: OutcomeClasses;
let view: DataView;
let area: number;
/** Memory for destinations after the first. */
let next: number;

beforeEach(async () => {
  core = await loadOpenCore();
  classes = new OutcomeClasses(core);
  view = new DataView(core.exports.memory.buffer);
  area = core.exports.areaAddress(Area.outcome_classes) >>> 0;
  next = core.exports.createCounters(1024) >>> 0;
  for (let n = 0; n <= REGISTER_B; n++) view.setUint32(registerAt(n), KEY.value + n, true);
});

function registerAt(n: number): number {
  const key = core.keys + KEY.row * KEY_SIZE;
  if (n === REGISTER_A) return key + MISC2_REGISTER_A;
  return key + (n === REGISTER_B ? EXT_REGISTER_B : MISC2_REGISTER_C_0 - 4 * n);
}

/** Writes the outcome of a row. */
function put(
  row: number,
  { verdict = 1, reason = 0, hits = [], written = 0, destinations = [], missed = [0, 0] }: Fields,
): void {
  const frame = core.frames + row * FRAME_SIZE;
  view.setUint32(frame + FRAME_LENGTH, LENGTH, true);
  view.setUint32(frame + FRAME_WIRE_LENGTH, WIRE_LENGTH, true);
  const outcome = core.outcomes + row * OUTCOME_SIZE;
  view.setUint8(outcome + OUTCOME_VERDICT, verdict);
  view.setUint16(outcome + OUTCOME_REASON, reason, true);
  view.setUint32(outcome + OUTCOME_MISSED, missed[0], true);
  view.setUint32(outcome + OUTCOME_MISSED_FDB, missed[1], true);
  view.setUint16(outcome + OUTCOME_HITS, hits.length, true);
  view.setUint16(outcome + OUTCOME_DESTINATIONS, destinations.length, true);
  view.setUint32(outcome + OUTCOME_KEY, core.keys + KEY.row * KEY_SIZE, true);
  view.setUint16(outcome + OUTCOME_WRITTEN, written, true);
  for (const [n, id] of hits.entries()) view.setUint32(core.hits + 4 * (row * HITS_PER_FRAME + n), id, true);
  let at = core.destinations + row * DEST_SIZE;
  for (const [n, { queue, flags = 0, status = 0, more = 0 }] of destinations.entries()) {
    if (n > 0) {
      view.setUint32(at + DEST_NEXT, next, true);
      at = next;
      next += DEST_SIZE;
    }
    view.setUint32(at + DEST_QUEUE, queue, true);
    view.setUint32(at + DEST_FLAGS, flags, true);
    view.setUint32(at + DEST_STATUS, status, true);
    view.setUint32(at + DEST_LENGTH, LENGTH + more, true);
  }
}

/** Sums outcomes in the rows from `first` on; gives their classes. */
function sum(rows: readonly Fields[], first = 0): number[] {
  for (const [n, fields] of rows.entries()) put(first + n, fields);
  core.exports.keepLengths(first + rows.length);
  core.exports.sumOutcomeClasses(first, first + rows.length);
  return rows.slice(0, classes.summed - first).map((_, n) => classes.of(first + n));
}

function field(outcomeClass: number, offset: number): number {
  return view.getUint32(area + CLASSES_RECORDS + outcomeClass * CLASS_SIZE + offset, true);
}

function setField(outcomeClass: number, offset: number, value: number): void {
  view.setUint32(area + CLASSES_RECORDS + outcomeClass * CLASS_SIZE + offset, value, true);
}

function wordsOf(outcomeClass: number): number[] {
  const first = area + CLASSES_WORDS + 4 * field(outcomeClass, CLASS_FIRST);
  return Array.from({ length: field(outcomeClass, CLASS_WORDS) }, (_, n) => view.getUint32(first + 4 * n, true));
}

function slotAt(hash: number): number {
  return area + CLASSES_SLOTS + 2 * (hash & (CLASS_SLOTS - 1));
}

describe("the words of a class", () => {
  const C = (n: number): number => KEY.value + n;
  it.each<[string, Fields, number[]]>([
    ["verdict and reason", { verdict: 5, reason: 3 }, [0x305, 0, 0, 0]],
    ["the tables of a root miss", { verdict: 5, reason: 1, missed: [0x90, 0x40] }, [0x105, 0, 0, 0x90, 0x40, 0]],
    ["the table of a miss", { verdict: 4, reason: 2, missed: [0x90, 0] }, [0x204, 0, 0, 0x90, 0, 0]],
    ["one rule", { hits: [77] }, [1, 1, 0, 77]],
    ["rules in order", { hits: [9, 8] }, [1, 2, 0, 9, 8, 0]],
    ["registers C0, C1 and C7", { written: 0b1000_0011 }, [1, 0, 0x83, C(0), C(1), C(7)]],
    ["register A", { written: 1 << REGISTER_A }, [1, 0, 0x100, C(REGISTER_A)]],
    ["register B", { written: 1 << REGISTER_B }, [1, 0, 0x200, C(REGISTER_B)]],
    ["all", { written: 0x3ff }, [1, 0, 0x3ff, ...Array.from({ length: 10 }, (_, n) => C(n)), 0]],
    [
      "destinations in order",
      {
        destinations: [
          { queue: 5, flags: 1, status: 2, more: 4 },
          { queue: 6, flags: 8, status: 3, more: -4 },
        ],
      },
      [1, 2 << 16, 0, 5, 1, 2, 4, 6, 8, 3, 2 ** 32 - 4, 0],
    ],
    ["each", { hits: [7], written: 2, destinations: [{ queue: 5 }] }, [1, 0x10001, 2, 7, C(1), 5, 0, 0, 0, 0]],
  ])("%s", (_name, fields, words) => {
    // What was written before does not count.
    view.setUint32(area + CLASSES_WORDS, 0xffffffff, true);
    core.u8.fill(0xee, area + CLASSES_WORDS, area + CLASSES_WORDS + 256);
    expect(sum([fields])).toEqual([0]);
    expect(wordsOf(0)).toEqual(words);
    expect(view.getUint32(area + CLASSES_USED, true)).toBe(words.length);
  });

  it("follow those of the class before", () => {
    expect(sum([{ hits: [1] }, { hits: [1, 2] }, { hits: [1] }, { hits: [3] }])).toEqual([0, 1, 0, 2]);
    expect([wordsOf(0), wordsOf(1), wordsOf(2)]).toEqual([
      [1, 1, 0, 1],
      [1, 2, 0, 1, 2, 0],
      [1, 1, 0, 3],
    ]);
    expect([0, 1, 2].map((n) => field(n, CLASS_FIRST))).toEqual([0, 4, 10]);
    expect([0, 1, 2].map((n) => field(n, CLASS_ROW))).toEqual([0, 1, 3]);
    expect([0, 1, 2].map((n) => field(n, CLASS_BYTES))).toEqual([2 * WIRE_LENGTH, WIRE_LENGTH, WIRE_LENGTH]);
    expect([0, 1, 2].map((n) => classes.frames(n))).toEqual([2, 1, 1]);
  });

  it("alone determine the class, not what is in memory behind them", () => {
    sum([{ hits: [1] }]);
    const hash = field(0, CLASS_HASH);
    classes.clear();
    core.u8.fill(0x55, area + CLASSES_WORDS, area + CLASSES_WORDS + 256);
    expect(sum([{ hits: [1] }, { hits: [1] }])).toEqual([0, 0]);
    expect(field(0, CLASS_HASH)).toBe(hash);
  });
});

describe("classes with one hash", () => {
  /** Sums `known`, gives its class the hash of `other`, and sums that. */
  function collide(known: Fields, other: Fields): number[] {
    sum([other]);
    const hash = field(0, CLASS_HASH);
    classes.clear();
    sum([known]);
    setField(0, CLASS_HASH, hash);
    view.setUint16(slotAt(hash), 1, true);
    return sum([other, other], 1);
  }

  it.each<[string, Fields, Fields]>([
    ["of the same number of words", { hits: [1] }, { hits: [2] }],
    ["of which one has more words", { hits: [1] }, { hits: [1, 2] }],
    ["of which one has fewer words", { hits: [1, 2] }, { hits: [1] }],
    ["that differ in the first word", { verdict: 4 }, { verdict: 5 }],
  ])("%s are two", (_name, known, other) => {
    expect(collide(known, other)).toEqual([1, 1]);
    expect(classes.count).toBe(2);
    expect([classes.frames(0), classes.frames(1)]).toEqual([1, 2]);
    // The second class has the slot behind the first.
    expect(view.getUint16(slotAt(field(1, CLASS_HASH) + 1), true)).toBe(2);
  });

  it("are two although one's words begin as the other's do", () => {
    const [short, long] = [{ hits: [1] }, { hits: [1, 2] }];
    sum([long]);
    const hash = field(0, CLASS_HASH);
    classes.clear();
    sum([short]);
    // As many equal words in front as there may be.
    for (const [n, word] of [1, 2, 0, 1, 2, 0].entries()) view.setUint32(area + CLASSES_WORDS + 4 * n, word, true);
    setField(0, CLASS_HASH, hash);
    view.setUint16(slotAt(hash), 1, true);
    view.setUint32(area + CLASSES_USED, 8, true);
    expect(sum([long], 1)).toEqual([1]);
  });

  it("go on behind the last slot at the first", () => {
    for (let id = 0; ; id++) {
      classes.clear();
      sum([{ hits: [id] }]);
      const hash = field(0, CLASS_HASH);
      if (slotAt(hash) !== slotAt(CLASS_SLOTS - 1)) continue;
      setField(0, CLASS_HASH, hash + 1);
      expect(sum([{ hits: [id] }])).toEqual([1]);
      expect(view.getUint16(slotAt(0), true)).toBe(2);
      break;
    }
  });
});

it("there is no class without room for the longest", () => {
  const most = 6 + HITS_PER_FRAME + 10 + 4 * 128;
  sum([{ hits: [1] }]);
  view.setUint32(area + CLASSES_USED, MAX_CLASS_WORDS - most + 2, true);
  expect(sum([{ hits: [1] }, { hits: [2] }])).toEqual([]);
  expect([classes.summed, classes.count]).toEqual([0, 1]);
  view.setUint32(area + CLASSES_USED, MAX_CLASS_WORDS - most, true);
  expect(sum([{ hits: [2] }, { hits: [3] }])).toEqual([1]);
  expect(view.getUint32(area + CLASSES_COUNT, true)).toBe(2);
});
