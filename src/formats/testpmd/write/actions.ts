/** What a rule does, as testpmd's actions, in the order in which the device executes its own. */
import { inCall, SteeringError } from "../../../errors.js";
import type { Scenario, ScenarioRuleAction } from "../../../scenario/index.js";
import { reformatOf } from "../../../scenario/action/headerBytes.js";
import { NotExported } from "../../writing/terms.js";
import { registerOfMeta } from "../fields/metadata.js";
import { changeText } from "./changes.js";
import type { Pattern } from "./pattern.js";
import { itemsOf } from "./rawHeaders.js";
import { rssText } from "./rss.js";

type Written = Exclude<ScenarioRuleAction, string>;

export interface ActionsPlace {
  readonly scenario: Scenario;
  readonly domain: "nic_rx" | "nic_tx" | "fdb";
  readonly isRoot: boolean;
  readonly pattern: Pattern;
  /** The number of the group of a table. */
  readonly group: (table: string) => number;
  /** The number of a queue on its port. */
  readonly queue: (name: string) => number;
  /** Whether another rule counts on it too. */
  readonly isShared: (counter: string) => boolean;
}

export interface ActionsText {
  /** Commands before the rule. */
  readonly before: readonly string[];
  readonly text: string;
}

/** @throws NotExported */
export function actionsText(actions: readonly ScenarioRuleAction[], place: ActionsPlace): ActionsText {
  const writer = new Writer(place);
  const all = actions.map((action) => resolved(action, place.scenario));
  for (const key of ORDER) {
    for (const action of all) if (keyOf(action) === key) writer.add(action, key);
  }
  writer.finish();
  return { before: writer.before, text: [...writer.parts, "end"].join(" / ") };
}

const ORDER = [
  ...["decapsulate", "tag", "pop_vlan", "modify", "push_vlan", "count", "encapsulate", "flow_sampler"],
  ...["drop", "queue", "tir", "table", "vport", "port", "default_miss", "other"],
];

function resolved(action: ScenarioRuleAction, { actions = [] }: Scenario): ScenarioRuleAction {
  if (typeof action === "string" || action.action === undefined) return action;
  const shared = actions.find(({ name }) => name === action.action);
  if (shared === undefined || action.modify_aso !== undefined)
    throw new NotExported("testpmd makes no ASO objects of its own");
  const { name: _name, drop, default_miss: miss, pop_vlan: pop, ...rest } = shared;
  if (drop === true) return "drop";
  if (miss === true) return "default_miss";
  return pop === true ? "pop_vlan" : rest;
}

function keyOf(action: ScenarioRuleAction): string {
  if (typeof action === "string") return ORDER.includes(action) ? action : "other";
  if (action.reformat !== undefined) {
    return /^l[23]_tunnel_to_l2$/.test(action.reformat.type) ? "decapsulate" : "encapsulate";
  }
  return ORDER.find((key) => key in action) ?? "other";
}

class Writer {
  readonly before: string[] = [];
  readonly parts: string[] = [];
  #ends = false;

  constructor(readonly place: ActionsPlace) {}

  add(action: ScenarioRuleAction, key: string): void {
    if (action === "drop") this.#end("drop");
    else if (action === "pop_vlan") this.parts.push("of_pop_vlan");
    else if (action === "default_miss") this.#miss();
    else if (typeof action === "string") throw new NotExported(`testpmd has no equal of ${String(action)} here`);
    else this.#object(action, key);
  }

  /** A rule that nothing ends. */
  finish(): void {
    const { domain, isRoot } = this.place;
    if (this.#ends || domain === "nic_tx") return;
    if (domain === "nic_rx") this.parts.push("drop");
    else throw new NotExported(`testpmd has no rule that ends without a destination${isRoot ? " in group 0" : ""}`);
  }

  #miss(): void {
    if (this.place.domain !== "nic_tx") throw new NotExported("testpmd has no default miss");
    this.#ends = true;
  }

  #end(text: string): void {
    this.parts.push(text);
    this.#ends = true;
  }

  #object(action: Written, key: string): void {
    const { place } = this;
    if (action.reformat !== undefined) this.#reformat(action.reformat);
    else if (action.tag !== undefined) this.parts.push(`mark id ${action.tag}`);
    else if (action.modify !== undefined) {
      const meta = registerOfMeta(place.domain);
      this.parts.push(...action.modify.map((change) => changeText(change, place.pattern.version, meta)));
    } else if (action.push_vlan !== undefined) this.#push(action.push_vlan);
    else if (action.count !== undefined) this.#count(action);
    else if (action.queue !== undefined) this.#end(`queue index ${place.queue(action.queue)}`);
    else if (action.tir !== undefined) this.#end(rssText(action.tir, place.scenario, place.pattern, place.queue));
    else if (action.table !== undefined && action.priority === undefined) {
      this.#end(`jump group ${place.group(action.table)}`);
    } else if (action.vport !== undefined) this.#end(portText(action.vport));
    else if (action.port !== undefined) {
      if (action.port !== 1 || (place.scenario.device?.ports ?? 1) > 1)
        throw new NotExported("testpmd port 0 is the only port");
      this.#end(portText("uplink"));
    } else if (action.flow_sampler !== undefined) this.#sample(action.flow_sampler);
    else
      throw new NotExported(`testpmd has no equal of ${key === "other" ? Object.keys(action).join(", ") : key} here`);
  }

  #count({ count = "", offset = 0 }: Written): void {
    if (offset !== 0 || this.place.isShared(count))
      throw new NotExported("testpmd counts each rule on a counter of its own");
    this.parts.push("count");
  }

  #push({ tpid = "0x8100", pcp = 0, dei = false, vid = 0 }: NonNullable<Written["push_vlan"]>): void {
    if (dei) throw new NotExported("testpmd does not set the DEI bit of a tag");
    this.parts.push(
      `of_push_vlan ethertype ${tpid}`,
      `of_set_vlan_vid vlan_vid ${vid}`,
      `of_set_vlan_pcp vlan_pcp ${pcp}`,
    );
  }

  #reformat(reformat: NonNullable<Written["reformat"]>): void {
    const items = (): string => itemsOf(bytesOf(reformat));
    switch (reformat.type) {
      case "l2_tunnel_to_l2":
        if (this.place.pattern.tunnel === "vxlan") this.parts.push("vxlan_decap");
        else this.#raw("decap", 1, "eth / ipv4 / gre");
        break;
      case "l3_tunnel_to_l2":
        this.#raw("decap", 1, "eth / ipv4 / gre");
        this.#raw("encap", 1, items());
        break;
      case "l2_to_l3_tunnel":
        this.#raw("decap", 0, "eth");
        this.#raw("encap", 0, items());
        break;
      case "l2_to_l2_tunnel":
        this.#raw("encap", 0, items());
    }
  }

  #raw(kind: "encap" | "decap", index: number, items: string): void {
    this.before.push(`set raw_${kind} ${index} ${items} / end_set`);
    this.parts.push(`raw_${kind} index ${index}`);
  }

  #sample(sampler: NonNullable<Written["flow_sampler"]>): void {
    if (sampler.action !== undefined) throw new NotExported("testpmd does not change frames after a sample");
    const parts = sampler.sample_actions.map((one) => this.#sampleAction(one));
    this.before.push(`set sample_actions 0 ${[...parts, "end"].join(" / ")}`);
    this.parts.push(`sample ratio ${sampler.sample_ratio} index 0`);
    this.#end(`jump group ${this.place.group(sampler.default_next_table)}`);
  }

  #sampleAction(action: NonNullable<Written["flow_sampler"]>["sample_actions"][number]): string {
    if (typeof action === "object") {
      if (action.tag !== undefined) return `mark id ${action.tag}`;
      if (action.queue !== undefined) return `queue index ${this.place.queue(action.queue)}`;
      if (action.vport !== undefined && action.vport !== 0) return portText(action.vport);
    }
    throw new NotExported("samples of testpmd go to a queue or a port");
  }
}

function bytesOf(reformat: NonNullable<Written["reformat"]>): Uint8Array {
  try {
    return inCall("exportRules", () => reformatOf("reformat", reformat)).data ?? new Uint8Array();
  } catch (error) {
    if (error instanceof SteeringError) throw new NotExported(error.message);
    throw error;
  }
}

function portText(vport: number | "uplink"): string {
  if (vport === 0) return "port_representor port_id 0";
  return `represented_port ethdev_port_id ${vport === "uplink" || vport === 0xffff ? 0 : vport}`;
}
