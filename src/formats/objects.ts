/** The objects of a scenario, made on a device in the order of the document. */
import { Action } from "../model/action.js";
import { type Context, ProtectionDomain } from "../model/context.js";
import { FlowCounter } from "../model/counter.js";
import { DOMAIN_TYPES, Domain, Table } from "../model/domain.js";
import { Flow } from "../model/flow.js";
import type { HostRule } from "../model/hostRules.js";
import { Matcher } from "../model/matcher.js";
import { Rule } from "../model/rule.js";
import type { InlineAction, Scenario, ScenarioAction, ScenarioFlow, ScenarioRule } from "./document.js";
import { LoadedFlowCounter } from "./flowCounter.js";
import { flowPlace, flowRequest } from "./flowSpecs.js";
import { flowName, hostRuleName } from "./names.js";
import { at, type PlaceOf } from "./place.js";
import { loadQueue, type LoadedQueue } from "./queue.js";
import { below } from "./schema.js";

const CALL = "loadScenario";

/** Makes the objects of a document, list by list. */
export class ScenarioObjects {
  readonly queues = new Map<string, LoadedQueue>();
  readonly counters = new Map<string, FlowCounter>();
  readonly tables = new Map<string, Table>();
  readonly matchers = new Map<string, Matcher>();
  readonly rules = new Map<string, Rule>();
  readonly flowCounters = new Map<string, LoadedFlowCounter>();
  readonly flows = new Map<string, Flow>();
  readonly hostRules = new Map<string, HostRule>();
  /** Shared actions by name; inline ones by what they say, since equal ones can be the same object. */
  readonly #shared = new Map<string, Action>();
  readonly #inline = new Map<string, Action>();
  /** Matchers that rules with a table and a priority imply. */
  readonly #implied = new Map<string, Matcher>();

  constructor(scenario: Scenario, context: Context) {
    const { connect = [], queues = [], counters = [], tables = [], matchers = [], actions = [], rules = [] } = scenario;
    const { flowCounters = [], flows = [], hostRules = [] } = scenario;
    const { device } = context;
    connect.forEach(({ port, to }, i) => {
      at(CALL, below("connect", i), () => device.connect(port, device, to));
    });
    let pd: ProtectionDomain | undefined;
    const lazyPd = (): ProtectionDomain => (pd ??= new ProtectionDomain(CALL, context));
    queues.forEach((queue, i) =>
      this.queues.set(
        queue.name,
        at(CALL, below("queues", i), () => loadQueue(CALL, context, lazyPd, queue)),
      ),
    );
    counters.forEach(({ name }, i) =>
      this.counters.set(
        name,
        at(CALL, below("counters", i), () => new FlowCounter(CALL, context, 1, name)),
      ),
    );
    const domains = new Map<string, Domain>();
    tables.forEach(({ name, domain = "nic_rx", level }, i) => {
      const path = below("tables", i);
      let owner = domains.get(domain);
      owner ??= at(CALL, path, () => Domain.create(CALL, context, DOMAIN_TYPES.indexOf(domain), domain));
      domains.set(domain, owner);
      this.tables.set(
        name,
        at(CALL, path, () => Table.create(CALL, owner, level, name)),
      );
    });
    actions.forEach((action, i) =>
      this.#shared.set(
        action.name,
        at(CALL, below("actions", i), () => this.#make(action)),
      ),
    );
    matchers.forEach(({ name, table, priority = 0, mask }, i) =>
      this.matchers.set(
        name,
        at(CALL, below("matchers", i), () => Matcher.named(CALL, get(this.tables, table), priority, mask, name)),
      ),
    );
    rules.forEach((rule, i) => this.rules.set(rule.name, this.#rule(below("rules", i), rule)));
    flowCounters.forEach((one, i) =>
      this.flowCounters.set(
        one.name,
        at(CALL, below("flowCounters", i), () => new LoadedFlowCounter(CALL, context, one)),
      ),
    );
    flows.forEach((flow, i) => {
      const name = flowName(flow, i);
      this.flows.set(name, this.#flow(below("flows", i), flow, name));
    });
    hostRules.forEach((rule, i) => {
      const name = hostRuleName(rule, i);
      const made = at(CALL, below("hostRules", i), () => device.hostRules.add({ ...rule, name }));
      this.hostRules.set(name, made);
    });
  }

  #flow(path: string, flow: ScenarioFlow, name: string): Flow {
    const { queue } = get(this.queues, flow.queue);
    const request = flowRequest(CALL, path, flow, (one) => get(this.flowCounters, one).counters);
    const place: PlaceOf = (inner) => flowPlace(inner, flow.specs ?? []);
    return at(CALL, path, () => Flow.create(CALL, queue, request, name), place);
  }

  #rule(path: string, rule: ScenarioRule): Rule {
    const actions = (rule.actions ?? []).map((action, i) =>
      at(CALL, below(`${path}.actions`, i), () => this.#action(action)),
    );
    return at(CALL, path, () => Rule.named(CALL, this.#matcher(rule), rule.match ?? {}, actions, rule.name));
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
