// Checks that the generator of flows reaches every spec, field and kind; otherwise the comparisons
// on its flows prove little.

import { describe, expect, test } from "vitest";
import { DECLARED, Random, randomFrame } from "./frame.js";
import { FILTERS, INNER, SPEC, specsAreValid, specsMatch } from "../flow/spec.js";
import { FLAG, TYPE } from "../flow/flows.js";
import { type RandomFlow, randomFlowFor } from "./flow.js";
import { type Fields } from "../walk/match.js";
import { parseReference } from "../wire/parse.js";

const SEED = 20261121;
const FRAMES = 6_000;

const parsed = (random: Random): Fields => {
  const frame = randomFrame(random);
  return parseReference(frame.bytes, { ...frame, parser: DECLARED }).fields;
};

describe(`generated flows, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const pairs: { fields: Fields; flow: RandomFlow }[] = [];
  for (let i = 0; i < FRAMES; i++) {
    const fields = parsed(random);
    for (let n = 0; n < 6; n++)
      pairs.push({ fields, flow: randomFlowFor(fields, random, { ports: 2, counters: ["c"] }) });
  }

  test("a flow hits or misses as it says, or is none", () => {
    let contradictions = 0;
    for (const { fields, flow } of pairs) {
      const valid = specsAreValid(flow.specs);
      if (flow.near === "wrong") expect(valid).toBe(false);
      else if (!valid) contradictions++;
      else expect(specsMatch(fields, flow.specs), JSON.stringify(flow, text)).toBe(flow.near === "hit");
    }
    // A flipped bit of a protocol field beside the header that it names.
    expect(contradictions / pairs.length).toBeLessThan(0.05);
  });

  test("every field of every spec decides, at each level that it has", () => {
    const decided = new Set(pairs.map(({ flow }) => flow.missBy));
    const inner = [...FILTERS.keys()].filter((type) => type !== SPEC.GRE && type !== SPEC.VXLAN_TUNNEL);
    const all = [...FILTERS.keys(), ...inner.map((type) => type | INNER)].flatMap((type) =>
      Object.keys(FILTERS.get(type & ~INNER) ?? {}).map((name) => `${type.toString(16)} ${name}`),
    );
    expect(all.filter((field) => !decided.has(field))).toEqual([]);
  });

  test("labels are matched in every entry that a flow can match", () => {
    const behind = new Set(
      pairs.flatMap(({ flow: { specs } }) =>
        specs.flatMap(({ type }, i) => ((type & ~INNER) === SPEC.MPLS ? [`${type} ${specs[i - 1]?.type ?? 0}`] : [])),
      ),
    );
    const wanted = [SPEC.UDP, SPEC.GRE, 0].map((before) => `${SPEC.MPLS} ${before}`);
    wanted.push(`${SPEC.MPLS | INNER} ${SPEC.UDP | INNER}`, `${SPEC.MPLS | INNER} 0`);
    expect(wanted.filter((one) => !behind.has(one))).toEqual([]);
  });

  test("every type, flag and action, and masks of one bit, of some and of all", () => {
    const flows = pairs.map(({ flow }) => flow);
    for (const type of Object.values(TYPE)) expect(flows.some((flow) => flow.type === type)).toBe(true);
    for (const flag of Object.values(FLAG)) expect(flows.some(({ flags }) => (flags & flag) !== 0)).toBe(true);
    for (const action of [SPEC.ACTION_TAG, SPEC.ACTION_DROP, SPEC.ACTION_COUNT])
      expect(flows.some(({ specs }) => specs.some(({ type }) => type === action))).toBe(true);
    const masks = flows.flatMap(({ specs }) => specs.map(({ mask }) => mask?.["dst_port"] ?? 0n));
    expect(new Set(masks).size).toBeGreaterThan(500);
    let asked = 0n;
    for (const mask of masks) if ((mask & (mask - 1n)) === 0n) asked |= mask;
    expect(asked).toBe(0xffffn);
  });

  test.each(["hit", "bit", "wrong"] as const)("a wish for %s is heard", (near) => {
    for (let i = 0; i < 200; i++) {
      const flow = randomFlowFor(parsed(random), random, { near });
      if (flow.near !== near) expect([flow.near, flow.missBy]).toEqual(["hit", null]);
    }
  });
});

function text(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString(16) : value;
}
