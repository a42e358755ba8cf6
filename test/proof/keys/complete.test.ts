/** Where the clauses have a solution, `frameOf` makes a frame whose real key agrees in every bit that was asked. */
import { expect, test } from "vitest";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { FIELDS, fieldAtBit } from "../../../src/model/match/fields.js";
import { matchOf, type Match, type MatchFields } from "../../../src/model/match/match.js";
import { ParserDeclaration, type ParserOptions } from "../../../src/model/base/parser.js";
import { frameOf } from "../../../src/proof/keys/frameOf.js";
import { ParsedKey } from "../../../src/proof/keys/parsedKey.js";
import { Solver } from "../../../src/proof/solver/solver.js";
import { fieldsOf, parseAll, seedFor, termText } from "../../assembly/support/core.js";
import { DECLARED, KINDS, Random, randomFrameOf, randomRuleFor } from "../../oracle/generate/frame.js";
import { rounds } from "../../support/tier.js";
import { coreFor } from "./support.js";

const ROUNDS = rounds(6_000);
/** Without samples, which can lie across headers. */
const OPTIONS: ParserOptions = { ...(DECLARED as ParserOptions), samples: [] };

/** Fields that people write, and others now and then. */
const USUAL = FIELDS.filter(({ name }) =>
  /^(outer|inner)\.|vxlan_vni|gre_|geneve_vni|gtpu_|second_vid|icmp/.test(name),
).map(({ name }) => name);
const ALL = FIELDS.filter(({ filled, ofWay, name }) => filled && !ofWay && name !== "ext.port").map(({ name }) => name);
const VALUES = [0, 1, 4, 5, 6, 17, 41, 47, 50, 58, 132, 255, 53, 2152, 4500, 4789, 4790, 4791, 6081, 6635, 0x0800, 0x86dd, 0x6558, 0x8847, 0x88a8]; // prettier-ignore

function randomFields(random: Random): MatchFields {
  const fields: Record<string, string> = {};
  for (let left = random.between(1, 5); left > 0; left--) {
    const name = random.pick(random.chance(0.7) ? USUAL : ALL);
    const { width } = FIELDS.find((field) => field.name === name)!;
    const all = (1n << BigInt(width)) - 1n;
    const value = random.chance(0.5) ? random.bits(width) : BigInt(random.pick(VALUES)) & all;
    const mask = random.chance(0.6) ? all : random.bits(width) || all;
    fields[name] = termText({ field: name, mask, value: value & mask }) as string;
  }
  return fields;
}

function literals(key: ParsedKey, { mask, value }: Match): number[] {
  const list: number[] = [];
  for (let bit = 0; bit < KEY_SIZE * 8; bit++) {
    const at = 0x80 >> (bit & 7);
    if (((mask[bit >> 3] ?? 0) & at) === 0) continue;
    const literal = key.bit(bit);
    list.push(((value[bit >> 3] ?? 0) & at) !== 0 ? literal : -literal);
  }
  return list;
}

test("frames of random questions", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("keys, complete"));
  const core = await coreFor(OPTIONS);
  const parser = new ParserDeclaration(OPTIONS);
  const solver = new Solver();
  const wrong = new Map<string, number>();
  const examples: string[] = [];
  let [solved, none] = [0, 0];
  const textOf = (): MatchFields | undefined => {
    if (random.chance(0.5)) return randomFields(random);
    const frame = randomFrameOf(random, random.pick(KINDS));
    let fields = new Map<string, bigint>();
    parseAll(core, [frame], (_, key) => (fields = fieldsOf(key)));
    if (fields.size < 2) return undefined;
    const { terms } = randomRuleFor(fields, random, { near: random.pick(["hit", "bit", "absent"]), maxRanges: 0 });
    return Object.fromEntries(terms.map((term) => [term.field, termText(term)]));
  };
  const matchFrom = (): [MatchFields, Match] | undefined => {
    const text = textOf();
    try {
      return text && [text, matchOf("match", text)];
    } catch {
      return undefined;
    }
  };
  for (let round = 0; round < ROUNDS; round++) {
    const asked = matchFrom();
    if (asked === undefined) continue;
    solver.reset();
    const key = new ParsedKey(solver, { parser });
    const wanted = literals(key, asked[1]);
    const others: MatchFields[] = [];
    for (let left = random.chance(0.5) ? random.between(1, 3) : 0; left > 0; left--) {
      const other = matchFrom();
      if (other === undefined) continue;
      solver.addClause(literals(key, other[1]).map((literal) => -literal));
      others.push(other[0]);
    }
    if (solver.solve(wanted) !== true) {
      none++;
      continue;
    }
    solved++;
    const frame = frameOf(solver, key);
    const note = (what: string): void => {
      wrong.set(what, (wrong.get(what) ?? 0) + 1);
      if (examples.length < 12 && wrong.get(what) === 1) examples.push(`${what}\n  ${JSON.stringify(asked[0])} not ${JSON.stringify(others)}\n  ${frame === null ? "null" : Array.from(frame, (byte) => byte.toString(16).padStart(2, "0")).join("")}`); // prettier-ignore
    };
    if (frame === null) {
      note("no frame");
      continue;
    }
    parseAll(core, [{ bytes: frame, wireLength: frame.length, linkType: 1 }], (_, real) => {
      for (const bit of key.asked) {
        if (bit >= KEY_SIZE * 8 || /ext.(port|direction)|source|reg_/.test(fieldAtBit(bit))) continue;
        const is = ((real[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0;
        if (is === solver.value(key.literalAt(bit))) continue;
        note(`${fieldAtBit(bit)} (bit ${bit}) is ${Number(is)}`);
        return;
      }
    });
  }
  const failures = [...wrong.values()].reduce((sum, one) => sum + one, 0);
  const text = `${solved} solved, ${none} not, ${failures} wrong\n${[...wrong].map(([what, count]) => `${count} ${what}`).join("\n")}\n${examples.join("\n")}`;
  expect(failures, text).toBeLessThanOrEqual(Math.max(5, solved * 0.005));
});
