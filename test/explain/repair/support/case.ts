/** A rule on a real device and a frame that misses it: the context of repairs and mistakes. */
import { Link } from "../../../../src/abi/headers.js";
import { EXT_DIRECTION, EXT_PORT, MISC_SOURCE_PORT } from "../../../../src/abi/key.js";
import { EVENT_BYTES, EVENT_HEAD, EVENT_KIND, TraceEvent } from "../../../../src/abi/trace.js";
import { TracedCore } from "../../../../src/engine/tracedCore.js";
import type { RepairContext, RuleInTable } from "../../../../src/explain/repair/context.js";
import { parseBytes } from "../../../../src/explain/repair/facts.js";
import { trialOn } from "../../../../src/explain/repair/trial.js";
import { ruleRef, tableRef } from "../../../../src/explain/trace/names.js";
import type { Trace } from "../../../../src/explain/trace/trace.js";
import type { MatchFields } from "../../../../src/model/match/match.js";
import { Rule } from "../../../../src/model/rule/rule.js";
import { TablePipeline } from "../../../../src/model/table/pipeline.js";
import { loadScenario, type LoadedScenario } from "../../../../src/scenario/index.js";
import type { Device } from "../../../../src/index.js";

/** A rule of the root table, which drops what it matches. */
export interface CaseRule {
  readonly name: string;
  readonly priority?: number;
  readonly match: MatchFields;
}

export interface Case {
  readonly device: Device;
  readonly context: RepairContext;
}

/** Puts rules on a device. */
export async function load(rules: readonly CaseRule[], device: object = {}): Promise<LoadedScenario> {
  return loadScenario({
    flowsteer: 1,
    device,
    tables: [{ name: "root", level: 0 }],
    rules: rules.map((rule) => ({ ...rule, table: "root", actions: ["drop"] })),
  });
}

/** The context of the first rule, which a frame from the wire misses, or which an earlier rule took it from. */
export async function caseOf(
  rules: readonly CaseRule[],
  frame: Uint8Array,
  settings: object = {},
  options: RepairContext["options"] = {},
): Promise<Case> {
  const { device } = await load(rules, settings);
  const traced = await TracedCore.create(device.core, (core) => device.setUp(core));
  traced.refresh(0);
  const hits = (bytes: Uint8Array): number[] => rulesHit(device, traced, bytes, missingBytes(frame, options));
  const found = rules.map(({ name }) => ruleInTable(device, traced, name));
  const target = found[0] as RuleInTable;
  const taken = hits(frame);
  const outcome = {
    reason: null,
    rules: [],
    missed: [],
    to: [],
    copies: [],
    registers: {},
    tag: null,
    verdict: "miss",
  };
  const trace = { steps: [], from: { kind: "wire", port: 1 }, outcome } as unknown as Trace;
  return {
    device,
    context: {
      device,
      target: { kind: "rule", name: target.ref.name },
      reached: taken.includes(target.ref.id),
      reasons: [],
      frame,
      options,
      trace,
      rule: target,
      key: keyFromWire(device, frame, options),
      frameThere: frame,
      taker: found.find(({ ref }) => ref.id !== target.ref.id && taken.includes(ref.id)) ?? null,
      trial: trialOn(traced, frame, (bytes) => hits(bytes).includes(target.ref.id)),
    },
  };
}

function missingBytes(frame: Uint8Array, { wireLength = frame.length }: RepairContext["options"]): number {
  return wireLength - frame.length;
}

/** The key of a frame that came from the wire by port 1. */
function keyFromWire(device: Device, frame: Uint8Array, options: RepairContext["options"]): Uint8Array {
  const { key } = parseBytes(device, frame, options);
  key.set([0, 1], EXT_PORT);
  key.set([0xff, 0xff], MISC_SOURCE_PORT);
  key[EXT_DIRECTION] = 1;
  return key;
}

function ruleInTable(device: Device, traced: TracedCore, name: string): RuleInTable {
  const object = [...device.installed].find((one) => one instanceof Rule && one.name === name) as Rule;
  const table = object.classifier.table;
  const stored = traced.storedRule(object.handle);
  return {
    ref: ruleRef(object),
    table: tableRef(device, table, 0),
    object,
    inCore: { table, stored },
    ...traced.contentOf(stored),
  };
}

/** The numbers of the rules that a frame from the wire hits on the copy. */
function rulesHit(device: Device, traced: TracedCore, bytes: Uint8Array, missing: number): number[] {
  const { switched, received } = device.function(0).part(TablePipeline);
  traced.refresh(switched);
  traced.batch.clear();
  traced.batch.put(bytes, bytes.length + missing, 1, Link.ethernet);
  const events = traced.steer(switched || received);
  const view = new DataView(events.buffer, events.byteOffset, events.length);
  const hit: number[] = [];
  for (let at = 0; at < events.length; at += view.getUint32(at + EVENT_BYTES, true)) {
    const kind = view.getUint16(at + EVENT_KIND, true);
    const rule = kind === (TraceEvent.lookup as number) ? view.getUint32(at + EVENT_HEAD + 4, true) : 0;
    if (rule !== 0) hit.push(traced.storedRule(rule).id);
  }
  traced.undo();
  return hit;
}
