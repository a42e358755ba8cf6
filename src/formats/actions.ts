/**
 * The actions of a scenario. A document says what an action does; the device has it once for all rules, or, where it is made
 * in a domain, once for each domain and level whose rules have it.
 */
import { VPORT_UPLINK } from "../abi/engine.js";
import { refuse } from "../errors.js";
import { Action } from "../model/action.js";
import type { FlowCounter } from "../model/counter.js";
import { DEST, DEST_REFORMAT, type DestAttr } from "../model/destArray.js";
import type { Device } from "../model/device.js";
import type { Domain, Table } from "../model/domain.js";
import {
  arrayAction,
  modifyAction,
  portAction,
  reformatAction,
  rootTableAction,
  vportAction,
} from "../model/domainActions.js";
import type {
  InlineAction,
  ScenarioAction,
  ScenarioMember,
  ScenarioMemberObject,
  ScenarioVlanTag,
} from "./actionDocument.js";
import { reformatOf } from "./headerBytes.js";
import { headerChanges } from "./headerChanges.js";
import { at, type PlaceOf } from "./place.js";
import type { LoadedQueue } from "./queue.js";
import { below } from "./schema.js";

const CALL = "loadScenario";
const ROOT_LEVEL = 1;

/** What actions lead to and count on. */
export interface ActionTargets {
  readonly device: Device;
  readonly queues: ReadonlyMap<string, LoadedQueue>;
  readonly counters: ReadonlyMap<string, FlowCounter>;
  readonly tables: ReadonlyMap<string, Table>;
}

/** Where an action stands. */
interface Standing {
  readonly domain: Domain;
  readonly isRoot: boolean;
}

/** An action as it is written, without its name. */
type Written = Partial<Omit<ScenarioAction, "name">>;

export class ScenarioActions {
  readonly #targets: ActionTargets;
  readonly #shared = new Map<string, { readonly written: Written; readonly path: string }>();
  /** By who has them, and by what they say: equal ones are one. */
  readonly #made = new Map<Domain | null, Map<string, Action>>();

  constructor(targets: ActionTargets, shared: readonly ScenarioAction[]) {
    this.#targets = targets;
    shared.forEach(({ name, ...written }, i) => {
      const path = below("actions", i);
      this.#shared.set(name, { written, path });
      if (isOfDevice(written)) this.#named(name, null);
      else check(path, written);
    });
  }

  /** An action of a rule of this table. */
  inRule(path: string, action: InlineAction, { domain, isRoot }: Table): Action {
    return this.#action(path, action, { domain, isRoot });
  }

  #action(path: string, action: InlineAction, standing: Standing): Action {
    if (typeof action === "object" && action.action !== undefined) return this.#named(action.action, standing);
    const written: Written = typeof action === "string" ? { [action]: true } : action;
    return this.#once(JSON.stringify(written), written, path, standing);
  }

  #named(name: string, standing: Standing | null): Action {
    const shared = this.#shared.get(name);
    if (shared === undefined) throw new Error(`${CALL}: no action ${name} is in the document that was checked`);
    return this.#once(`name ${name}`, shared.written, shared.path, standing);
  }

  #once(key: string, written: Written, path: string, standing: Standing | null): Action {
    const owner = isOfDevice(written) ? null : (standing?.domain ?? null);
    const level = owner === null ? "" : standing?.isRoot === true ? "root " : "other ";
    const actions = this.#made.get(owner) ?? new Map<string, Action>();
    this.#made.set(owner, actions);
    let action = actions.get(level + key);
    if (action === undefined) {
      action =
        standing === null || owner === null ? this.#ofDevice(path, written) : this.#inDomain(path, written, standing);
      actions.set(level + key, action);
    }
    return action;
  }

  #ofDevice(path: string, written: Written): Action {
    const { device, queues, counters, tables } = this.#targets;
    const { drop, default_miss, pop_vlan, tag, count, queue, table = "", priority, push_vlan } = written;
    const make = (): Action => {
      if (drop !== undefined) return Action.drop();
      if (default_miss !== undefined) return Action.defaultMiss();
      if (pop_vlan !== undefined) return Action.popVlan();
      if (tag !== undefined) return Action.tag(CALL, tag);
      if (push_vlan !== undefined) return Action.pushVlan(CALL, device, vlanHeader(push_vlan));
      if (count !== undefined) return Action.count(CALL, get(counters, count), 0);
      if (queue !== undefined) return Action.toQueue(CALL, get(queues, queue).queue);
      const to = get(tables, table);
      return priority === undefined ? Action.toTable(CALL, to) : rootTableAction(CALL, to, priority);
    };
    return at(CALL, path, make);
  }

  #inDomain(path: string, written: Written, { domain, isRoot }: Standing): Action {
    const { vport, port, array, reformat, modify = [] } = written;
    const flags = isRoot ? ROOT_LEVEL : 0;
    if (vport !== undefined) {
      const number = vport === "uplink" ? VPORT_UPLINK : vport;
      return at(CALL, path, () => vportAction(CALL, domain, number), ofDomain);
    }
    if (port !== undefined) return at(CALL, path, () => portAction(CALL, domain, port), ofDomain);
    if (array !== undefined) return this.#array(`${path}.array`, array, domain);
    if (reformat !== undefined) {
      const { type, data } = reformatOf(CALL, `${path}.reformat`, reformat);
      const place: PlaceOf = (inner) => `.reformat${reformatPlace(inner, reformat.headers !== undefined)}`;
      return at(CALL, path, () => reformatAction(CALL, domain, flags, type, undefined, data), place);
    }
    const { actions, placeOf } = headerChanges(CALL, `${path}.modify`, modify);
    const place: PlaceOf = (inner) => `.modify${placeOf(inner)}`;
    return at(CALL, path, () => modifyAction(CALL, domain, flags, undefined, actions), place);
  }

  /** Members have what is made for tables that are not root. */
  #array(path: string, members: readonly ScenarioMember[], domain: Domain): Action {
    const standing = { domain, isRoot: false };
    const dests = members.map((member, i): DestAttr<Action> => {
      const here = below(path, i);
      const { reformat, ...written }: ScenarioMemberObject = typeof member === "string" ? { [member]: true } : member;
      this.#checkMember(here, written.action);
      const dest = this.#action(here, written, standing);
      if (reformat === undefined) return { type: DEST, dest };
      const first: InlineAction = typeof reformat === "string" ? { action: reformat } : { reformat };
      return { type: DEST_REFORMAT, dest_reformat: { reformat: this.#action(here, first, standing), dest } };
    });
    return at(CALL, path, () => arrayAction(CALL, domain, undefined, dests), arrayPlace);
  }

  /** An array could name itself. */
  #checkMember(path: string, name: string | undefined): void {
    if (name === undefined || this.#shared.get(name)?.written.array === undefined) return;
    const hint = "an array is no member of an array";
    refuse({ code: "EOPNOTSUPP", call: CALL, reason: "bad_action_list", path: `${path}.action`, value: name, hint });
  }
}

/** Whether rules of all domains can have it, or those of the domain that it leads to. */
function isOfDevice({ vport, port, array, reformat, modify }: Written): boolean {
  return [vport, port, array, reformat, modify].every((one) => one === undefined);
}

/** Reads what may be wrong in an action that no rule has. */
function check(path: string, { reformat, modify, array = [] }: Written): void {
  if (reformat !== undefined) reformatOf(CALL, `${path}.reformat`, reformat);
  if (modify !== undefined) headerChanges(CALL, `${path}.modify`, modify);
  array.forEach((member, i) => {
    if (typeof member === "string" || typeof member.reformat !== "object") return;
    reformatOf(CALL, `${below(`${path}.array`, i)}.reformat`, member.reformat);
  });
}

function vlanHeader({ tpid = "0x8100", pcp = 0, dei = false, vid = 0 }: ScenarioVlanTag): number {
  return Number(tpid) * 0x10000 + pcp * 0x2000 + (dei ? 0x1000 : 0) + vid;
}

/** Of destinations that only some domains have: where the domain is wrong, the action is. */
const ofDomain: PlaceOf = (inner) => (inner === "domain" ? "" : inner === "ib_port" ? ".port" : `.${inner}`);

/** Where in a reformat of a document a place of the model is. */
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

function get<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`${CALL}: ${name} is not in the document that was checked`);
  return value;
}
