/** A scenario on a device: its objects made in the order of the document, its frames run, its expectations checked. */
import { MAX_FRAME } from "../abi/engine.js";
import { SteeringError } from "../errors.js";
import { Action } from "../model/action.js";
import { Context, ProtectionDomain } from "../model/context.js";
import { FlowCounter } from "../model/counter.js";
import { createDevice, type Device, type DeviceOptions } from "../model/device.js";
import { DOMAIN_TYPES, Domain, Table } from "../model/domain.js";
import { hasParser } from "../model/links.js";
import { Matcher } from "../model/matcher.js";
import type { Outcome } from "../model/outcome.js";
import { Rule } from "../model/rule.js";
import type { InlineAction, Scenario, ScenarioAction, ScenarioRule } from "./document.js";
import { Expectations, type Failure } from "./expectations.js";
import { frameBytes } from "./frameBytes.js";
import { loadQueue, noteDeliveries, type LoadedQueue, type ReceiveBuffers } from "./queue.js";
import { parseScenario } from "./scenario.js";
import { below } from "./schema.js";
import { Tally } from "./tally.js";
import type { QueuePair } from "../model/queues.js";

const CALL = "loadScenario";

/** A frame to run. */
export interface FrameInput {
  bytes: Uint8Array;
  /** @default 1 */
  port?: number;
  /** LINKTYPE_ number. @default 1, Ethernet */
  linkType?: number;
  /** @default the length of `bytes` */
  wireLength?: number;
  /** For expectations by name. */
  name?: string;
  /** Its number, for expectations by number. @default one more than the frame before it had, from 1 on */
  number?: number;
}

/**
 * Makes the objects of a scenario on a new device.
 *
 * @param deviceOptions go before those of the document
 * @throws SteeringError what `parseScenario` refuses, and what the model refuses, with the path in the document
 */
export async function loadScenario(
  document: string | object,
  deviceOptions: DeviceOptions = {},
): Promise<LoadedScenario> {
  const scenario = parseScenario(document);
  const device = await at("device", () => createDevice({ ...scenario.device, ...deviceOptions }));
  return new LoadedScenario(scenario, device);
}

/** Why a captured frame cannot be run: its link type has no parser, or it is longer than any frame; null if it can. */
export function cannotRun(linkType: number, length: number): string | null {
  if (!hasParser(linkType)) return `link type ${linkType}`;
  return length > MAX_FRAME ? `longer than ${MAX_FRAME} bytes` : null;
}

/** A scenario on a device. Objects are found by their names in the document. */
export class LoadedScenario {
  readonly scenario: Scenario;
  readonly device: Device;
  readonly context: Context;
  readonly queues: ReadonlyMap<string, LoadedQueue>;
  readonly counters: ReadonlyMap<string, FlowCounter>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly matchers: ReadonlyMap<string, Matcher>;
  readonly rules: ReadonlyMap<string, Rule>;
  /** The frames of the document. */
  readonly frames: readonly FrameInput[];
  /** Sums over all frames that were run. */
  readonly tally = new Tally();
  readonly #expectations: Expectations;
  readonly #disagreements: Failure[] = [];
  readonly #buffers = new Map<QueuePair, ReceiveBuffers>();
  #number = 0;

  constructor(scenario: Scenario, device: Device) {
    this.scenario = scenario;
    this.device = device;
    this.context = new Context(CALL, device, true);
    const objects = new Builder(scenario, this.context);
    this.queues = objects.queues;
    this.counters = objects.counters;
    this.tables = objects.tables;
    this.matchers = objects.matchers;
    this.rules = objects.rules;
    for (const { queue, buffers } of this.queues.values()) if (buffers !== null) this.#buffers.set(queue, buffers);
    this.frames = (scenario.frames ?? []).map((frame, i) => {
      const { name, port, linkType, wireLength } = frame;
      const options = { name, port, linkType, wireLength };
      const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      return { bytes: frameBytes(CALL, below("frames", i), frame), ...given };
    });
    this.#expectations = new Expectations(scenario.expect ?? {});
  }

  /** Runs frames in order, by default those of the document: one outcome for each. Sums and expectations grow with each run. */
  run(frames: readonly FrameInput[] = this.frames): Outcome[] {
    const outcomes: Outcome[] = [];
    for (let first = 0; first < frames.length;) {
      const port = frames[first]?.port ?? 1;
      let end = first + 1;
      while (end < frames.length && (frames[end]?.port ?? 1) === port) end++;
      outcomes.push(...this.#runOn(port, frames.slice(first, end)));
      first = end;
    }
    return outcomes;
  }

  /** Expectations of the document that what was run so far does not meet. */
  failures(): Failure[] {
    return this.#expectations.failures(this.tally, this.counters, this.rules);
  }

  /** Completions that do not agree with the outcomes: a defect of the device, whatever the document says. */
  get disagreements(): readonly Failure[] {
    return this.#disagreements;
  }

  /** Rules as they are asked: by the level of their tables, then by rank. */
  rulesByRank(): Rule[] {
    const tables = [...this.tables.values()].sort((a, b) => a.level - b.level);
    const place = new Map(tables.map((table, i) => [table, i]));
    return [...this.rules.values()].sort((a, b) => {
      const tablesApart = (place.get(a.matcher.table) ?? 0) - (place.get(b.matcher.table) ?? 0);
      return tablesApart || a.classifier.compare(a, b);
    });
  }

  #runOn(port: number, frames: readonly FrameInput[]): Outcome[] {
    const outcomes = this.device.receiveBatch(
      port,
      frames.map(({ bytes }) => bytes),
      frames.map(({ linkType = 1, wireLength, bytes }) => ({ linkType, wireLength: wireLength ?? bytes.length })),
    );
    noteDeliveries(this.#buffers, outcomes);
    for (const buffers of this.#buffers.values()) this.#disagreements.push(...buffers.check());
    for (const [i, outcome] of outcomes.entries()) {
      const { number, name, bytes, wireLength } = frames[i] as FrameInput;
      this.#number = number ?? this.#number + 1;
      this.tally.add(wireLength ?? bytes.length, outcome);
      this.#expectations.see(this.#number, name, outcome);
    }
    return outcomes;
  }
}

/** Makes the objects of a document. */
class Builder {
  readonly queues = new Map<string, LoadedQueue>();
  readonly counters = new Map<string, FlowCounter>();
  readonly tables = new Map<string, Table>();
  readonly matchers = new Map<string, Matcher>();
  readonly rules = new Map<string, Rule>();
  /** Shared actions by name; inline ones by what they say, since equal ones can be the same object. */
  readonly #shared = new Map<string, Action>();
  readonly #inline = new Map<string, Action>();
  /** Matchers that rules with a table and a priority imply. */
  readonly #implied = new Map<string, Matcher>();

  constructor(scenario: Scenario, context: Context) {
    const { queues = [], counters = [], tables = [], matchers = [], actions = [], rules = [] } = scenario;
    let pd: ProtectionDomain | undefined;
    const lazyPd = (): ProtectionDomain => (pd ??= new ProtectionDomain(CALL, context));
    queues.forEach((queue, i) =>
      this.queues.set(
        queue.name,
        at(below("queues", i), () => loadQueue(CALL, context, lazyPd, queue)),
      ),
    );
    counters.forEach(({ name }, i) =>
      this.counters.set(
        name,
        at(below("counters", i), () => new FlowCounter(CALL, context, 1, name)),
      ),
    );
    const domains = new Map<string, Domain>();
    tables.forEach(({ name, domain = "nic_rx", level }, i) => {
      const path = below("tables", i);
      let owner = domains.get(domain);
      owner ??= at(path, () => Domain.create(CALL, context, DOMAIN_TYPES.indexOf(domain), domain));
      domains.set(domain, owner);
      this.tables.set(
        name,
        at(path, () => Table.create(CALL, owner, level, name)),
      );
    });
    actions.forEach((action, i) =>
      this.#shared.set(
        action.name,
        at(below("actions", i), () => this.#make(action)),
      ),
    );
    matchers.forEach(({ name, table, priority = 0, mask }, i) =>
      this.matchers.set(
        name,
        at(below("matchers", i), () => Matcher.named(CALL, get(this.tables, table), priority, mask, name)),
      ),
    );
    rules.forEach((rule, i) => this.rules.set(rule.name, this.#rule(below("rules", i), rule)));
  }

  #rule(path: string, rule: ScenarioRule): Rule {
    const actions = (rule.actions ?? []).map((action, i) =>
      at(below(`${path}.actions`, i), () => this.#action(action)),
    );
    return at(path, () => Rule.named(CALL, this.#matcher(rule), rule.match ?? {}, actions, rule.name));
  }

  #matcher({ matcher, table = "", priority = 0 }: ScenarioRule): Matcher {
    if (matcher !== undefined) return get(this.matchers, matcher);
    const name = `${table} at priority ${priority}`;
    let implied = this.#implied.get(name);
    if (implied === undefined) {
      implied = Matcher.named(CALL, get(this.tables, table), priority, undefined, name);
      this.#implied.set(name, implied);
    }
    return implied;
  }

  #action(action: InlineAction): Action {
    if (typeof action === "object" && "action" in action) return get(this.#shared, action.action);
    const key = JSON.stringify(action);
    let made = this.#inline.get(key);
    if (made === undefined) this.#inline.set(key, (made = this.#make(action)));
    return made;
  }

  #make(action: Exclude<InlineAction, { action: string }> | ScenarioAction): Action {
    const one: Partial<ScenarioAction> = typeof action === "string" ? { [action]: true } : action;
    if (one.drop !== undefined) return Action.drop();
    if (one.default_miss !== undefined) return Action.defaultMiss();
    if (one.tag !== undefined) return Action.tag(CALL, one.tag);
    if (one.count !== undefined) return Action.count(CALL, get(this.counters, one.count), 0);
    if (one.queue !== undefined) return Action.toQueue(CALL, get(this.queues, one.queue).queue);
    return Action.toTable(CALL, get(this.tables, one.table ?? ""));
  }
}

/** What `parseScenario` has found to be there. */
function get<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`${CALL}: ${name} is not in the document that was checked`);
  return value;
}

/** Arguments of the model whose place in a document has another name, or is the whole object. */
const PLACES: Readonly<Record<string, string>> = {
  device: "",
  type: ".domain",
  ibqp: ".queue",
  num_actions: ".actions",
};

/** Puts the path in the document before that of a refusal. */
function at<T>(path: string, make: () => T): T {
  const place = (error: unknown): never => {
    if (!(error instanceof SteeringError)) throw error;
    const { code, reason, value, hint, cite } = error;
    const inner = error.path ?? "";
    throw new SteeringError({
      code,
      call: CALL,
      reason,
      path: path + (PLACES[inner] ?? `.${inner}`),
      value,
      hint,
      cite,
    });
  };
  try {
    const made = make();
    return made instanceof Promise ? (made.catch(place) as T) : made;
  } catch (error) {
    return place(error);
  }
}
