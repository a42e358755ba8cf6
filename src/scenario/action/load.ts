/**
 * Makes the actions of a scenario. The document describes an action once. The device has it once
 * for all rules or, where it belongs to a domain, once for each domain and level whose rules use
 * it.
 */
import {
  MLX5DV_DR_ACTION_DEST,
  MLX5DV_DR_ACTION_DEST_REFORMAT,
  MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL,
} from "../../abi/mlx5dv.js";
import { VPORT_UPLINK } from "../../abi/engine.js";
import { parseJson } from "../../base/json.js";
import { inCall, refuse } from "../../errors.js";
import { Action } from "../../model/action/action.js";
import { FlowMeterAction } from "../../model/action/asoActions.js";
import type { AsoObject } from "../../model/action/asoObject.js";
import type { FlowCounter } from "../../model/action/counter.js";
import type { DestAttr } from "../../model/action/destArray.js";
import type { Domain, Table } from "../../model/table/domain.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import type { Tir } from "../../model/queuePair/tir.js";
import {
  arrayAction,
  modifyAction,
  portAction,
  reformatAction,
  rootTableAction,
  vportAction,
} from "../../model/action/domainActions.js";
import type { ScenarioRuleAction, ScenarioAction, ScenarioVlanTag } from "./definition.js";
import type { ScenarioArrayMember, ScenarioArrayMemberObject } from "./destinations.js";
import type { ScenarioDomains } from "../device/domains.js";
import { reformatOf } from "./headerBytes.js";
import { headerChanges } from "./headerChanges.js";
import { changesIn, type RuleMatch } from "./ipVersion.js";
import { at, type PlaceOf } from "../place.js";
import type { LoadedQueue } from "../queue/load.js";
import { attempt, made, type Report } from "../report.js";
import { below } from "../schema/path.js";
import { refersTo, type Gone } from "../update/gone.js";
import { asoAction, flowMeterAction, flowSamplerAction, modifyAso } from "../state/actions.js";
import type { ScenarioFlowMeter, ScenarioFlowSampler } from "../state/definition.js";

/** Objects that actions lead to and count on. */
export interface ActionTargets {
  readonly domains: ScenarioDomains;
  readonly queues: ReadonlyMap<string, LoadedQueue>;
  readonly tirs: ReadonlyMap<string, Tir>;
  readonly counters: ReadonlyMap<string, FlowCounter>;
  readonly asoObjects: ReadonlyMap<string, AsoObject>;
  readonly tables: ReadonlyMap<string, Table>;
}

/** The place of an action. */
interface Standing {
  readonly domain: Domain;
  readonly isRoot: boolean;
}

/** An action as the document writes it, without its name. */
type Written = Partial<Omit<ScenarioAction, "name">>;

/** Made actions, by owner and text. */
export type MadeActions = Map<Domain | null, Map<string, Action>>;

export class ScenarioActions {
  readonly #targets: ActionTargets;
  readonly #shared = new Map<string, { readonly written: Written; readonly path: string }>();
  /** Equal actions are made once. */
  readonly made: MadeActions;
  /** What was made since `begin`: actions, members before what has them, and how `made` forgets each. */
  readonly #fresh: { readonly action: Action; readonly forget: () => void }[] = [];

  /** @param actions those that a snapshot has */
  constructor(
    targets: ActionTargets,
    shared: readonly ScenarioAction[],
    report: Report,
    actions: MadeActions = new Map(),
  ) {
    this.#targets = targets;
    this.made = actions;
    this.share(shared);
    for (const [name, { written, path }] of this.#shared) {
      attempt(report, () => (isOfDevice(written) ? this.#named(name, null) : check(path, written)));
    }
  }

  /** Sets the actions that documents share by name. Those that were made stay. */
  share(shared: readonly ScenarioAction[]): void {
    this.#shared.clear();
    shared.forEach(({ name, ...written }, i) => this.#shared.set(name, { written, path: below("actions", i) }));
  }

  /** Forgets the actions that the new document lacks or changes, and those that name such an object. @returns them */
  forget(gone: Gone): Set<Action> {
    const forgotten = new Set<Action>();
    for (const actions of this.made.values()) {
      for (const [key, action] of actions) {
        const text = key.replace(/^(root|other) /, "");
        const [, name] = /^name (.*)$/s.exec(text) ?? [];
        const goes = name === undefined ? refersTo(gone, parseJson(text) as Written) : gone.actions.has(name);
        if (!goes) continue;
        actions.delete(key);
        forgotten.add(action);
      }
    }
    return forgotten;
  }

  /** All actions that several rules may have. */
  shared(): Set<Action> {
    return new Set([...this.made.values()].flatMap((actions) => [...actions.values()]));
  }

  /** The shared flow meter of a name, and its text; undefined for any other action. */
  flowMeter(name: string): { action: FlowMeterAction; written: ScenarioFlowMeter } | undefined {
    const written = this.#shared.get(name)?.written.flow_meter;
    if (written === undefined) return undefined;
    const action = this.#named(name, null);
    return action instanceof FlowMeterAction ? { action, written } : undefined;
  }

  /** Begins to make the actions of a rule. */
  begin(): void {
    this.#fresh.length = 0;
  }

  /** Destroys the actions that were made since `begin`: the rule was refused. */
  takeBack(): void {
    inCall("loadScenario", () => {
      for (const { action, forget } of this.#fresh.splice(0).reverse()) {
        action.destroy();
        forget();
      }
    });
  }

  /** Destroys actions of a rule that is gone, if they are its own. */
  destroyOwn(actions: readonly Action[]): void {
    inCall("loadScenario", () => {
      const shared = this.shared();
      for (const action of actions) if (!shared.has(action) && action.users === 0) action.destroy();
    });
  }

  /** The action for a rule of this table that has this match. */
  inRule(path: string, action: ScenarioRuleAction, table: Table, match: RuleMatch): Action {
    const { domain, isRoot } = table;
    if (typeof action === "string" || action.modify === undefined)
      return this.#action(path, action, { domain, isRoot });
    const written = { ...action, modify: changesIn(action.modify, match, table) };
    return this.#action(path, written, { domain, isRoot });
  }

  #action(path: string, action: ScenarioRuleAction, standing: Standing): Action {
    if (typeof action === "object" && action.action !== undefined) {
      const named = this.#named(action.action, standing);
      if (action.modify_aso !== undefined) modifyAso(path, named, action.modify_aso);
      return named;
    }
    const written: Written = typeof action === "string" ? { [action]: true } : action;
    // A stateful action that is written in a rule has state of its own.
    if (written.flow_meter !== undefined || written.flow_sampler !== undefined) {
      const own = this.#ofDevice(path, written);
      this.#fresh.push({ action: own, forget: () => undefined });
      return own;
    }
    return this.#once(JSON.stringify(written), written, path, standing);
  }

  #named(name: string, standing: Standing | null): Action {
    const shared = this.#shared.get(name);
    if (shared === undefined) throw new Error(`loadScenario: no action ${name} is in the document that was checked`);
    return this.#once(`name ${name}`, shared.written, shared.path, standing);
  }

  #once(key: string, written: Written, path: string, standing: Standing | null): Action {
    const owner = isOfDevice(written) ? null : (standing?.domain ?? null);
    const levels = owner !== null && written.aso === undefined;
    const level = !levels ? "" : standing?.isRoot === true ? "root " : "other ";
    const found = this.made.get(owner)?.get(level + key);
    if (found !== undefined) return found;
    const action =
      standing === null || owner === null ? this.#ofDevice(path, written) : this.#inDomain(path, written, standing);
    // Its members may be the first of this owner.
    const actions = this.made.get(owner) ?? new Map<string, Action>();
    this.made.set(owner, actions);
    actions.set(level + key, action);
    const forget = (): void => {
      actions.delete(level + key);
      if (actions.size === 0) this.made.delete(owner);
    };
    this.#fresh.push({ action, forget });
    return action;
  }

  #ofDevice(path: string, written: Written): Action {
    const { domains, queues, tirs, counters, tables } = this.#targets;
    const { drop, default_miss, pop_vlan, tag, count, queue, tir, table = "", priority, push_vlan } = written;
    const { flow_meter, flow_sampler } = written;
    if (flow_meter !== undefined) return flowMeterAction(path, flow_meter, made(tables, flow_meter.next_table));
    if (flow_sampler !== undefined) return this.#sampler(path, flow_sampler);
    const make = (): Action => {
      if (drop !== undefined) return Action.drop();
      if (default_miss !== undefined) return Action.defaultMiss();
      if (pop_vlan !== undefined) return Action.popVlan();
      if (tag !== undefined) return Action.tag(tag);
      if (push_vlan !== undefined) return Action.pushVlan(domains.context().device, vlanHeader(push_vlan));
      if (count !== undefined) return Action.count(made(counters, count), written.offset ?? 0);
      if (queue !== undefined) return Action.toQueue(queuePair(queues, queue));
      if (tir !== undefined) return Action.toTir(made(tirs, tir));
      const to = made(tables, table);
      return priority === undefined ? Action.toTable(to) : rootTableAction(to, priority);
    };
    return at(path, make);
  }

  #inDomain(path: string, written: Written, { domain, isRoot }: Standing): Action {
    const { vport, port, array, reformat, aso, modify = [] } = written;
    const flags = isRoot ? MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL : 0;
    if (vport !== undefined) {
      const number = vport === "uplink" ? VPORT_UPLINK : vport;
      return at(path, () => vportAction(domain, number), ofDomain);
    }
    if (port !== undefined) return at(path, () => portAction(domain, port), ofDomain);
    if (array !== undefined) return this.#array(`${path}.array`, array, domain);
    if (aso !== undefined) {
      const { domains, asoObjects } = this.#targets;
      const { peer_dmn: peer } = aso;
      const home = peer === undefined ? domain : domains.domain(`${path}.aso.peer_dmn`, peer.domain, peer.function);
      return asoAction(path, aso, made(asoObjects, aso.object), domain, home);
    }
    if (reformat !== undefined) {
      const { type, data } = reformatOf(`${path}.reformat`, reformat);
      const place: PlaceOf = (inner) => `.reformat${reformatPlace(inner, reformat.headers !== undefined)}`;
      return at(path, () => reformatAction(domain, flags, type, undefined, data), place);
    }
    const { actions, placeOf } = headerChanges(`${path}.modify`, modify);
    const place: PlaceOf = (inner) => `.modify${placeOf(inner)}`;
    return at(path, () => modifyAction(domain, flags, undefined, actions), place);
  }

  /** Array members use actions made for tables that are not root. */
  #array(path: string, members: readonly ScenarioArrayMember[], domain: Domain): Action {
    const standing = { domain, isRoot: false };
    const dests = members.map((member, i): DestAttr<Action> => {
      const here = below(path, i);
      const { reformat, ...written }: ScenarioArrayMemberObject =
        typeof member === "string" ? { [member]: true } : member;
      this.#checkMember(here, written.action, "array");
      const dest = this.#action(here, written, standing);
      if (reformat === undefined) return { type: MLX5DV_DR_ACTION_DEST, dest };
      const first: ScenarioRuleAction = typeof reformat === "string" ? { action: reformat } : { reformat };
      return {
        type: MLX5DV_DR_ACTION_DEST_REFORMAT,
        dest_reformat: { reformat: this.#action(here, first, standing), dest },
      };
    });
    return at(path, () => arrayAction(domain, undefined, dests), arrayPlace);
  }

  /** Samples use actions made for tables that are not root. */
  #sampler(path: string, sampler: ScenarioFlowSampler): Action {
    const next = made(this.#targets.tables, sampler.default_next_table);
    const actions = sampler.sample_actions.map((one, i) => {
      const here = below(`${path}.flow_sampler.sample_actions`, i);
      if (typeof one === "object") this.#checkMember(here, one.action, "sampler");
      return this.#action(here, one, { domain: next.domain, isRoot: false });
    });
    return flowSamplerAction(path, sampler, next, actions);
  }

  /** Refuses an array or a sampler that contains itself. */
  #checkMember(path: string, name: string | undefined, of: "array" | "sampler"): void {
    const { array, flow_sampler } = (name === undefined ? undefined : this.#shared.get(name)?.written) ?? {};
    if (array === undefined && flow_sampler === undefined) return;
    const hint = `${array === undefined ? "a sampler" : "an array"} is no member of ${of === "array" ? "an array" : "a sampler"}`;
    refuse({ code: "EOPNOTSUPP", reason: "bad_action_list", path: `${path}.action`, value: name, hint });
  }
}

/** Whether rules of all domains may use it, or only those of the domain that it leads to. */
function isOfDevice({ vport, port, array, reformat, modify, aso }: Written): boolean {
  return [vport, port, array, reformat, modify, aso].every((one) => one === undefined);
}

/** Checks an action that no rule uses. */
function check(path: string, { reformat, modify, array = [] }: Written): void {
  if (reformat !== undefined) reformatOf(`${path}.reformat`, reformat);
  if (modify !== undefined) headerChanges(`${path}.modify`, modify);
  array.forEach((member, i) => {
    if (typeof member === "string" || typeof member.reformat !== "object") return;
    reformatOf(`${below(`${path}.array`, i)}.reformat`, member.reformat);
  });
}

/** TPID and TCI. */
export function vlanHeader({ tpid = "0x8100", pcp = 0, dei = false, vid = 0 }: ScenarioVlanTag): number {
  return Number(tpid) * 0x10000 + pcp * 0x2000 + (dei ? 0x1000 : 0) + vid;
}

/** A destination that only some domains have: where the domain is wrong, the action is refused. */
const ofDomain: PlaceOf = (inner) => (inner === "domain" ? "" : inner === "ib_port" ? ".port" : `.${inner}`);

/** Maps a path of the model to the reformat in the document. */
export function reformatPlace(inner: string, asHeaders: boolean): string {
  if (inner === "reformat_type") return ".type";
  if (inner === "data" || inner === "data_sz") return asHeaders ? ".headers" : ".data";
  return "";
}

function arrayPlace(inner: string): string {
  const [, number, rest] = /^dests\[(\d+)\](.*)$/.exec(inner) ?? [];
  if (number === undefined) return "";
  return below("", Number(number)) + (rest === ".dest_reformat.reformat" ? ".reformat" : "");
}

/** The queue that rules lead to. */
function queuePair(queues: ReadonlyMap<string, LoadedQueue>, name: string): QueuePair {
  const { queue } = made(queues, name);
  if (queue instanceof QueuePair) return queue;
  throw new Error(`loadScenario: ${name} is a work queue in the document that was checked`);
}
