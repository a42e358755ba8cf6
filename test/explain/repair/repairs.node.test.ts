/** Random rules and frames: every repair that is offered works on the device, and names of mistakes are true. */
import { describe, expect, it } from "vitest";
import { SteeringError } from "../../../src/index.js";
import { fieldNamed, type Field } from "../../../src/model/match/fields.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import { repairsFor } from "../../../src/explain/repair/repairs.js";
import { Facts, termFacts } from "../../../src/explain/repair/facts.js";
import { mistakeIn, recognized } from "../../../src/explain/repair/mistake.js";
import type { RepairContext } from "../../../src/explain/repair/context.js";
import { DECLARED, randomFrame, randomFrameOf, type GeneratedFrame } from "../../oracle/generate/frame.js";
import { Random } from "../../oracle/generate/random.js";
import { randomRuleFor } from "../../oracle/generate/rule.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { frameText, seedFor, termText } from "../../assembly/support/core.js";
import { rounds } from "../../support/tier.js";
import { randomMatch } from "./support/randomMatch.js";
import { bytesOf, CaseDevice, changedMatch, changedOptions, type CaseRule } from "./support/case.js";

const at = await CaseDevice.open({ ports: 2, parser: DECLARED });

/** Rules for a frame, the target first: alone, or after one that may take the frame. */
function randomRules(frame: GeneratedFrame, random: Random): CaseRule[] {
  const target = { name: "target", match: randomMatch(frame, random), priority: 1 + random.below(2) };
  if (random.chance(0.6)) return [target];
  const match = random.chance(0.5) ? {} : randomMatch(frame, random);
  return [target, { name: "other", match, priority: random.below(3) }];
}

/** The context of random rules; null where the device refuses them, or the frame hits the target. */
function randomCase(frame: GeneratedFrame, rules: readonly CaseRule[]): RepairContext | null {
  try {
    at.set(rules);
  } catch (error) {
    if (error instanceof SteeringError) return null;
    throw error;
  }
  const context = at.context(frame.bytes, { linkType: frame.linkType, wireLength: frame.wireLength });
  return context.reached ? null : context;
}

const KINDS = ["tcp", "udp", "icmp", "vxlan", "geneve", "gre", "gtpu", "esp"] as const;

describe("repairs of random rules and frames", () => {
  it("work on the device", () => {
    const random = new Random(seedFor("repairs"));
    const tried = { frame: 0, rule: 0, device: 0 };
    let cases = 0;
    for (let i = 0; i < rounds(5000); i++) {
      const frame = random.chance(0.5) ? randomFrame(random) : randomFrameOf(random, random.pick(KINDS));
      const rules = randomRules(frame, random);
      const context = randomCase(frame, rules);
      if (context === null) continue;
      cases++;
      for (const repair of repairsFor(context)) {
        tried[repair.of]++;
        const text = `${JSON.stringify({ rules, repair })}\n${frameText(frame)}`;
        const changed = rules.map((rule) => (rule.name === repair.rule ? changedRule(rule, repair.fields) : rule));
        at.set(changed);
        const sent = repair.frame === null ? frame.bytes : bytesOf(repair.frame);
        expect(at.hits(sent, changedOptions(frame.bytes, sent, context.options)), text).toContain("target");
      }
    }
    console.log(`${cases} misses, repairs ${JSON.stringify(tried)}`);
    // Changes that would build another packet are left out.
    expect(tried.frame).toBeGreaterThan(cases / 10);
    expect(tried.rule).toBeGreaterThan(cases / 2);
  });
});

function changedRule(rule: CaseRule, fields: readonly { field: string; after: string | null }[]): CaseRule {
  const priority = fields.find(({ field }) => field === "priority")?.after;
  const match = changedMatch(
    rule.match,
    fields.map((one) => ({ before: null, ...one })),
  );
  return { ...rule, match, ...(typeof priority === "string" ? { priority: Number(priority) } : {}) };
}

/** What must hold of a case for its mistake to have a name; names of one field are judged by that field. */
const TRUE_OF: Readonly<Record<string, (facts: Facts, field: Field) => boolean>> = {
  "swapped-bytes": ({ terms }, { name }) => {
    const term = terms.find((one) => one.name === name);
    if (term === undefined || term.found === null) return false;
    if (term.range !== null) return true;
    const bytes = Math.ceil(term.field.width / 8);
    const digits =
      term.found
        .toString(16)
        .padStart(2 * bytes, "0")
        .match(/../g) ?? [];
    const swapped = BigInt(`0x${[...digits].reverse().join("")}`) & ((1n << BigInt(term.field.width)) - 1n);
    const units = [4, 8].map((size) => BigInt(`0x${reversedUnits(digits, size / 2).join("")}`));
    const isLabel = term.field.width === 20;
    return isLabel || [swapped, ...units].some((value) => (value & term.mask) === term.value);
  },
  fragment: (facts) => facts.found("outer.frag") === 1n || facts.found("inner.frag") === 1n,
  "inner-without-tunnel": (facts) => !facts.there.headers.some(({ level }) => level === "inner"),
  "vlan-tag-missing": (facts, { name }) =>
    !facts.there.headers.some(({ header, level }) => header === "vlan" && name.includes(level)),
  "tunnel-on-other-port": (facts) => {
    const port = facts.found("outer.udp_dport");
    return port !== null;
  },
  "gre-key-absent": (facts) => facts.found("misc.gre_k_present") === 0n,
  "mask-without-value": ({ terms }, { name }) => terms.find((one) => one.name === name)?.value === 0n,
  "tcp-fields-for-udp": ({ there, terms }) =>
    there.headers.some(({ header }) => header === "udp") ||
    terms.some(({ name, value }) => name.endsWith("ip_protocol") && value === 17n),
  "other-port": (_, { name }) => name === "ext.port",
  "checksum-not-right": (_, { name }) => name.endsWith("checksum_ok"),
};

function reversedUnits(digits: readonly string[], size: number): string[] {
  const units: string[] = [];
  for (let i = 0; i < digits.length; i += size) units.push(...digits.slice(i, i + size).reverse());
  return units;
}

describe("mistakes in random rules and frames", () => {
  it("are true where they are named", () => {
    const random = new Random(seedFor("mistakes"));
    const named = new Map<string, number>();
    for (let i = 0; i < rounds(15000); i++) {
      const frame = random.chance(0.5) ? randomFrame(random) : randomFrameOf(random, random.pick(KINDS));
      const rules = randomRules(frame, random);
      const context = randomCase(frame, rules);
      if (context === null) continue;
      const facts = new Facts(context);
      const found = recognized(facts);
      if (found === null) continue;
      named.set(found.name, (named.get(found.name) ?? 0) + 1);
      const field = fieldNamed(/\b(outer|inner|misc\d?|ext)\.\w+/.exec(found.finding.sentence)?.[0] ?? "");
      const text = `${found.name}: ${found.finding.sentence}\n${JSON.stringify(rules)}\n${frameText(frame)}`;
      if (field !== undefined) expect(TRUE_OF[found.name]?.(facts, field) ?? true, text).toBe(true);
    }
    console.log(JSON.stringify([...named]));
    expect(named.size).toBeGreaterThan(10);
  });

  it("have no name where the frame hits the rule", () => {
    const random = new Random(seedFor("no mistake"));
    for (let i = 0; i < rounds(5000); i++) {
      const frame = randomFrame(random);
      const { fields } = parseReference(frame.bytes, { ...frame, port: 1, parser: DECLARED });
      const { terms } = randomRuleFor(fields, random, { near: "hit", maxRanges: 0 });
      const match = Object.fromEntries(terms.map((term) => [term.field, termText(term)])) as MatchFields;
      at.set([{ name: "target", match }]);
      const context = at.context(frame.bytes, { linkType: frame.linkType, wireLength: frame.wireLength });
      if (!context.reached) continue;
      expect(termFacts(context.rule!, context.key).every(({ agrees }) => agrees)).toBe(true);
      expect(mistakeIn(context), frameText(frame)).toBeNull();
    }
  });
});
