/** Repairs held to what they promise: with the repaired frame, or with the repaired rule, the frame hits the rule, in the device and in the reference. */
import { expect } from "vitest";
import { HITS_PER_FRAME } from "../../../src/abi/engine.js";
import { hexOf } from "../../../src/base/hex.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { maskedFields, matchOf } from "../../../src/model/match/match.js";
import { fieldNamed, readField, type Field } from "../../../src/model/match/fields.js";
import type { FieldChange } from "../../../src/explain/trace/trace.js";
import type { Explanation, Repair } from "../../../src/explain/why/explanation.js";
import type { Explainer } from "../../../src/explain/why/why.js";
import type { Outcome } from "../../../src/model/traffic/outcome.js";
import { aside, walkBase, type Base } from "../../oracle/generate/pipeline.js";
import type { Pipeline, PipelineRule } from "../../oracle/walk/pipeline.js";
import type { Fields } from "../../oracle/walk/match.js";
import type { PipelineWorld } from "../../assembly/support/pipelineWorld.js";

/** Rules that are explained for a frame. */
const OF_FRAME = 6;

/** Explains rules that a frame did not hit, and checks every repair. */
export function repairAll(
  world: PipelineWorld,
  explainer: Explainer,
  base: Base,
  others: readonly Base[],
  kinds: Map<string, number>,
): number {
  const hit = new Set(walkBase(aside(world.world), base).rules);
  const missed = [...world.rulesMade].filter(([id]) => !hit.has(id));
  let repaired = 0;
  for (const [id, { rule }] of world.random.shuffle(missed).slice(0, OF_FRAME)) {
    const explanation = explain(world, explainer, base, rule);
    for (const repair of explanation.repairs) {
      const kind = checkRepair(world, base, others, id, rule, repair);
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
function checkRepair(
  world: PipelineWorld,
  base: Base,
  others: readonly Base[],
  id: string,
  rule: Rule,
  repair: Repair,
): string {
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
  checkStanding(world, base, others, changed, repair, text);
  return `rule: ${changesRank ? "priority" : repair.standing}`;
}

/** Another frame moves only as the standing of the repair says. */
function checkStanding(
  world: PipelineWorld,
  base: Base,
  others: readonly Base[],
  id: string,
  repair: Repair,
  text: string,
): void {
  const after = changedWorld(world, id, repair);
  const witness = witnessBase(repair);
  if (witness !== null)
    expect(visitsOf(world.world, witness).map(hitOf), text).not.toEqual(visitsOf(after, witness).map(hitOf));
  if (repair.standing !== "safe" && repair.standing !== "corrects") return;
  const own = visitsOf(after, base).filter(({ hit }) => hit?.id === id);
  for (const other of others) {
    const [was, is] = [visitsOf(world.world, other), visitsOf(after, other)];
    const parting = was.findIndex((visit, n) => hitOf(visit) !== (is[n] === undefined ? "" : hitOf(is[n])));
    if (parting < 0) continue;
    const moved = `${text}\n${hexOf(other.frame.bytes)} ${hitOf(was[parting] as Visit)}`;
    const hits = [was[parting], is[parting]].map((visit) => visit?.hit?.id);
    expect(hits, moved).toContain(id);
    const matched = repair.fields.filter(({ field }) => field !== "priority");
    // A correction moves the frames of the mistaken value too.
    if (matched.length === 0 || repair.standing === "corrects") continue;
    const { fields } = was[parting] as Visit;
    const isLike = own.some((visit) => matched.every((change) => isAlike(change, visit.fields, fields)));
    expect(isLike, moved).toBe(true);
  }
}

interface Visit {
  readonly fields: Fields;
  readonly hit: PipelineRule | null;
}

function visitsOf(world: Pipeline, base: Base): Visit[] {
  const visits: Visit[] = [];
  walkBase(aside(world), base, (_, fields, hit) => visits.push({ fields: new Map(fields), hit }));
  return visits;
}

function hitOf({ hit }: Visit): string {
  return hit?.id ?? "none";
}

/** A witness that comes from the wire, alone. */
function witnessBase({ witness }: Repair): Base | null {
  if (witness === null || witness.from.kind !== "wire" || witness.before.length > 0) return null;
  const bytes = bytesOf(witness.bytes);
  const frame = { bytes, linkType: 1, wireLength: bytes.length, port: witness.from.port };
  return { frame, sender: null, metadata: 0 };
}

/** Whether two frames have the same in a field, as far as it is matched before or after a change. */
function isAlike({ field, before, after }: FieldChange, a: Fields, b: Fields): boolean {
  const [x, y] = [a.get(field), b.get(field)];
  if (x === undefined || y === undefined) return x === y;
  const matches = [before, after].flatMap((text) => (text === null ? [] : matchOf("repair", { [field]: text })));
  if (matches.some(({ ranges }) => ranges.length > 0)) return x === y;
  const known = fieldNamed(field) as Field;
  return matches.every(({ mask }) => ((x ^ y) & readField(mask, known)) === 0n);
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

/** An outcome lists at most HITS_PER_FRAME rules; a frame with many copies may hit more. */
function expectListed(rules: readonly unknown[], rule: unknown, text: string): void {
  if (rules.length < HITS_PER_FRAME) expect(rules, text).toContain(rule);
}

/** The wire is longer by as much as the frame. */
function changedFrame(base: Base, { frame }: Repair): Base {
  const bytes = bytesOf(frame ?? "");
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
