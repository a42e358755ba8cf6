/** A rule on a real device and a frame that misses it: the context of repairs and mistakes. */
import { EXT_DIRECTION, EXT_PORT, MISC_SOURCE_PORT } from "../../../../src/abi/key.js";
import { EVENT_BYTES, EVENT_HEAD, EVENT_KIND, TraceEvent } from "../../../../src/abi/trace.js";
import { TracedCore } from "../../../../src/engine/tracedCore.js";
import type { RepairContext, RuleInTable } from "../../../../src/explain/repair/context.js";
import { parseBytes } from "../../../../src/explain/repair/facts.js";
import { trialOn } from "../../../../src/explain/repair/trial.js";
import { ruleRef, tableRef } from "../../../../src/explain/trace/names.js";
import type { FieldChange, Trace } from "../../../../src/explain/trace/trace.js";
import type { MatchFields } from "../../../../src/model/match/match.js";
import { Rule } from "../../../../src/model/rule/rule.js";
import { TablePipeline } from "../../../../src/model/table/pipeline.js";
import { wireLengthOf } from "../../../../src/model/traffic/input.js";
import { linkOf } from "../../../../src/model/traffic/links.js";
import type { Matcher } from "../../../../src/model/table/matcher.js";
import { loadScenario, type LoadedScenario } from "../../../../src/scenario/index.js";
import type { Device } from "../../../../src/index.js";

/** A rule of the root table, which drops what it matches. */
export interface CaseRule {
  readonly name: string;
  readonly priority?: number;
  readonly match: MatchFields;
}

/** Options of frames; the time plays no role. */
type Options = RepairContext["options"];

/** A device with rules that come and go, and its traced core. */
export class CaseDevice {
  readonly device: Device;
  readonly #loaded: LoadedScenario;
  readonly #traced: TracedCore;
  #rules: Rule[] = [];

  private constructor(loaded: LoadedScenario, traced: TracedCore) {
    this.#loaded = loaded;
    this.#traced = traced;
    this.device = loaded.device;
  }

  static async open(device: object = {}): Promise<CaseDevice> {
    const loaded = await loadScenario({
      flowsteer: 1,
      device,
      tables: [
        { name: "root", level: 0 },
        { name: "aside", level: 1 },
      ],
      matchers: PRIORITIES.map((priority) => ({ name: String(priority), table: "root", priority })),
      rules: [{ name: "aside", table: "aside", match: {}, actions: ["drop"] }],
    });
    const traced = await TracedCore.create(loaded.device.core, (core) => loaded.device.setUp(core));
    return new CaseDevice(loaded, traced);
  }

  /** Replaces the rules of the device. @throws SteeringError a rule is none */
  set(rules: readonly CaseRule[]): void {
    for (const rule of this.#rules) rule.destroy();
    this.#rules = [];
    const actions = this.#loaded.rules.get("aside")?.actions ?? [];
    for (const { name, match, priority = 0 } of rules) {
      this.#rules.push(Rule.named(this.#loaded.matchers.get(String(priority)) as Matcher, match, actions, name));
    }
  }

  /** The names of the rules that a frame from the wire hits. */
  hits(frame: Uint8Array, options: Options = {}): string[] {
    return this.device.receive(1, frame, options).rules.map(({ name }) => name);
  }

  /** The context of the first rule, which a frame misses, or which an earlier rule took it from. */
  context(frame: Uint8Array, options: Options = {}): RepairContext {
    const { device } = this;
    const traced = this.#traced;
    traced.refresh(0);
    const hits = (bytes: Uint8Array): number[] =>
      rulesHit(device, traced, bytes, changedOptions(frame, bytes, options));
    const found = this.#rules.map((rule) => ruleInTable(device, traced, rule));
    const target = found[0] as RuleInTable;
    const taken = hits(frame);
    return {
      device,
      target: { kind: "rule", name: target.ref.name },
      reached: taken.includes(target.ref.id),
      reasons: [],
      frame,
      options,
      trace: NO_TRACE,
      rule: target,
      beyond: null,
      key: keyFromWire(device, frame, options),
      frameThere: frame,
      lookup: null,
      taker: found.find(({ ref }) => ref.id !== target.ref.id && taken.includes(ref.id)) ?? null,
      trial: trialOn(traced, device.parser, frame, (bytes) => hits(bytes).includes(target.ref.id)),
      holdsState: () => false,
      stopped: false,
      judge: null,
    };
  }
}

const PRIORITIES = [0, 1, 2, 3, 4];

const NO_TRACE = {
  steps: [],
  from: { kind: "wire", port: 1 },
  outcome: { verdict: "miss", reason: null, rules: [], missed: [], to: [], copies: [], registers: {}, tag: null },
} as unknown as Trace;

/** The options of a changed frame: as many bytes are missing behind it as behind the other one. */
export function changedOptions(frame: Uint8Array, changed: Uint8Array, options: Options): Options {
  const { wireLength } = options;
  return wireLength === undefined ? options : { ...options, wireLength: wireLength - frame.length + changed.length };
}

/** The match with the changes of a repair. */
export function changedMatch(match: MatchFields, fields: readonly FieldChange[]): MatchFields {
  const entries = new Map<string, unknown>(Object.entries(match));
  for (const { field, after } of fields) {
    if (after === null) entries.delete(field);
    else if (field !== "priority") entries.set(field, after);
  }
  return Object.fromEntries(entries);
}

/** The bytes of hexadecimal digits. */
export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

/** The key of a frame that came from the wire by port 1. */
function keyFromWire(device: Device, frame: Uint8Array, options: RepairContext["options"]): Uint8Array {
  const { key } = parseBytes(device, frame, options);
  key.set([0, 1], EXT_PORT);
  key.set([0xff, 0xff], MISC_SOURCE_PORT);
  key[EXT_DIRECTION] = 1;
  return key;
}

function ruleInTable(device: Device, traced: TracedCore, object: Rule): RuleInTable {
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
function rulesHit(device: Device, traced: TracedCore, bytes: Uint8Array, options: Options): number[] {
  const { switched, received } = device.function(0).part(TablePipeline);
  traced.refresh(switched);
  traced.batch.clear();
  const link = linkOf("linkType", options.linkType ?? 1);
  traced.batch.put(bytes, wireLengthOf(bytes, options), 1, link);
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
