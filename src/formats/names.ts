/** The names of a document: unique in their list, and what is named is there. */
import { refuse, type RefusalReason } from "../errors.js";
import { checkFrameLength } from "../model/input.js";
import { namesHint } from "../nearest.js";
import type { InlineAction, ScenarioAction, ScenarioMemberObject } from "./actionDocument.js";
import type { ExpectedOutcome, Scenario, ScenarioFlow, ScenarioFrame, ScenarioHostRule } from "./document.js";
import { domainName } from "./domains.js";
import { frameBytes } from "./frameBytes.js";
import { below } from "./schema.js";

/** What outcomes call a flow of the document, counted from 0. */
export function flowName({ name }: ScenarioFlow, i: number): string {
  return name ?? `flow ${i + 1}`;
}

/** The same of a host rule. */
export function hostRuleName({ name }: ScenarioHostRule, i: number): string {
  return name ?? `host rule ${i + 1}`;
}

/** Refuses names that stand for two things or for nothing, and ports that the device does not have. */
export function checkNames(call: string, scenario: Scenario): void {
  new Names(call, scenario).check();
}

const KINDS = [
  "queues",
  "counters",
  "flowCounters",
  "flowActions",
  "tables",
  "matchers",
  "actions",
  "rules",
  "frames",
] as const;
type Kind = (typeof KINDS)[number];

class Names {
  readonly #call: string;
  readonly #scenario: Scenario;
  readonly #names: Readonly<Record<Kind, ReadonlySet<string>>>;
  /** Rules, flows and host rules. */
  readonly #hits: ReadonlySet<string>;

  constructor(call: string, scenario: Scenario) {
    this.#call = call;
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

  /** Outcomes list rules, flows and host rules by their names alone. */
  #uniqueHits(): Set<string> {
    const names = new Set(this.#names.rules);
    const add = (path: string, name: string): void => {
      const hint = "names of rules, flows and hostRules are unique together; rename one of the two";
      if (names.has(name)) this.#bad("duplicate_name", `${path}.name`, name, hint);
      names.add(name);
    };
    this.#scenario.flows?.forEach((flow, i) => add(below("flows", i), flowName(flow, i)));
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
    this.#flows();
    this.#functions();
    this.#ports();
    this.#expectations();
  }

  #known(kind: Kind, path: string, name: string): void {
    if (this.#names[kind].has(name)) return;
    this.#bad("unknown_name", path, name, namesHint(name, kind, [...this.#names[kind]]));
  }

  #action(path: string, action: InlineAction | ScenarioAction | ScenarioMemberObject): void {
    if (typeof action === "string") return;
    const { count, queue, table } = action;
    if (count !== undefined) this.#known("counters", `${path}.count`, count);
    if (queue !== undefined) this.#known("queues", `${path}.queue`, queue);
    if (table !== undefined) this.#known("tables", `${path}.table`, table);
    if ("action" in action && action.action !== undefined) this.#known("actions", `${path}.action`, action.action);
    if (!("array" in action)) return;
    action.array?.forEach((member, i) => {
      if (typeof member === "string") return;
      const { reformat, ...destination } = member;
      const here = below(`${path}.array`, i);
      this.#action(here, destination);
      if (typeof reformat === "string") this.#known("actions", `${here}.reformat`, reformat);
    });
  }

  #flows(): void {
    for (const [i, { queue, specs = [] }] of (this.#scenario.flows ?? []).entries()) {
      const path = below("flows", i);
      this.#known("queues", `${path}.queue`, queue);
      specs.forEach((spec, n) => {
        if (spec === "drop") return;
        const here = below(`${path}.specs`, n);
        if (spec.count !== undefined) this.#known("flowCounters", `${here}.count`, spec.count);
        if (spec.action !== undefined) this.#known("flowActions", `${here}.action`, spec.action);
      });
    }
  }

  #functions(): void {
    const { device, domains = [], ...scenario } = this.#scenario;
    const vports = device?.vports ?? 0;
    const exists = (path: string, vport: number | undefined): void => {
      if (vport === undefined || vport <= vports) return;
      this.#bad("out_of_range", `${path}.function`, vport, `device.vports is ${vports}`);
    };
    for (const kind of ["queues", "tables", "hostRules"] as const) {
      scenario[kind]?.forEach((one, i) => exists(below(kind, i), one.function));
    }
    const seen = new Set<string>();
    domains.forEach(({ domain, function: vport = 0 }, i) => {
      const path = below("domains", i);
      exists(path, vport);
      const name = domainName(domain, vport);
      if (seen.has(name)) this.#bad("duplicate_name", path, name, "say all settings of a domain in one place");
      seen.add(name);
    });
  }

  #ports(): void {
    const { device, connect = [], queues = [], flows = [], hostRules = [], frames = [] } = this.#scenario;
    const ports = device?.ports ?? 1;
    const exists = (path: string, port: number | undefined): void => {
      if (port !== undefined && port > ports) this.#bad("out_of_range", path, port, `device.ports is ${ports}`);
    };
    connect.forEach(({ port, to }, i) => {
      exists(`${below("connect", i)}.port`, port);
      exists(`${below("connect", i)}.to`, to);
    });
    queues.forEach(({ port }, i) => exists(`${below("queues", i)}.port`, port));
    flows.forEach(({ port }, i) => exists(`${below("flows", i)}.port`, port));
    hostRules.forEach(({ port }, i) => exists(`${below("hostRules", i)}.port`, port));
    frames.forEach((frame, i) => {
      exists(`${below("frames", i)}.port`, frame.port);
      if (frame.send !== undefined) this.#sent(below("frames", i), frame.send, frame);
    });
  }

  /** A frame that is sent begins where every frame of its queue does, and is whole. */
  #sent(path: string, send: string, frame: ScenarioFrame): void {
    this.#known("queues", `${path}.send`, send);
    const { type, state } = this.#scenario.queues?.find(({ name }) => name === send) ?? {};
    if (type === "ud") this.#bad("bad_object", `${path}.send`, send, "a queue of type raw_packet sends frames");
    if (state !== undefined && state !== "rts") this.#bad("bad_state", `${path}.send`, send, `its state is ${state}`);
    for (const key of ["port", "linkType", "wireLength"] as const) {
      const hint = "a frame that is sent has none: leave it out";
      if (frame[key] !== undefined) this.#bad("bad_scenario", `${path}.${key}`, frame[key], hint);
    }
    checkFrameLength(this.#call, path, frameBytes(this.#call, path, frame).length);
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
    return [...[...this.#names.queues].map((queue) => `qp:${queue}`), ...new Set(hosts), ...this.#portNames()];
  }

  #portNames(): string[] {
    return Array.from({ length: this.#scenario.device?.ports ?? 1 }, (_, i) => `port:${i + 1}`);
  }

  #bad(reason: RefusalReason, path: string, value: unknown, hint: string): never {
    refuse({ code: "EINVAL", call: this.#call, reason, path, value, hint });
  }
}
