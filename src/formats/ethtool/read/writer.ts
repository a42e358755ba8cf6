/** Writes the rules of devices: each as a rule of the host, or of nic_rx where some lead to several queues. */
import type { KernelDriver } from "../../../drivers/driver.js";
import { receiverName } from "../../../drivers/madeRules.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { attempt, notImported, type Place } from "../../text/refusal.js";
import type { FlowType } from "../fields.js";
import type { Action } from "./actions.js";
import { spreadTable, tirOf } from "./contexts.js";
import type { Queues } from "./queues.js";
import type { NtupleRule } from "./rule.js";

/** After all rules: the driver's own. */
const LAST_PRIORITY = 65535;
const NO_KEY = "no hash key given: drivers draw a random one";

type DeviceRules = ReadonlyMap<string, ReadonlyMap<number, NtupleRule>>;

export class RuleWriter {
  #devices: readonly string[] = [];

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly driver: KernelDriver | null,
    private readonly queues: Queues,
  ) {}

  /** Adds the rules: those of devices with several queues as rules of nic_rx, which lead to them. */
  write(devices: DeviceRules): void {
    this.#devices = [...devices.keys()];
    const rules = [...devices.values()].flatMap((own) => [...own.values()]);
    const hashed = new Set(
      rules.flatMap(({ device, action }) => (typeof action === "object" && "context" in action ? [device] : [])),
    );
    if (this.driver !== null) for (const device of this.#devices) if (this.#spreads(device)) hashed.add(device);
    for (const { device, place, origin } of rules.toSorted((a, b) => a.loc - b.loc)) {
      this.findings.file = origin.file;
      this.#placeOf(device, place);
    }
    for (const rule of rules.toSorted((a, b) => this.#priorityOf(a) - this.#priorityOf(b))) {
      this.findings.file = rule.origin.file;
      this.draft.origin = rule.origin;
      if (this.driver !== null) {
        const because = this.driver.because(rule.facts);
        this.findings.explain(rule.place, `${rule.device} ${rule.loc}`, `table ${this.#priorityOf(rule)}: ${because}`);
      }
      attempt(
        () => (hashed.has(rule.device) ? this.#direct(rule) : this.#host(rule)),
        ({ word, reason }) => this.findings.refuse(word.place, word.text, reason),
      );
    }
    if (this.driver === null) return;
    for (const device of hashed) {
      const place = rules.find((rule) => rule.device === device)?.place ?? { line: 1, column: 1 };
      this.#receive(device, place, this.driver);
    }
  }

  /** Whether frames that no rule takes are spread over several queues. */
  #spreads(device: string): boolean {
    return new Set(this.queues.of(device)?.entries).size > 1;
  }

  /** The driver delivers what no rule takes to the queues of its default context. */
  #receive(device: string, place: Place, driver: KernelDriver): void {
    const { vport, port } = this.#placeOf(device, place);
    this.draft.neededFor(this.draft.origin);
    const context = this.queues.of(device);
    if (context !== undefined && context.key === undefined)
      this.findings.assume(place, device, `${NO_KEY}: which of its queues gets a frame that no rule takes is a guess`);
    const first = `${device} queue ${context?.entries[0] ?? 0}`;
    this.draft.push("rules", {
      name: this.draft.freeName("rules", receiverName(device)),
      description: `Of the driver ${driver.name}: the kernel receives what no rule takes.`,
      table: this.draft.root("nic_rx", vport),
      priority: LAST_PRIORITY,
      ...(port === undefined ? {} : { match: { "ext.port": port } }),
      actions: [
        context !== undefined && this.#spreads(device)
          ? { table: spreadTable(this.draft, device, vport, context) }
          : { queue: this.draft.queue(first, vport) },
      ],
    });
  }

  /** The driver's order; without one that of the locations. */
  #priorityOf({ facts, loc }: NtupleRule): number {
    return this.driver?.ethtoolTable(facts) ?? loc;
  }

  /** Its priority, and why the driver gives it that. */
  #orderOf(rule: NtupleRule): { description?: string; priority: number } {
    const description = this.driver?.because(rule.facts);
    return { ...(description === undefined ? {} : { description }), priority: this.#priorityOf(rule) };
  }

  #host(rule: NtupleRule): void {
    const { device, match, action, loc, place } = rule;
    const { vport, port } = this.#placeOf(device, place);
    this.draft.push("hostRules", {
      name: this.draft.freeName("hostRules", `${device} ${loc}`),
      application: "ethtool",
      ...(vport === 0 ? {} : { function: vport }),
      ...(port === undefined ? {} : { port }),
      ...this.#orderOf(rule),
      match: match.toScenario(),
      action: action === "drop" ? "drop" : { queue: "queue" in action ? action.queue : 0 },
    });
  }

  #direct(rule: NtupleRule): void {
    const { device, type, match, action, loc, place } = rule;
    const { vport, port } = this.#placeOf(device, place);
    const table = this.draft.root("nic_rx", vport);
    const asked = { ...(port === undefined ? {} : { "ext.port": port }), ...match.toScenario() };
    this.draft.push("rules", {
      name: this.draft.freeName("rules", `${device} ${loc}`),
      table,
      ...this.#orderOf(rule),
      match: asked,
      actions: [action === "drop" ? "drop" : this.#destination(device, vport, action, type)],
    });
  }

  #destination(
    device: string,
    vport: number,
    action: Exclude<Action, "drop">,
    type: FlowType,
  ): { queue: string } | { tir: string } {
    if ("queue" in action) return { queue: this.draft.queue(`${device} queue ${action.queue}`, vport) };
    const context = this.queues.of(device, action.context);
    if (context !== undefined && this.queues.set(device, action.context) === undefined)
      this.findings.assume(
        action.word.place,
        `context ${action.context}`,
        `no queues given: all ${this.queues.numberOf(device, action.context) ?? 0} of the device`,
      );
    if (context === undefined)
      return notImported(
        action.word,
        `the queues of context ${action.context} are not given: ethtool -X ${device} context ...`,
      );
    if (context.key === undefined) {
      this.findings.assume(action.word.place, `context ${action.context}`, NO_KEY);
    }
    return { tir: tirOf(this.draft, device, vport, action.context, context, type) };
  }

  /** A device that is not mapped is the PF; several of them are its ports, in the order in which they are first named. */
  #placeOf(device: string, place: Place): { vport: number; port: number | undefined } {
    const mapped = this.draft.mapped(device);
    if (mapped === undefined) {
      const own = this.#devices.filter((name) => this.draft.mapped(name) === undefined);
      const port = own.length === 1 ? undefined : own.indexOf(device) + 1;
      const is = port === undefined ? "the PF" : `port ${port} of the device`;
      if (!this.#told.has(device))
        this.findings.assume(place, device, `taken for ${is}; --map ${device}=... overrides this`);
      this.#told.add(device);
      if (port !== undefined) this.draft.endpoint({ port });
      return { vport: 0, port };
    }
    this.draft.endpoint(mapped);
    return "port" in mapped ? { vport: 0, port: mapped.port } : { vport: mapped.vport, port: undefined };
  }

  readonly #told = new Set<string>();
}
