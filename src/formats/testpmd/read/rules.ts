/** Writes rules into tables: a group is a table, the steps of a rule after the first one are too. */
import { templatePmd, type Pmd, type PmdRule } from "../../../drivers/driver.js";
import { vxlanDevice } from "../../../drivers/mlx5e.js";
import { madeName, receiverName } from "../../../drivers/madeRules.js";
import type { ScenarioRule } from "../../../scenario/rule/definition.js";
import { ofFunction, type Draft, type Endpoint } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { RuleAction } from "../../rules/importRule.js";
import { pushRule, writeRule } from "../../rules/planner.js";
import { notImported, type Word } from "../../text/refusal.js";
import { Plan } from "./actions/plan.js";
import type { Action } from "./actions/read.js";
import type { Fate } from "./actions/steps.js";
import { controlFates, Receivers, type Receiver } from "./control.js";
import { Matchers } from "./matchers.js";
import { matchOf } from "./pattern/match.js";
import type { PatternWalk } from "./pattern/walk.js";
import type { Item } from "./pattern/read.js";
import { sourcePort, type Ports } from "./ports.js";
import { RootEntries } from "./rootEntries.js";
import type { Settings } from "./settings/settings.js";

export type Domain = "nic_rx" | "nic_tx" | "fdb";

/** A rule as it was read. */
export interface FlowRule {
  readonly name: string;
  readonly port: { readonly number: bigint; readonly word: Word };
  readonly domain: Domain;
  readonly group: bigint;
  readonly priority: { readonly value: bigint; readonly word: Word };
  readonly items: readonly Item[];
  readonly actions: readonly Action[];
  /** Whether it is a rule of a template table. */
  readonly isTemplated?: true;
}

const MAX_PRIORITY = 0xffffn;
/** Queues that frames are spread over, where the text says their number, and where it does not. */
const MAX_SPREAD = 512;
const MAX_GUESSED = 64;
/** Of those that a driver multiplies by three. */
const LAST_TRIPLED = 21844n;
/** Groups are levels; steps of a rule need levels above. */
const MAX_GROUP = 0xfffffff0n;
/** Terms of a fate. */
const MAX_TERMS = 2;

export class Rules {
  readonly #tables = new Map<string, string>();
  readonly #spreads = new Map<string, string>();
  readonly #matchers: Matchers;
  /** Functions that rules for received frames are of. */
  readonly receivers = new Receivers();
  /** The last queue that the rule under way names. */
  #topQueue = 0;
  #ofPort = false;
  /** Where patterns want VXLAN at other ports than that of the standard: a device of the text may have them. */
  readonly #atPorts: { readonly udpPort: number; readonly word: Word; readonly file: string }[] = [];
  readonly #rootEntries = new RootEntries();
  /** Whether frames of the eSwitch are led to the table of group 0. */
  #leads = false;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly ports: Ports,
    private readonly settings: Settings,
    private readonly pmd: Pmd | null,
  ) {
    this.#matchers = new Matchers(draft, findings);
  }

  /**
   * @returns the rules that it becomes, without those of tables that it shares with others
   * @throws NotImported if it cannot be carried over at all
   */
  add(rule: FlowRule): ScenarioRule[] {
    const { port, domain } = rule;
    this.#checkPriority(rule);
    const vport = domain === "fdb" ? 0 : this.ports.functionOf(port.number, port.word);
    const assume = (word: Word, reason: string): void => this.findings.assume(word.place, word.text, reason);
    const asksUdpPort = ({ place, text }: Word, field: string, udpPort: number): void =>
      this.findings.explain(place, text, `asks for UDP port ${udpPort}, since the pattern asks for none`, field);
    this.#topQueue = 0;
    const walk = matchOf(rule.items, {
      domain,
      assume,
      bareItems: this.pmd?.bareItems,
      atVxlanPort: (udpPort, word) => this.#atPorts.push({ udpPort, word, file: this.findings.file }),
      checksLayers: this.#pmdOf(rule)?.checksLayers,
      asksUdpPort: this.pmd?.asksUdpPorts === true ? asksUdpPort : undefined,
      sourceOf: (number, word) => sourcePort(this.ports.of(number ?? port.number, word)),
      option: (optionClass, type, word) => {
        if (!this.draft.geneveOption({ class: Number(optionClass), type: Number(type) })) {
          notImported(word, "the device matches one Geneve option; another rule matches another one");
        }
      },
    });
    if (walk.match.contradicts)
      notImported(rule.port.word, "two items match different values of one field: no frame has both");
    if (domain === "fdb" && !walk.hasPort) this.#askPort(rule, walk, assume);
    const lacking: string[] = [];
    const plan = this.#plan(rule, vport, walk, assume, lacking);
    if (domain === "nic_rx") {
      const receiver = this.receivers.of(vport, port, this.findings.file);
      receiver.queues = Math.max(receiver.queues, this.#topQueue + 1);
      receiver.isTemplated ||= rule.isTemplated === true;
    }
    return this.#write(rule, vport, walk, plan, lacking);
  }

  #pmdOf({ isTemplated }: FlowRule): Pmd | null {
    return isTemplated === true ? templatePmd(this.pmd) : this.pmd;
  }

  #checkPriority(rule: FlowRule): void {
    const {
      priority: { value, word },
      domain,
      group,
    } = rule;
    const pmd = this.#pmdOf(rule);
    if (value > MAX_PRIORITY) notImported(word, `a priority is at most ${MAX_PRIORITY}`);
    const max = pmd?.maxPriority({ domain, group: Number(group) }) ?? Infinity;
    if (value <= max) return;
    const reason = `the driver ${pmd?.name ?? ""} refuses priorities above ${max} in this group`;
    if (value > LAST_TRIPLED) notImported(word, reason);
    this.findings.assume(word.place, word.text, `${reason}: imported all the same`);
  }

  /** As the mlx5 driver does, a transfer rule has the frames of its port, unless it names one. */
  #askPort({ port }: FlowRule, walk: PatternWalk, assume: (word: Word, reason: string) => void): void {
    walk.match.ask("misc.source_port", sourcePort(this.ports.of(port.number, port.word)));
    if (this.#ofPort) return;
    this.#ofPort = true;
    assume(port.word, "a transfer rule without a port item matches frames of its own port, as with the mlx5 driver");
  }

  #plan(
    { name, port, domain, actions }: FlowRule,
    vport: number,
    walk: PatternWalk,
    assume: (word: Word, reason: string) => void,
    lacking: string[],
  ): Plan {
    const lack = (word: Word, reason: string): void => {
      this.findings.refuse(word.place, word.text, reason, name);
      lacking.push(`${word.text}: ${reason}`);
    };
    const plan = new Plan(actions, {
      draft: this.draft,
      settings: this.settings,
      walk,
      domain,
      vport,
      port: Number(port.number),
      name,
      maxMark: this.pmd?.maxMark,
      assume,
      lack,
      queue: (index) => {
        this.#topQueue = Math.max(this.#topQueue, index);
        return this.#queue(vport, port.number, index);
      },
      table: (group, word) => this.#table(domain, vport, group, word, true),
      spread: (fates) => this.#spread(vport, fates),
      destination: (number, word) => destination(this.ports.of(number, word)),
    });
    if (plan.steps.end === undefined && !plan.steps.isForked && domain !== "nic_tx") {
      const word = plan.passes ?? { text: "actions", place: port.word.place };
      lack(word, "no action ends the rule: DPDK continues with rules of lower priority, the device does not");
      plan.steps.end = "default_miss";
    }
    return plan;
  }

  /** The rule of the driver that leads transfer frames from the root table to group 0. */
  #leadToGroup0(word: Word): void {
    const root = this.draft.root("fdb");
    const table = this.#table("fdb", 0, 0n, word, true);
    const description = `Of the driver ${this.pmd?.name ?? ""}: group 0 of transfer rules is table 1.`;
    const name = this.#free(madeName("to group 0"));
    this.draft.whileNeeded(() => {
      this.draft.push("rules", { name, description, table: root, actions: [{ table }] });
    });
    this.findings.explain(
      word.place,
      word.text,
      "group 0 of transfer rules is table 1: a rule of the root table leads there",
    );
  }

  #table(domain: Domain, vport: number, group: bigint, word: Word, isJump: boolean): string {
    const key = `${domain} ${vport} ${group}`;
    const known = this.#tables.get(key);
    if (known !== undefined) return known;
    if (group > MAX_GROUP) notImported(word, `a group is at most ${MAX_GROUP}`);
    const level = this.pmd?.level(domain, Number(group)) ?? Number(group);
    if (level === 0 && isJump) notImported(word, "no rule leads back to group 0");
    const name =
      level === 0
        ? this.draft.root(domain, vport)
        : this.draft.once("tables", {
            name: `${domain} group ${group}${vport === 0 ? "" : ` of vport ${vport}`}`,
            domain,
            ...ofFunction(vport),
            level,
          });
    this.#tables.set(key, name);
    if (domain === "fdb" && level > 0 && !this.#leads) {
      this.#leads = true;
      if (this.pmd?.level("fdb", 0) === 1) this.#leadToGroup0(word);
    }
    return name;
  }

  #write(rule: FlowRule, vport: number, walk: PatternWalk, plan: Plan, lacking: readonly string[]): ScenarioRule[] {
    const { name, domain, group, port, priority } = rule;
    const made: ScenarioRule[] = [];
    const first = {
      name,
      table: this.#table(domain, vport, group, port.word, false),
      level: this.pmd?.level(domain, Number(group)) ?? Number(group),
      priority: Number(priority.value),
      match: walk.match.toScenario(),
      notImported: lacking,
      ...plan.steps.body,
    };
    writeRule(first, {
      style: { listed: true },
      tableName: (_rule, _label, number) => `${name} step ${number + 2}`,
      table: (wanted, level) =>
        this.draft.once("tables", {
          name: this.draft.freeName("tables", wanted),
          domain,
          ...ofFunction(vport),
          level,
        }),
      rule: (one) => {
        const matcher = one.name === name ? this.#matcher(rule, first.table, walk) : undefined;
        const pushed = pushRule(this.draft, { ...one, matcher });
        made.push(pushed);
        if (this.pmd !== null && first.level === 0 && one.name === name)
          this.#rootEntries.add(pushed, port.word, this.findings.file);
      },
    });
    return made;
  }

  /** The matcher of a rule; undefined where the driver has the order of the text. */
  #matcher(rule: FlowRule, table: string, walk: PatternWalk): string | undefined {
    const pmd = this.#pmdOf(rule);
    if (pmd?.ordersMasks !== true) return undefined;
    const facts: PmdRule = {
      domain: rule.domain,
      group: Number(rule.group),
      priority: Number(rule.priority.value),
      items: rule.items.map(({ name }) => name),
      rssLevel: Number(rule.actions.find(({ rss }) => rss !== undefined)?.rss?.level ?? 0n),
    };
    const because = (): string => pmd.because(facts);
    return this.#matchers.of(table, pmd.priority(facts), walk.match.maskKey, because, rule.port.word);
  }

  #queue(vport: number, port: bigint, index: number): string {
    return this.draft.queue(vport === 0 ? `queue ${index}` : `port ${port} queue ${index}`, vport);
  }

  /** Without `flow isolate` the driver delivers what no rule takes: testpmd makes ports promiscuous. */
  #deliverTheRest(vport: number, { port, word, file, queues, isTemplated }: Receiver): void {
    const pmd = isTemplated ? templatePmd(this.pmd) : this.pmd;
    if (pmd === null) return;
    const queue = (index: number): string => this.#queue(vport, port, index);
    const number = Math.min(MAX_SPREAD, this.settings.queues ?? Math.min(MAX_GUESSED, queues));
    this.draft.file = file;
    const { line, column } = word.place;
    this.draft.neededFor({ file, line, column, text: `port ${port}` });
    const fates = controlFates(number, word, { draft: this.draft, queue });
    const [only] = fates;
    this.draft.push("rules", {
      name: this.#free(receiverName(`port ${port}`)),
      description: `Of the driver ${pmd.name}: the port is promiscuous, as testpmd makes it, and not isolated.`,
      table: this.draft.root("nic_rx", vport),
      priority: pmd.controlPriority,
      actions: [fates.length === 1 && only !== undefined ? only.action : { table: this.#spread(vport, fates) }],
    });
    this.findings.explain(word.place, `port ${port}`, `frames that no rule takes go to its queues, 0 to ${number - 1}`);
  }

  /** Adds the rules of the driver, and removes what only rules that are gone needed. */
  finish(): void {
    for (const [vport, receiver] of this.receivers.open) this.#deliverTheRest(vport, receiver);
    this.#matchers.finish();
    this.#rootEntries.tell(new Set(this.draft.list("rules")), this.findings);
    for (const { udpPort, word, file } of this.#atPorts) {
      const ports = this.draft.vxlanPorts;
      if (ports.includes(udpPort)) continue;
      this.findings.file = file;
      const reason = `the device reads it on UDP port ${ports.join(" or ")}, not ${udpPort}; this would register the port: ${vxlanDevice(udpPort)}`;
      this.findings.assume(word.place, word.text, reason);
    }
  }

  /** A table that spreads frames; rules that spread alike share it. */
  #spread(vport: number, fates: readonly Fate[]): string {
    const key = `${vport} ${JSON.stringify(fates)}`;
    const known = this.#spreads.get(key);
    if (known !== undefined) return known;
    const name = this.draft.freeName("tables", `rss ${this.#spreads.size + 1}`);
    this.draft.push("tables", { name, ...ofFunction(vport), level: 1 });
    this.draft.whileNeeded(() => {
      for (const { match, suffix, action } of fates) {
        // A fate of fewer terms is for what the others leave.
        const priority = MAX_TERMS - Object.keys(match).length;
        const rule = this.#free(madeName(`${name}${suffix}`));
        this.draft.push("rules", { name: rule, table: name, priority, match, actions: [action] });
      }
    });
    this.#spreads.set(key, name);
    return name;
  }

  #free(name: string): string {
    return this.draft.freeName("rules", name);
  }
}

function destination(endpoint: Endpoint): RuleAction {
  if ("vport" in endpoint) return { vport: endpoint.vport };
  return endpoint.port === 1 ? { vport: "uplink" } : { port: endpoint.port };
}
