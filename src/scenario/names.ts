/** Checks the names of a document: unique in their list, and defined where they are used. */
import { SteeringError, type RefusalReason } from "../errors.js";
import { checkFrameLength } from "../model/base/port/ports.js";
import { namesHint } from "../base/nearest.js";
import type { ScenarioRuleAction, ScenarioAction } from "./action/definition.js";
import type { ScenarioArrayMemberObject, ScenarioSampleActionObject } from "./action/destinations.js";
import { checkDeviceFlows } from "./deviceFlow/names.js";
import { asoKey } from "./state/asoObjects.js";
import type { ASO_KEYS, ScenarioAsoObject, ScenarioStep } from "./state/definition.js";
import type { ExpectedOutcome } from "./expect/definition.js";
import type { ScenarioQueueState, ScenarioQueue } from "./queue/definition.js";
import type { Scenario } from "./document.js";
import type { ScenarioFlow, ScenarioHostRule } from "./flow/definition.js";
import type { ScenarioFrame } from "./frame/definition.js";
import { domainName } from "./device/domains.js";
import { frameBytes } from "./frame/bytes.js";
import { checkMessages } from "./message/names.js";
import { attempt, type Report } from "./report.js";
import { below } from "./schema/path.js";

/** The name of a flow in outcomes, from its position in the document. */
export function flowName({ name }: ScenarioFlow, i: number): string {
  return name ?? `flow ${i + 1}`;
}

/** The name of a host rule in outcomes. */
export function hostRuleName({ name }: ScenarioHostRule, i: number): string {
  return name ?? `host rule ${i + 1}`;
}

/** Takes the uses of names of a list. */
export type NoteUse = (kind: string, name: string) => void;

/** Reports names that are defined twice or not at all, and ports that the device does not have. */
export function checkNames(scenario: Scenario, report: Report, noteUse?: NoteUse): void {
  new Names(scenario, report, noteUse).check();
}

const KINDS = [
  "queues",
  "indirectionTables",
  "rqts",
  "tirs",
  "asoObjects",
  "counters",
  "flowCounters",
  "flowActions",
  "flowTables",
  "steeringAnchors",
  "tables",
  "matchers",
  "actions",
  "rules",
  "messages",
  "frames",
] as const;
type Kind = (typeof KINDS)[number];

const QUEUE_PAIR_STATES: readonly ScenarioQueueState[] = ["reset", "init", "rtr", "rts", "err"];
const WORK_QUEUE_STATES: readonly ScenarioQueueState[] = ["reset", "rdy", "err"];

class Names {
  readonly #scenario: Scenario;
  readonly #report: Report;
  readonly #noteUse: NoteUse;
  readonly #names: Readonly<Record<Kind, ReadonlySet<string>>>;
  /** Rules, flows and host rules. */
  readonly #hits: ReadonlySet<string>;

  constructor(scenario: Scenario, report: Report, noteUse: NoteUse = () => undefined) {
    this.#noteUse = noteUse;
    this.#report = report;
    this.#scenario = scenario;
    const unique = (kind: Kind): Set<string> => {
      const names = new Set<string>();
      for (const [i, { name }] of (scenario[kind] ?? []).entries()) {
        if (name === undefined) continue;
        const hint = `names of ${kind} are unique; rename one of the two`;
        if (names.has(name)) this.#bad("duplicate_name", `${below(kind, i)}.name`, name, hint);
        names.add(name);
      }
      return names;
    };
    this.#names = Object.fromEntries(KINDS.map((kind) => [kind, unique(kind)])) as Record<Kind, Set<string>>;
    this.#hits = this.#uniqueHits();
  }

  /** Outcomes list rules, flows and host rules by name only, so these names are unique together. */
  #uniqueHits(): Set<string> {
    const names = new Set(this.#names.rules);
    const add = (path: string, name: string): void => {
      const hint =
        "names of rules, flows, flowEntries, deviceFlows and hostRules are unique together; rename one of the two";
      if (names.has(name)) this.#bad("duplicate_name", `${path}.name`, name, hint);
      names.add(name);
    };
    this.#scenario.flows?.forEach((flow, i) => add(below("flows", i), flowName(flow, i)));
    for (const kind of ["flowEntries", "deviceFlows"] as const) {
      this.#scenario[kind]?.forEach(({ name }, i) => add(below(kind, i), name));
    }
    this.#scenario.hostRules?.forEach((rule, i) => add(below("hostRules", i), hostRuleName(rule, i)));
    return names;
  }

  check(): void {
    const { matchers = [], actions = [], rules = [] } = this.#scenario;
    matchers.forEach(({ table }, i) => this.#known("tables", `${below("matchers", i)}.table`, table));
    actions.forEach((action, i) => this.#action(below("actions", i), action));
    for (const [i, rule] of rules.entries()) {
      const path = below("rules", i);
      if (rule.matcher !== undefined) this.#known("matchers", `${path}.matcher`, rule.matcher);
      if (rule.table !== undefined) this.#known("tables", `${path}.table`, rule.table);
      rule.actions?.forEach((action, n) => this.#action(below(`${path}.actions`, n), action));
    }
    this.#queues();
    this.#flows();
    this.#functions();
    this.#ports();
    checkDeviceFlows(this.#scenario, {
      known: (kind, path, name) => this.#known(kind, path, name),
      queuePair: (path, name) => this.#queuePair(path, name),
      function: (path, vport) => this.#function(path, vport),
      port: (path, port) => this.#port(path, port),
      bad: (reason, path, value, hint) => this.#bad(reason, path, value, hint),
    });
    checkMessages(this.#scenario, {
      report: this.#report,
      known: (kind, path, name) => this.#known(kind, path, name),
      queue: (name) => this.#queue(name),
      bad: (reason, path, value, hint) => this.#bad(reason, path, value, hint),
    });
    this.#expectations();
  }

  #known(kind: Kind, path: string, name: string): void {
    this.#noteUse(kind, name);
    if (this.#names[kind].has(name)) return;
    this.#bad("unknown_name", path, name, namesHint(name, kind, [...this.#names[kind]]));
  }

  #action(
    path: string,
    action: ScenarioRuleAction | ScenarioAction | ScenarioArrayMemberObject | ScenarioSampleActionObject,
  ): void {
    if (typeof action === "string") return;
    const { count, queue, tir, table } = action as ScenarioArrayMemberObject;
    if (count !== undefined) this.#known("counters", `${path}.count`, count);
    if (queue !== undefined) this.#queuePair(`${path}.queue`, queue);
    if (tir !== undefined) this.#known("tirs", `${path}.tir`, tir);
    if (table !== undefined) this.#known("tables", `${path}.table`, table);
    if ("action" in action && action.action !== undefined) this.#known("actions", `${path}.action`, action.action);
    if ("modify_aso" in action) this.#modifiesAso(path, action.action);
    if ("aso" in action && action.aso !== undefined) {
      this.#known("asoObjects", `${path}.aso.object`, action.aso.object);
      this.#function(`${path}.aso.peer_dmn`, action.aso.peer_dmn?.function);
    }
    if ("flow_meter" in action && action.flow_meter !== undefined) {
      this.#known("tables", `${path}.flow_meter.next_table`, action.flow_meter.next_table);
    }
    if ("flow_sampler" in action && action.flow_sampler !== undefined) {
      const here = `${path}.flow_sampler`;
      this.#known("tables", `${here}.default_next_table`, action.flow_sampler.default_next_table);
      action.flow_sampler.sample_actions.forEach((one, i) => this.#action(below(`${here}.sample_actions`, i), one));
    }
    if (!("array" in action)) return;
    action.array?.forEach((member, i) => {
      if (typeof member === "string") return;
      const { reformat, ...destination } = member;
      const here = below(`${path}.array`, i);
      this.#action(here, destination);
      if (typeof reformat === "string") this.#known("actions", `${here}.reformat`, reformat);
    });
  }

  /** Rules, flows and sent frames need queue pairs. */
  #queuePair(path: string, name: string): void {
    this.#known("queues", path, name);
    const hint = "frames reach a work queue by a TIR or an indirection table";
    if (this.#queue(name)?.type === "wq") this.#bad("bad_object", path, name, hint);
  }

  #queue(name: string): ScenarioQueue | undefined {
    return this.#scenario.queues?.find((queue) => queue.name === name);
  }

  #modifiesAso(path: string, name: string | undefined): void {
    const found = this.#scenario.actions?.find((action) => action.name === name);
    if (found?.aso === undefined) this.#bad("bad_object", `${path}.action`, name, "an action with aso");
  }

  #queues(): void {
    const { queues = [], indirectionTables = [], rqts = [], tirs = [] } = this.#scenario;
    queues.forEach((queue, i) => this.#kindOfQueue(below("queues", i), queue));
    indirectionTables.forEach(({ ind_tbl }, i) => {
      ind_tbl.forEach((name, n) => {
        const path = below(`${below("indirectionTables", i)}.ind_tbl`, n);
        this.#known("queues", path, name);
        if (this.#queue(name)?.type !== "wq") this.#bad("bad_object", path, name, "a queue of type wq");
      });
    });
    rqts.forEach((rqt, i) => {
      rqt.queues.forEach((name, n) => this.#known("queues", below(`${below("rqts", i)}.queues`, n), name));
    });
    tirs.forEach(({ queue, rqt }, i) => {
      if (queue !== undefined) this.#known("queues", `${below("tirs", i)}.queue`, queue);
      if (rqt !== undefined) this.#known("rqts", `${below("tirs", i)}.rqt`, rqt);
    });
  }

  #kindOfQueue(path: string, { type = "raw_packet", state, buffers, rwq_ind_tbl }: ScenarioQueue): void {
    const states = type === "wq" ? WORK_QUEUE_STATES : QUEUE_PAIR_STATES;
    if (state !== undefined && !states.includes(state)) {
      this.#bad("bad_state", `${path}.state`, state, `a queue of type ${type} has ${states.join(", ")}`);
    }
    if (rwq_ind_tbl === undefined) return;
    this.#known("indirectionTables", `${path}.rwq_ind_tbl`, rwq_ind_tbl);
    const hint = "a queue with rwq_ind_tbl has no buffers: those of its table have";
    if (buffers !== undefined) this.#bad("bad_scenario", `${path}.buffers`, buffers, hint);
  }

  /** The objects that steps change exist and have the right kind. */
  #step(path: string, step: ScenarioStep): void {
    const { modify_flow_meter, modify_aso_object, index = 0 } = step;
    const { actions = [], asoObjects = [] } = this.#scenario;
    if (modify_flow_meter !== undefined) {
      this.#known("actions", `${path}.modify_flow_meter`, modify_flow_meter);
      const found = actions.find(({ name }) => name === modify_flow_meter);
      const hint = "an action with flow_meter";
      if (found?.flow_meter === undefined)
        this.#bad("bad_object", `${path}.modify_flow_meter`, modify_flow_meter, hint);
    }
    if (modify_aso_object === undefined) return;
    this.#known("asoObjects", `${path}.modify_aso_object`, modify_aso_object);
    const object = asoObjects.find(({ name }) => name === modify_aso_object);
    if (object === undefined) return;
    this.#sameKind(path, object, step);
    const { log_obj_range = 0 } = object;
    if (index < 2 ** log_obj_range) return;
    this.#bad("out_of_range", `${path}.index`, index, `log_obj_range is ${log_obj_range}`);
  }

  #sameKind(
    path: string,
    object: ScenarioAsoObject,
    data: { readonly [K in (typeof ASO_KEYS)[number]]?: unknown },
  ): void {
    const [has, given] = [asoKey(object), asoKey(data)];
    if (has !== given) this.#bad("bad_object", `${path}.${given}`, object.name, `it has ${has}`);
  }

  #flows(): void {
    for (const [i, { queue, specs = [] }] of (this.#scenario.flows ?? []).entries()) {
      const path = below("flows", i);
      this.#queuePair(`${path}.queue`, queue);
      specs.forEach((spec, n) => {
        if (spec === "drop") return;
        const here = below(`${path}.specs`, n);
        if (spec.count !== undefined) this.#known("flowCounters", `${here}.count`, spec.count);
        if (spec.action !== undefined) this.#known("flowActions", `${here}.action`, spec.action);
      });
    }
  }

  #functions(): void {
    const { domains = [], ...scenario } = this.#scenario;
    for (const kind of ["queues", "asoObjects", "counters", "tables", "hostRules"] as const) {
      scenario[kind]?.forEach((one, i) => this.#function(below(kind, i), one.function));
    }
    const seen = new Set<string>();
    domains.forEach(({ domain, function: vport = 0 }, i) => {
      const path = below("domains", i);
      this.#function(path, vport);
      const name = domainName(domain, vport);
      if (seen.has(name)) this.#bad("duplicate_name", path, name, "say all settings of a domain in one place");
      seen.add(name);
    });
  }

  #function(path: string, vport: number | undefined): void {
    const { vports = 0 } = this.#scenario.device ?? {};
    if (vport === undefined || vport <= vports) return;
    this.#bad("out_of_range", `${path}.function`, vport, `device.vports is ${vports}`);
  }

  #port(path: string, port: number | undefined): void {
    const { ports = 1 } = this.#scenario.device ?? {};
    if (port !== undefined && port > ports) this.#bad("out_of_range", path, port, `device.ports is ${ports}`);
  }

  #ports(): void {
    const { connect = [], queues = [], flows = [], hostRules = [], frames = [] } = this.#scenario;
    const exists = (path: string, port: number | undefined): void => this.#port(path, port);
    connect.forEach(({ port, to }, i) => {
      exists(`${below("connect", i)}.port`, port);
      exists(`${below("connect", i)}.to`, to);
    });
    queues.forEach(({ port }, i) => exists(`${below("queues", i)}.port`, port));
    flows.forEach(({ port }, i) => exists(`${below("flows", i)}.port`, port));
    hostRules.forEach(({ port }, i) => exists(`${below("hostRules", i)}.port`, port));
    frames.forEach((frame, i) => {
      exists(`${below("frames", i)}.port`, frame.port);
      frame.before?.forEach((step, n) => this.#step(below(`${below("frames", i)}.before`, n), step));
      if (frame.send !== undefined) this.#sent(below("frames", i), frame.send, frame);
    });
  }

  /** A sent frame starts like every frame of its queue, and is whole. */
  #sent(path: string, send: string, frame: ScenarioFrame): void {
    this.#queuePair(`${path}.send`, send);
    const { type = "raw_packet", state, rwq_ind_tbl } = this.#queue(send) ?? {};
    const sends = "a queue with rwq_ind_tbl only receives";
    if (rwq_ind_tbl !== undefined) this.#bad("bad_object", `${path}.send`, send, sends);
    if (type !== "raw_packet") this.#bad("bad_object", `${path}.send`, send, "a queue of type raw_packet sends frames");
    if (state !== undefined && state !== "rts") this.#bad("bad_state", `${path}.send`, send, `its state is ${state}`);
    for (const key of ["port", "linkType", "wireLength"] as const) {
      const hint = "a frame that is sent has none: leave it out";
      if (frame[key] !== undefined) this.#bad("bad_scenario", `${path}.${key}`, frame[key], hint);
    }
    attempt(this.#report, () => checkFrameLength(path, frameBytes(path, frame).length));
  }

  #expectations(): void {
    const { expect = {}, frames } = this.#scenario;
    for (const [i, expected] of (expect.frames ?? []).entries()) {
      const path = below("expect.frames", i);
      const { frame, beyond = {} } = expected;
      if (typeof frame === "string") this.#known("frames", `${path}.frame`, frame);
      else if (frames !== undefined && frame > frames.length) {
        this.#bad("unknown_name", `${path}.frame`, frame, `the document has ${frames.length} frames`);
      }
      this.#outcome(path, expected);
      for (const [port, there] of Object.entries(beyond)) {
        this.#destination(below(`${path}.beyond`, port), port, this.#portNames());
        this.#outcome(below(`${path}.beyond`, port), there);
      }
    }
    for (const name of Object.keys(expect.counters ?? {}))
      this.#known("counters", below("expect.counters", name), name);
    for (const [name, expected] of Object.entries(expect.asoObjects ?? {})) {
      const path = below("expect.asoObjects", name);
      this.#known("asoObjects", path, name);
      const object = this.#scenario.asoObjects?.find((one) => one.name === name);
      if (object !== undefined) this.#sameKind(path, object, expected);
    }
    for (const name of Object.keys(expect.flowCounters ?? {}))
      this.#known("flowCounters", below("expect.flowCounters", name), name);
    const { to = {}, copies = {}, rules = {} } = expect.totals ?? {};
    for (const name of Object.keys(to)) this.#destination(below("expect.totals.to", name), name);
    for (const name of Object.keys(copies)) this.#destination(below("expect.totals.copies", name), name);
    for (const name of Object.keys(rules)) this.#hit(below("expect.totals.rules", name), name);
  }

  #outcome(path: string, { to, copies, rules }: ExpectedOutcome): void {
    to?.forEach((name, n) => this.#destination(below(`${path}.to`, n), name));
    copies?.forEach((name, n) => this.#destination(below(`${path}.copies`, n), name));
    rules?.forEach((name, n) => this.#hit(below(`${path}.rules`, n), name));
  }

  #hit(path: string, name: string): void {
    if (!this.#hits.has(name)) this.#bad("unknown_name", path, name, namesHint(name, "rules", [...this.#hits]));
  }

  #destination(path: string, name: string, destinations = this.#destinations()): void {
    if (!destinations.includes(name))
      this.#bad("unknown_name", path, name, namesHint(name, "destinations", destinations));
  }

  #destinations(): string[] {
    const hosts = (this.#scenario.hostRules ?? []).flatMap(({ action, function: vport = 0 }) =>
      action === "drop" ? [] : [`${vport === 0 ? "" : `vf${vport}/`}host:${action.queue}`],
    );
    const queues = (this.#scenario.queues ?? []).map(({ name, type }) => `${type === "wq" ? "wq" : "qp"}:${name}`);
    return [...queues, ...new Set(hosts), ...this.#portNames()];
  }

  #portNames(): string[] {
    return Array.from({ length: this.#scenario.device?.ports ?? 1 }, (_, i) => `port:${i + 1}`);
  }

  #bad(reason: RefusalReason, path: string, value: unknown, hint: string): void {
    this.#report(new SteeringError({ code: "EINVAL", call: "", reason, path, value, hint }));
  }
}
