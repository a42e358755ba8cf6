/** Writes rules into tables: a group is a table, the steps of a rule after the first one are too. */
import type { ScenarioRule } from "../../../scenario/rule/definition.js";
import { ofFunction, type Draft, type Endpoint } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { RuleAction } from "../../rules/importRule.js";
import { pushRule, writeRule } from "../../rules/planner.js";
import { notImported, type Word } from "../../text/refusal.js";
import { Plan } from "./actions/plan.js";
import type { Action } from "./actions/read.js";
import type { Fate } from "./actions/steps.js";
import { matchOf } from "./pattern/match.js";
import type { PatternWalk } from "./pattern/walk.js";
import type { Item } from "./pattern/read.js";
import { sourcePort, type Ports } from "./ports.js";
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
}

const MAX_PRIORITY = 0xffffn;
/** Groups are levels; steps of a rule need levels above. */
const MAX_GROUP = 0xfffffff0n;

export class Rules {
  readonly #tables = new Map<string, string>();
  readonly #spreads = new Map<string, string>();
  #ofPort = false;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly ports: Ports,
    private readonly settings: Settings,
  ) {}

  /**
   * @returns the rules that it becomes, without those of tables that it shares with others
   * @throws NotImported if it cannot be carried over at all
   */
  add(rule: FlowRule): ScenarioRule[] {
    const { priority, port, domain } = rule;
    if (priority.value > MAX_PRIORITY) notImported(priority.word, `a priority is at most ${MAX_PRIORITY}`);
    const vport = domain === "fdb" ? 0 : this.ports.functionOf(port.number, port.word);
    const assume = (word: Word, reason: string): void => this.findings.assume(word.place, word.text, reason);
    const walk = matchOf(rule.items, {
      domain,
      assume,
      sourceOf: (number, word) => sourcePort(this.ports.of(number ?? port.number, word)),
      option: (optionClass, type, word) => {
        if (!this.draft.geneveOption({ class: Number(optionClass), type: Number(type) })) {
          notImported(word, "the device matches one Geneve option; another rule matches another one");
        }
      },
    });
    if (walk.match.contradicts)
      notImported(rule.port.word, "two items ask for different values of one field: no frame has both");
    if (domain === "fdb" && !walk.hasPort) this.#askPort(rule, walk, assume);
    const lacking: string[] = [];
    const plan = this.#plan(rule, vport, walk, assume, lacking);
    return this.#write(rule, vport, walk, plan, lacking);
  }

  /** As the mlx5 driver does, a transfer rule has the frames of its port, unless it names one. */
  #askPort({ port }: FlowRule, walk: PatternWalk, assume: (word: Word, reason: string) => void): void {
    walk.match.ask("misc.source_port", sourcePort(this.ports.of(port.number, port.word)));
    if (this.#ofPort) return;
    this.#ofPort = true;
    assume(port.word, "a transfer rule without a port item has the frames of its own port, as the mlx5 driver does");
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
      assume,
      lack,
      queue: (index) => this.draft.queue(vport === 0 ? `queue ${index}` : `port ${port.number} queue ${index}`, vport),
      table: (group, word) => this.#table(domain, vport, group, word, true),
      spread: (fates) => this.#spread(vport, fates),
      destination: (number, word) => destination(this.ports.of(number, word)),
    });
    if (plan.steps.end === undefined && domain !== "nic_tx") {
      const word = plan.passes ?? { text: "actions", place: port.word.place };
      lack(word, "no action ends the rule: DPDK goes on with rules of lower priority, which the device does not");
      plan.steps.end = "default_miss";
    }
    return plan;
  }

  #table(domain: Domain, vport: number, group: bigint, word: Word, isJump: boolean): string {
    const key = `${domain} ${vport} ${group}`;
    const known = this.#tables.get(key);
    if (known !== undefined) return known;
    if (group > MAX_GROUP) notImported(word, `a group is at most ${MAX_GROUP}`);
    if (group === 0n && isJump) notImported(word, "no rule leads back to group 0");
    const name =
      group === 0n
        ? this.draft.root(domain, vport)
        : this.draft.once("tables", {
            name: `${domain} group ${group}${vport === 0 ? "" : ` of vport ${vport}`}`,
            domain,
            ...ofFunction(vport),
            level: Number(group),
          });
    this.#tables.set(key, name);
    return name;
  }

  #write(rule: FlowRule, vport: number, walk: PatternWalk, plan: Plan, lacking: readonly string[]): ScenarioRule[] {
    const { name, domain, group, port, priority } = rule;
    const made: ScenarioRule[] = [];
    const first = {
      name,
      table: this.#table(domain, vport, group, port.word, false),
      level: Number(group),
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
      rule: (one) => void made.push(pushRule(this.draft, one)),
    });
    return made;
  }

  /** A table that spreads frames; rules that spread alike share it. */
  #spread(vport: number, fates: readonly Fate[]): string {
    const key = `${vport} ${JSON.stringify(fates)}`;
    const known = this.#spreads.get(key);
    if (known !== undefined) return known;
    const name = this.draft.freeName("tables", `rss ${this.#spreads.size + 1}`);
    this.draft.push("tables", { name, ...ofFunction(vport), level: 1 });
    for (const { match, suffix, action } of fates) {
      this.draft.push("rules", { name: this.#free(`${name}${suffix}`), table: name, match, actions: [action] });
    }
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
