// The generator must reach everything, or what is compared on its frames says little.

import { describe, expect, test } from "vitest";
import { FIELD_WIDTHS } from "./fields.js";
import { type GeneratedFrame, Random, randomFrame, randomRuleFor } from "./generate.js";
import { asRule } from "./generateRule.js";
import { ruleMatches } from "./match.js";
import { STATE_FIELDS, parseReference } from "./parse.js";

const SEED = 20261121;
const FRAMES = 4000;

function frames(seed: number, count: number): GeneratedFrame[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => randomFrame(random));
}

describe(`generated frames, seed ${SEED}`, () => {
  const parsed = frames(SEED, FRAMES).map((frame) => parseReference(frame.bytes, frame));

  test("the same seed gives the same frames", () => {
    expect(frames(SEED, 20)).toEqual(frames(SEED, 20));
    expect(frames(SEED + 1, 20)).not.toEqual(frames(SEED, 20));
  });

  test("every field appears, with more than one value and within its width", () => {
    const values = new Map<string, Set<bigint>>();
    for (const { fields } of parsed) {
      for (const [field, value] of fields) {
        expect(BigInt.asUintN(FIELD_WIDTHS.get(field) ?? 0, value), field).toBe(value);
        (values.get(field) ?? values.set(field, new Set()).get(field))?.add(value);
      }
    }
    const poor = [...FIELD_WIDTHS.keys()].filter((field) => (values.get(field)?.size ?? 0) < 2);
    expect(poor).toEqual([]);
  });

  test("every header is read whole, and every kind of stop happens", () => {
    const kinds = new Set(parsed.flatMap(({ headers }) => headers.map(({ kind, level }) => `${level} ${kind}`)));
    const upper = "ipv4 ipv6 hop_by_hop routing destination fragment ah tcp udp icmp icmpv6".split(" ");
    const both = ["ethernet", "vlan", ...upper].flatMap((kind) => [`outer ${kind}`, `inner ${kind}`]);
    const outer = "null loop sll sll2 vxlan".split(" ").map((kind) => `outer ${kind}`);
    expect([...both, ...outer].filter((kind) => !kinds.has(kind))).toEqual([]);

    const stops = new Set(parsed.flatMap(({ stopped }) => (stopped ? `${stopped.header} ${stopped.reason}` : [])));
    const cut = ["ethernet", "vlan", "null", "loop", "sll", "sll2", "ip", ...upper, "vxlan"].map(
      (kind) => `${kind} truncated`,
    );
    const refused = ["ip bad_version", "ipv4 bad_version", "ipv6 bad_version", "ipv4 bad_ihl"];
    expect([...cut, ...refused].filter((stop) => !stops.has(stop))).toEqual([]);
  });

  test("most frames are sane", () => {
    expect(parsed.filter(({ stopped }) => stopped === null).length).toBeGreaterThan(FRAMES / 2);
  });

  test("a longer capture only adds fields", () => {
    for (const frame of frames(SEED + 2, 500)) {
      const whole = parseReference(frame.bytes, frame).fields;
      const shorter = parseReference(frame.bytes.subarray(0, frame.bytes.length - 1), {
        ...frame,
        wireLength: Math.max(frame.wireLength, frame.bytes.length),
      }).fields;
      for (const [field, value] of shorter) {
        if (!STATE_FIELDS.includes(field)) expect(whole.get(field), field).toBe(value);
      }
    }
  });
});

describe(`generated rules, seed ${SEED}`, () => {
  const random = new Random(SEED);

  test("a rule hits exactly when it says so, and every field is asked, hit and missed", () => {
    const asked = new Set<string>();
    const missed = new Set<string>();
    const ranged = new Set<string>();
    const absent = new Set<string>();
    for (const frame of frames(SEED, FRAMES)) {
      const { fields } = parseReference(frame.bytes, frame);
      for (let i = 0; i < 8; i++) {
        const rule = randomRuleFor(fields, random);
        expect(ruleMatches(fields, asRule(rule, "r", 0n, [])), rule.missBy ?? "hit").toBe(rule.near === "hit");
        for (const term of rule.terms) asked.add(term.field);
        for (const range of rule.ranges) ranged.add(range.field);
        if (rule.missBy !== null) (rule.near === "absent" ? absent : missed).add(rule.missBy);
      }
    }
    const all = [...FIELD_WIDTHS.keys()];
    expect(all.filter((field) => !asked.has(field))).toEqual([]);
    expect(all.filter((field) => !missed.has(field))).toEqual([]);
    expect(all.filter((field) => !absent.has(field) && !STATE_FIELDS.includes(field) && field !== "ext.port")).toEqual(
      [],
    );
    const rangeable = all.filter(
      (field) => (FIELD_WIDTHS.get(field) ?? 0) >= 2 && (FIELD_WIDTHS.get(field) ?? 0) <= 32,
    );
    expect(rangeable.filter((field) => !ranged.has(field))).toEqual([]);
  });

  test.each(["hit", "bit", "range", "absent"] as const)("a wish for %s is heard", (near) => {
    for (const frame of frames(SEED + 3, 100)) {
      const { fields } = parseReference(frame.bytes, frame);
      const rule = randomRuleFor(fields, random, { near });
      expect(rule.near).toBe(near);
      expect(ruleMatches(fields, asRule(rule, "r", 0n, []))).toBe(near === "hit");
    }
  });
});
