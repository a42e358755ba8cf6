/** Random rules and frames: what a repair says of other frames is true of a device that has the changed rule. */
import { expect, test } from "vitest";
import { openExplainer, type Repair } from "../../../src/explain/index.js";
import { SteeringError } from "../../../src/index.js";
import { fieldNamed, isPresent, readField } from "../../../src/model/match/fields.js";
import { matchOf } from "../../../src/model/match/match.js";
import { parseBytes } from "../../../src/explain/repair/facts.js";
import { DECLARED, randomFrame, randomFrameOf, type GeneratedFrame } from "../../oracle/generate/frame.js";
import { Random } from "../../oracle/generate/random.js";
import { frameText, seedFor } from "../../assembly/support/core.js";
import { randomMatch } from "../../explain/repair/support/randomMatch.js";
import { bytesOf, CaseDevice, changedMatch, type CaseRule } from "../../explain/repair/support/case.js";
import { checkReached, rounds } from "../../support/tier.js";

const at = await CaseDevice.open({ ports: 1, parser: DECLARED });
const explainer = await openExplainer(at.device);

const KINDS = ["tcp", "udp", "icmp", "vxlan", "gre"] as const;
/** Frames that each repair is judged by. */
const OTHERS = 40;

function drawFrame(random: Random): GeneratedFrame {
  let frame: GeneratedFrame;
  do frame = random.chance(0.2) ? randomFrame(random) : randomFrameOf(random, random.pick(KINDS));
  while (frame.linkType !== 1 || frame.wireLength !== frame.bytes.length);
  return frame;
}

/** The target first; one of the others may take its frames. */
function drawRules(frame: GeneratedFrame, others: readonly GeneratedFrame[], random: Random): CaseRule[] {
  const target = { name: "target", match: randomMatch(frame, random), priority: 1 + random.below(3) };
  const more = Array.from({ length: random.below(4) }, (_, n) => {
    const match = random.chance(0.3) ? {} : randomMatch(random.chance(0.5) ? frame : random.pick(others), random);
    return { name: `other ${n}`, match, priority: random.below(4) };
  });
  return [target, ...more];
}

/** The frame with some of its bits changed. */
function near({ bytes }: GeneratedFrame, random: Random): Uint8Array {
  const changed = bytes.slice();
  for (let n = 1 + random.below(3); n > 0; n--) {
    const byte = random.below(Math.min(bytes.length, 90));
    changed[byte] = (changed[byte] as number) ^ (1 << random.below(8));
  }
  return changed;
}

function withRepair(rules: readonly CaseRule[], { rule, fields }: Repair): CaseRule[] {
  return rules.map((one) => {
    if (one.name !== rule) return one;
    const priority = fields.find(({ field }) => field === "priority")?.after ?? null;
    return {
      ...one,
      match: changedMatch(one.match, fields),
      ...(priority === null ? {} : { priority: Number(priority) }),
    };
  });
}

/** Whether a frame has in the changed fields what the explained frame has, as far as the match asks for them. */
function isLike(bytes: Uint8Array, frame: Uint8Array, { fields }: Repair): boolean {
  const [a, b] = [bytes, frame].map((one) => parseBytes(at.device, one, {}).key) as [Uint8Array, Uint8Array];
  return fields.every(({ field: name, before, after }) => {
    const field = fieldNamed(name);
    if (field === undefined) return true;
    if (isPresent(a, field) !== isPresent(b, field)) return false;
    const isRange = [before, after].some(
      (text) => text !== null && matchOf("match", { [name]: text }).ranges.length > 0,
    );
    const full = (1n << BigInt(field.width)) - 1n;
    const masks = [before, after].map((text) =>
      text === null ? 0n : readField(matchOf("match", { [name]: text }).mask, field),
    );
    const mask = isRange ? full : (masks[0] as bigint) | (masks[1] as bigint);
    return (readField(a, field) & mask) === (readField(b, field) & mask);
  });
}

const hitsOf = (frames: readonly Uint8Array[]): string[] => frames.map((frame) => at.hits(frame).join());

test("standings of repairs are true of other frames", () => {
  const random = new Random(seedFor("standings"));
  const standings = new Map<string, number>();
  for (let n = 0; n < rounds(1500); n++) {
    const frame = drawFrame(random);
    const others = Array.from({ length: OTHERS / 2 }, () => drawFrame(random));
    const rules = drawRules(frame, others, random);
    try {
      at.set(rules);
    } catch (error) {
      if (error instanceof SteeringError) continue;
      throw error;
    }
    const { repairs } = explainer.why(1, frame.bytes, { kind: "rule", name: "target" });
    const text = (repair: Repair): string => `${JSON.stringify({ rules, repair })}\n${frameText(frame)}`;
    const frames = [
      ...others.map(({ bytes }) => bytes),
      ...Array.from({ length: OTHERS / 2 }, () => near(frame, random)),
      ...repairs.flatMap((one) => (one.frame === null ? [] : bytesOf(one.frame))),
    ];
    const before = hitsOf(frames);
    const witnessBefore = repairs.map(({ witness }) =>
      witness === null ? "" : at.hits(bytesOf(witness.bytes)).join(),
    );
    for (const [i, repair] of repairs.entries()) {
      const { standing, witness, fields } = repair;
      if (repair.of !== "rule") {
        expect(standing, text(repair)).toBeNull();
        continue;
      }
      standings.set(String(standing), (standings.get(String(standing)) ?? 0) + 1);
      at.set(withRepair(rules, repair));
      expect(at.hits(frame.bytes), text(repair)).toContain("target");
      const after = hitsOf(frames);
      if (witness !== null) expect(at.hits(bytesOf(witness.bytes)).join(), text(repair)).not.toBe(witnessBefore[i]);
      if (standing === "widens") expect(witness, text(repair)).not.toBeNull();
      frames.forEach((other, k) => {
        if ((standing !== "safe" && standing !== "corrects") || before[k] === after[k]) return;
        const isBoth = fields.every(({ field }) => field === "priority");
        const moved = `${text(repair)}\n${before[k]} -> ${after[k]}: ${Buffer.from(other).toString("hex")}`;
        if (standing === "corrects") expect([before[k], after[k]], moved).toContain(repair.rule);
        else if (isBoth) expect([before[k], after[k]].sort().join(), moved).toMatch(/^other \d,target$/);
        else expect(isLike(other, frame.bytes, repair), moved).toBe(true);
      });
      at.set(rules);
    }
    const order = repairs
      .flatMap(({ standing }) => standing ?? [])
      .map((one) => ORDER.findIndex((ones) => ones.includes(one)));
    expect(order, JSON.stringify(repairs)).toEqual(order.toSorted((a, b) => a - b));
  }
  console.log(JSON.stringify([...standings]));
  checkReached(() =>
    expect([...standings.keys()].sort()).toEqual(expect.arrayContaining(["disables", "safe", "widens"])),
  );
});

const ORDER = [["safe", "corrects"], ["widens"], ["undecided"], ["disables"]];
