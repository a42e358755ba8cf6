/** Scenario documents: read, held against the schema, and their names resolved. No device is needed for that. */
import { refuse, type RefusalReason } from "../errors.js";
import { describe } from "../model/handle.js";
import { checkFrameLength } from "../model/input.js";
import type { ExpectedOutcome, InlineAction, Scenario, ScenarioAction, ScenarioFrame } from "./document.js";
import { frameBytes } from "./frameBytes.js";
import { parseJson } from "./json.js";
import { namesHint } from "../nearest.js";
import { below, validate } from "./schema.js";
import { SCENARIO_SCHEMA } from "./scenarioSchema.js";

const CALL = "parseScenario";
const VERSION = 1;

/**
 * Checks a scenario: JSON text, or the document itself.
 *
 * @throws SteeringError bad_json with line and column; bad_version; bad_scenario, unknown_name, duplicate_name with the path
 * in the document. What matches and actions mean is checked when it is loaded.
 * @throws TypeError neither text nor an object
 */
export function parseScenario(source: string | object): Scenario {
  if (typeof source !== "string" && (typeof source !== "object" || source === null)) {
    throw new TypeError(`${CALL}: a scenario is text or an object, not ${describe(source)}`);
  }
  const document = typeof source === "string" ? parseJson(CALL, source) : source;
  checkVersion(document);
  validate(CALL, SCENARIO_SCHEMA, document);
  const scenario = document as Scenario;
  new Names(scenario).check();
  scenario.frames?.forEach((frame, i) => frameBytes(CALL, below("frames", i), frame));
  return scenario;
}

function checkVersion(document: unknown): void {
  if (typeof document !== "object" || document === null) return;
  const { flowsteer } = document as { flowsteer?: unknown };
  if (!Number.isInteger(flowsteer) || flowsteer === VERSION) return;
  const hint = `this release reads version ${VERSION}`;
  refuse({ code: "EINVAL", call: CALL, reason: "bad_version", path: "flowsteer", value: flowsteer, hint });
}

type Kind = "queues" | "counters" | "tables" | "matchers" | "actions" | "rules" | "frames";

/** Names are unique in their list, and what is named is there. */
class Names {
  readonly #scenario: Scenario;
  readonly #names: Readonly<Record<Kind, ReadonlySet<string>>>;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const unique = (kind: Kind): Set<string> => {
      const names = new Set<string>();
      for (const [i, { name }] of (scenario[kind] ?? []).entries()) {
        if (name === undefined) continue;
        const hint = `names of ${kind} are unique; rename one of the two`;
        if (names.has(name)) bad("duplicate_name", `${below(kind, i)}.name`, name, hint);
        names.add(name);
      }
      return names;
    };
    this.#names = {
      queues: unique("queues"),
      counters: unique("counters"),
      tables: unique("tables"),
      matchers: unique("matchers"),
      actions: unique("actions"),
      rules: unique("rules"),
      frames: unique("frames"),
    };
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
    this.#ports();
    this.#expectations();
  }

  #known(kind: Kind, path: string, name: string): void {
    if (this.#names[kind].has(name)) return;
    bad("unknown_name", path, name, namesHint(name, kind, [...this.#names[kind]]));
  }

  #action(path: string, action: InlineAction | ScenarioAction): void {
    if (typeof action === "string") return;
    if ("count" in action) this.#known("counters", `${path}.count`, action.count);
    if ("queue" in action) this.#known("queues", `${path}.queue`, action.queue);
    if ("table" in action) this.#known("tables", `${path}.table`, action.table);
    if ("action" in action) this.#known("actions", `${path}.action`, action.action);
  }

  #ports(): void {
    const { device, connect = [], queues = [], frames = [] } = this.#scenario;
    const ports = device?.ports ?? 1;
    const exists = (path: string, port: number | undefined): void => {
      if (port !== undefined && port > ports) bad("out_of_range", path, port, `device.ports is ${ports}`);
    };
    connect.forEach(({ port, to }, i) => {
      exists(`${below("connect", i)}.port`, port);
      exists(`${below("connect", i)}.to`, to);
    });
    queues.forEach(({ port }, i) => exists(`${below("queues", i)}.port`, port));
    frames.forEach((frame, i) => {
      exists(`${below("frames", i)}.port`, frame.port);
      if (frame.send !== undefined) this.#sent(below("frames", i), frame.send, frame);
    });
  }

  /** A frame that is sent begins where every frame of its queue does, and is whole. */
  #sent(path: string, send: string, frame: ScenarioFrame): void {
    this.#known("queues", `${path}.send`, send);
    const { type, state } = this.#scenario.queues?.find(({ name }) => name === send) ?? {};
    if (type === "ud") bad("bad_object", `${path}.send`, send, "a queue of type raw_packet sends frames");
    if (state !== undefined && state !== "rts") bad("bad_state", `${path}.send`, send, `its state is ${state}`);
    for (const key of ["port", "linkType", "wireLength"] as const) {
      const hint = "a frame that is sent has none: leave it out";
      if (frame[key] !== undefined) bad("bad_scenario", `${path}.${key}`, frame[key], hint);
    }
    checkFrameLength(CALL, path, frameBytes(CALL, path, frame).length);
  }

  #expectations(): void {
    const { expect = {}, frames } = this.#scenario;
    for (const [i, expected] of (expect.frames ?? []).entries()) {
      const path = below("expect.frames", i);
      const { frame, beyond = {} } = expected;
      if (typeof frame === "string") this.#known("frames", `${path}.frame`, frame);
      else if (frames !== undefined && frame > frames.length) {
        bad("unknown_name", `${path}.frame`, frame, `the document has ${frames.length} frames`);
      }
      this.#outcome(path, expected);
      for (const [port, there] of Object.entries(beyond)) {
        this.#destination(below(`${path}.beyond`, port), port, this.#portNames());
        this.#outcome(below(`${path}.beyond`, port), there);
      }
    }
    for (const name of Object.keys(expect.counters ?? {}))
      this.#known("counters", below("expect.counters", name), name);
    const { to = {}, copies = {}, rules = {} } = expect.totals ?? {};
    for (const name of Object.keys(to)) this.#destination(below("expect.totals.to", name), name);
    for (const name of Object.keys(copies)) this.#destination(below("expect.totals.copies", name), name);
    for (const name of Object.keys(rules)) this.#known("rules", below("expect.totals.rules", name), name);
  }

  #outcome(path: string, { to, copies, rules }: ExpectedOutcome): void {
    to?.forEach((name, n) => this.#destination(below(`${path}.to`, n), name));
    copies?.forEach((name, n) => this.#destination(below(`${path}.copies`, n), name));
    rules?.forEach((name, n) => this.#known("rules", below(`${path}.rules`, n), name));
  }

  #destination(path: string, name: string, destinations = this.#destinations()): void {
    if (!destinations.includes(name)) bad("unknown_name", path, name, namesHint(name, "destinations", destinations));
  }

  #destinations(): string[] {
    return [...[...this.#names.queues].map((queue) => `qp:${queue}`), ...this.#portNames()];
  }

  #portNames(): string[] {
    return Array.from({ length: this.#scenario.device?.ports ?? 1 }, (_, i) => `port:${i + 1}`);
  }
}

function bad(reason: RefusalReason, path: string, value: unknown, hint: string): never {
  refuse({ code: "EINVAL", call: CALL, reason, path, value, hint });
}
