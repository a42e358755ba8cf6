/** Repairs held to what they promise: with the repaired frame, or with the repaired rule, the frame hits the rule, in the device and in the reference. */
import { expect } from "vitest";
import { HITS_PER_FRAME } from "../../../src/abi/engine.js";
import { hexOf } from "../../../src/base/hex.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { maskedFields, matchOf } from "../../../src/model/match/match.js";
import { readField } from "../../../src/model/match/fields.js";
import type { Explanation, Repair } from "../../../src/explain/why/explanation.js";
import type { Explainer } from "../../../src/explain/why/why.js";
import type { Outcome } from "../../../src/model/traffic/outcome.js";
import { aside, walkBase, type Base } from "../../oracle/generate/pipeline.js";
import type { Pipeline, PipelineRule } from "../../oracle/walk/pipeline.js";
import type { PipelineWorld } from "../../assembly/support/pipelineWorld.js";

/** Rules that are explained for a frame. */
const OF_FRAME = 6;

/** Explains rules that a frame did not hit, and checks every repair. */
export function repairAll(world: PipelineWorld, explainer: Explainer, base: Base, kinds: Map<string, number>): number {
  const hit = new Set(walkBase(aside(world.world), base).rules);
  const missed = [...world.rulesMade].filter(([id]) => !hit.has(id));
  let repaired = 0;
  for (const [id, { rule }] of world.random.shuffle(missed).slice(0, OF_FRAME)) {
    const explanation = explain(world, explainer, base, rule);
    for (const repair of explanation.repairs) {
      const kind = checkRepair(world, base, id, rule, repair);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      repaired++;
    }
  }
  return repaired;
}

function explain({ queues }: PipelineWorld, explainer: Explainer, base: Base, target: Rule): Explanation {
  const { frame, sender, metadata } = base;
  if (sender !== null) return explainer.whySend(queues.get(sender) as QueuePair, frame.bytes, target, { metadata });
  const { bytes, linkType, wireLength, port } = frame;
  return explainer.why(port, bytes, target, { linkType, wireLength });
}

/** Gives the kind of the repair. */
function checkRepair(world: PipelineWorld, base: Base, id: string, rule: Rule, repair: Repair): string {
  const text = JSON.stringify({ id, base, repair }, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value instanceof Uint8Array ? hexOf(value) : value,
  );
  if (repair.of === "frame") {
    const changed = changedFrame(base, repair);
    expectListed(walkBase(aside(world.world), changed).rules, id, text);
    expectListed(steered(world, changed).rules, rule, text);
    return base.sender === null ? "frame" : "frame sent";
  }
  const changesRank = repair.fields.some(({ field }) => field === "priority");
  const changed = [...world.rulesMade].find(([, { rule }]) => rule.name === repair.rule)?.[0];
  // Flows have ranks of their own in the reference.
  if (changed === undefined) return "flow, not checked";
  expectListed(walkBase(changedWorld(world, changed, repair), base).rules, id, text);
  return changesRank ? "rule: priority" : "rule";
}

/** An outcome lists at most HITS_PER_FRAME rules; a frame with many copies may hit more. */
function expectListed(rules: readonly unknown[], rule: unknown, text: string): void {
  if (rules.length < HITS_PER_FRAME) expect(rules, text).toContain(rule);
}

/** The wire is longer by as much as the frame. */
function changedFrame(base: Base, { frame }: Repair): Base {
  const bytes = Uint8Array.from((frame ?? "").match(/../g) ?? [], (digits) => parseInt(digits, 16));
  const wireLength = base.frame.wireLength + bytes.length - base.frame.bytes.length;
  return { ...base, frame: { ...base.frame, bytes, wireLength } };
}

function steered({ device, queues }: PipelineWorld, { frame, sender, metadata }: Base): Outcome {
  const { bytes, linkType, wireLength, port } = frame;
  if (sender !== null) return device.send(queues.get(sender) as QueuePair, bytes, { metadata });
  return device.receive(port, bytes, { linkType, wireLength });
}

/** The reference with a changed rule. */
function changedWorld(world: PipelineWorld, id: string, repair: Repair): Pipeline {
  const copy = aside(world.world);
  const tables = [...copy.tables].map(([name, table]): [string, typeof table] => {
    const rules = table.rules.map((rule) => (rule.id === id ? changedRule(rule, repair) : rule));
    return [name, { ...table, rules }];
  });
  return { ...copy, tables: new Map(tables) };
}

const PRIORITY_AT = 48n;

function changedRule(rule: PipelineRule, { fields }: Repair): PipelineRule {
  const changed = { ...rule, terms: [...rule.terms], ranges: [...rule.ranges] };
  for (const { field, after } of fields) {
    if (field === "priority") {
      changed.rank = (BigInt(after ?? 0) << PRIORITY_AT) | (rule.rank & ((1n << PRIORITY_AT) - 1n));
      continue;
    }
    changed.terms = changed.terms.filter((term) => term.field !== field);
    changed.ranges = changed.ranges.filter((range) => range.field !== field);
    if (after === null) continue;
    const { mask, value } = matchOf("repair", { [field]: after });
    const [range] = /^(\d+)-(\d+)$/.exec(after) === null ? [] : [after.split("-").map(BigInt)];
    if (range !== undefined) {
      changed.ranges.push({ field, low: range[0] ?? 0n, high: range[1] ?? 0n });
      continue;
    }
    for (const known of maskedFields(mask)) {
      if (known.name !== field) continue;
      changed.terms.push({ field, mask: readField(mask, known), value: readField(value, known) });
    }
  }
  return changed;
}
