/**
 * Random rules and frames: engine and reference find the same rule.
 *
 * Each pair is a frame and a rule made for it, which matches it or misses it by the least possible:
 * one bit, the end of a range, a missing header. Each rule is looked up alone. Then all rules of a
 * round are in one table and are looked up from random lower bounds of rank.
 */
import { beforeAll, expect, test } from "vitest";
import { TABLE_ROOT } from "../../../src/abi/engine.js";
import { NEEDS_ALL } from "../../../src/abi/key.js";
import { RULE_ID } from "../../../src/abi/rule.js";
import { Batch } from "../../../src/engine/batch.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { insertRule } from "../../../src/engine/rules.js";
import { SteeringError } from "../../../src/errors.js";
import { linkOf } from "../../../src/model/traffic/links.js";
import { matchOf, type Match } from "../../../src/model/match/match.js";
import { ParserDeclaration, type ParserOptions } from "../../../src/model/base/parser.js";
import { FIELD_WIDTHS } from "../../oracle/wire/fields.js";
import { DECLARED, Random, randomFrame, randomRuleFor } from "../../oracle/generate/frame.js";
import type { RandomRule } from "../../oracle/generate/rule.js";
import { firstMatch, ruleMatches, type ReferenceRule } from "../../oracle/walk/match.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { frameText, hex, rangeText, seedFor, termText, type TestFrame } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

const PAIRS = rounds(100_000);
const FRAMES = 50;
const RULES_PER_FRAME = 8;

let core: Core;
beforeAll(async () => {
  core = await loadOpenCore();
  new ParserDeclaration(DECLARED as ParserOptions).declare(core);
});

interface Pair {
  frame: number;
  rule: RandomRule;
  reference: ReferenceRule<never>;
  match: Match;
}

/**
 * The rule as the engine takes it. A flipped version bit may contradict an address, which the API
 * refuses.
 */
function matchFor({ terms, ranges }: RandomRule): Match | undefined {
  const fields = [
    ...terms.map((term) => [term.field, termText(term)] as const),
    ...ranges.map((range) => [range.field, rangeText(range)] as const),
  ];
  try {
    return matchOf("match", Object.fromEntries(fields));
  } catch (error) {
    if (error instanceof SteeringError && error.reason === "contradiction") return undefined;
    throw error;
  }
}

function insert(table: number, id: number, rank: bigint, { mask, value, ranges }: Match): number {
  const handle = insertRule(core, table, {
    id,
    rankHigh: Number(rank >> 32n),
    rankLow: Number(rank & 0xffffffffn),
    mask,
    value,
    ranges,
    actions: [],
  });
  expect(handle).not.toBe(0);
  return handle;
}

/** The id of the rule that the engine finds for key 0, or -1. */
function found(i: number): number {
  const rule = core.u32[(core.found >> 2) + i] ?? 0;
  return rule === 0 ? -1 : (core.u32[(rule + RULE_ID) >> 2] ?? 0);
}

function text(frame: TestFrame, rule: RandomRule): string {
  const terms = rule.terms.map(({ field, mask, value }) => `${field} ${hex(value)}/${hex(mask)}`);
  const ranges = rule.ranges.map(({ field, low, high }) => `${field} ${low}-${high}`);
  return `${[...terms, ...ranges].join(", ")} (${rule.near} ${rule.missBy ?? ""})\n${frameText(frame)}`;
}

test(`${PAIRS} pairs`, () => {
  const random = new Random(seedFor("agree"));
  const counts = { pairs: 0, hits: 0, bits: 0, refused: 0 };
  const decided = new Map<string, number>([...FIELD_WIDTHS.keys()].map((field) => [field, 0]));
  while (counts.pairs < PAIRS) round(random, counts, decided);
  const percent = (count: number): number => Math.round((1000 * count) / counts.pairs) / 10;
  console.log(`${counts.pairs} pairs: ${percent(counts.hits)} % hit, ${percent(counts.bits)} % miss by one bit`);
  expect(percent(counts.hits)).toBeGreaterThan(30);
  expect(percent(counts.bits)).toBeGreaterThan(30);
  expect(counts.refused / counts.pairs).toBeLessThan(0.05);
  checkReached(() => expect([...decided].filter(([, count]) => count === 0).map(([field]) => field)).toEqual([]));
});

function round(
  random: Random,
  counts: { pairs: number; hits: number; bits: number; refused: number },
  decided: Map<string, number>,
): void {
  const frames: TestFrame[] = Array.from({ length: FRAMES }, () => randomFrame(random));
  const parsed = frames.map(
    (frame) => parseReference(frame.bytes, { ...frame, port: frame.port ?? 1, parser: DECLARED }).fields,
  );
  const pairs: Pair[] = [];
  for (let frame = 0; frame < FRAMES; frame++) {
    for (let n = 0; n < RULES_PER_FRAME; n++) {
      const near = random.pick(["hit", "hit", "hit", "hit", "bit", "bit", "bit", "bit", "range", "absent"] as const);
      const rule = randomRuleFor(parsed[frame] as Map<string, bigint>, random, { near });
      const match = matchFor(rule);
      if (match === undefined) {
        counts.refused++;
        continue;
      }
      const rank = (BigInt(random.below(4)) << 62n) | (BigInt(random.below(1000)) << 30n) | BigInt(pairs.length);
      pairs.push({ frame, rule, match, reference: { ...rule, id: String(pairs.length), rank, actions: [] } });
    }
  }
  const batch = new Batch(core);
  for (const { bytes, wireLength, linkType, port } of frames) {
    expect(batch.put(bytes, wireLength, port ?? 1, linkOf("", linkType))).toBeGreaterThanOrEqual(0);
  }
  alone(batch, frames, parsed, pairs, counts, decided);
  together(batch, frames, parsed, pairs, random);
}

/**
 * One rule per table. The frame is parsed with all groups, and with those that the rule requires.
 */
function alone(
  batch: Batch,
  frames: TestFrame[],
  parsed: Map<string, bigint>[],
  pairs: Pair[],
  counts: { pairs: number; hits: number; bits: number },
  decided: Map<string, number>,
): void {
  const table = core.exports.createTable(TABLE_ROOT) >>> 0;
  for (const { frame, rule, match, reference } of pairs) {
    const handle = insert(table, 7, 1n, match);
    // `steer` parses only what the installed rules require, and lists the hits.
    core.exports.steer(table, batch.count);
    const hits = ruleMatches(parsed[frame] as Map<string, bigint>, reference);
    if ((batch.hits(frame) === 1) !== hits)
      expect.fail(`engine ${batch.hits(frame)}, reference ${hits}: ${text(frames[frame] as TestFrame, rule)}`);
    core.exports.removeRule(handle);
    counts.pairs++;
    if (hits) counts.hits++;
    else if (rule.near === "bit") counts.bits++;
    if (!hits && rule.missBy !== null) decided.set(rule.missBy, (decided.get(rule.missBy) ?? 0) + 1);
  }
  core.exports.destroyTable(table);
}

/** All rules in one table: the first by rank from a random lower bound. */
function together(
  batch: Batch,
  frames: TestFrame[],
  parsed: Map<string, bigint>[],
  pairs: Pair[],
  random: Random,
): void {
  const table = core.exports.createTable(0) >>> 0;
  const handles = pairs.map(({ match, reference }, i) => insert(table, i, reference.rank, match));
  batch.parse(NEEDS_ALL);
  const rules = pairs.map(({ reference }) => reference);
  for (let n = 0; n < 3; n++) {
    const lower = n === 0 ? 0n : random.pick(rules).rank + BigInt(random.below(2));
    core.exports.classify(table, batch.count, Number(lower >> 32n), Number(lower & 0xffffffffn));
    for (const [i, fields] of parsed.entries()) {
      const expected = Number(firstMatch(rules, fields, lower)?.id ?? -1);
      if (found(i) !== expected)
        expect.fail(
          `from rank ${lower}: engine ${found(i)}, reference ${expected}: ${frameText(frames[i] as TestFrame)}`,
        );
    }
  }
  for (const handle of handles) core.exports.removeRule(handle);
  core.exports.destroyTable(table);
}
