/**
 * Actions that belong to a domain (mlx5dv_dr(3): Destination, Array, Packet Reformat, Modify
 * Header).
 */
import { MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL } from "../../abi/mlx5dv.js";
import { Op, VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import { createRecord } from "../../engine/records.js";
import { refuse, type ErrnoName } from "../../errors.js";
import { Action, type OwnRecord } from "./action.js";
import { connectionMisfit, meaningMisfit, ownerMisfit, type Misfit } from "./placement.js";
import { arrayMembers, arrayRecord, type DestAttr } from "./destArray.js";
import { Domain, Table } from "../table/domain.js";
import { rangeText, unsigned } from "../../base/checks.js";
import { living } from "../base/handle.js";
import { programOfWords, wordsOf, type ActionSetting, type ModifyActions } from "./modifyHeader.js";
import { encapsulates, reformatRecord } from "./reformat.js";
import { rootRecord } from "../table/steeringAnchor.js";

/** Goes to the root table, from the first rule of a priority on. */
export function rootTableAction(table: Table, priority: number): Action {
  const { device, domain, classifier } = living("table", table, Table);
  if (!table.isRoot) {
    const hint = "a table of level 0; dest_table leads to others";
    refuse({ code: "EINVAL", reason: "not_root_table", path: "table", value: table, hint });
  }
  unsigned("priority", priority, 16);
  const { lastPriority } = device.profile.flows;
  if (priority > lastPriority) {
    const hint = `0 to ${lastPriority}`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "priority", value: priority, hint });
  }
  return new Action(device, "dest_root_table", {
    step: "end",
    op: Op.root,
    domain,
    holds: [table],
    ...recordIn(domain, rootRecord(classifier, priority)),
  });
}

/** Goes to a function, or out of the port at which the frame arrived. */
export function vportAction(domain: Domain, vport: number): Action {
  const { device } = eSwitchOf(domain);
  const { vports } = device;
  const known = unsigned("vport", vport, 32) <= vports || vport === VPORT_UPLINK;
  if (!known) {
    const functions = vports === 0 ? `${VPORT_MANAGER}` : `0 to ${vports}`;
    const hint = `${functions}, or 0xffff for the port that the frame came from`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "vport", value: vport, hint });
  }
  return new Action(device, "dest_vport", { step: "end", op: Op.vport, operand: vport, domain });
}

/** Goes out of a port. */
export function portAction(domain: Domain, port: number): Action {
  const { device } = eSwitchOf(domain);
  if (unsigned("ib_port", port, 32) < 1 || port > device.ports) {
    const hint = rangeText(1, device.ports);
    refuse({ code: "EINVAL", reason: "out_of_range", path: "ib_port", value: port, hint });
  }
  return new Action(device, "dest_ib_port", { step: "end", op: Op.port, operand: port, domain });
}

/** Encapsulates or decapsulates. `data_sz` undefined means all of `data`. */
export function reformatAction(
  domain: Domain,
  flags: number,
  type: number,
  data_sz: number | undefined,
  data: Uint8Array | null | undefined,
): Action {
  const setting = settingOf(domain, flags);
  const record = reformatRecord(setting, type, data, data_sz);
  return new Action(domain.device, "packet_reformat", {
    step: encapsulates(type) ? "encap" : "decap",
    op: Op.reformat,
    domain,
    rootLevel: setting.rootLevel,
    reformatType: type,
    holds: [domain],
    ...recordIn(domain, record),
  });
}

/** Changes headers and registers. `actions_sz` counts bytes; undefined means all of them. */
export function modifyAction(
  domain: Domain,
  flags: number,
  actions_sz: number | undefined,
  actions: ModifyActions,
): Action {
  const setting = settingOf(domain, flags);
  const words = wordsOf(actions, actions_sz);
  const program = programOfWords(setting, words);
  return new Action(domain.device, "modify_header", {
    step: "modify",
    op: Op.modify,
    domain,
    rootLevel: setting.rootLevel,
    holds: [domain],
    words: new Uint8Array(words.buffer, words.byteOffset, words.byteLength),
    ...recordIn(domain, program),
  });
}

/** Sends a copy of the frame to each member. `num_dest` undefined means all of `dests`. */
export function arrayAction(domain: Domain, num_dest: number | undefined, dests: readonly DestAttr<Action>[]): Action {
  const setting = settingOf(domain, 0);
  if (setting.rootOnly) refuseRootOnly(domain);
  const members = arrayMembers(setting, num_dest, dests, {
    take: (path, value) => living<Action>(path, value, Action),
    fits: (path, action) => checkMember(path, action, domain),
  });
  const actions = members.flatMap(({ dest, reformat }) => (reformat === null ? [dest] : [dest, reformat]));
  return new Action(domain.device, "dest_array", {
    step: "end",
    op: Op.array,
    domain,
    holds: [domain, ...actions],
    ...recordIn(domain, arrayRecord(members)),
  });
}

/** Refuses an action that does not fit the domain. */
function checkMember(path: string, action: Action, domain: Domain): void {
  const refuseFor = (code: ErrnoName, misfit: Misfit | undefined): void => {
    if (misfit !== undefined) refuse({ ...misfit, code, path, value: action });
  };
  refuseFor("EINVAL", ownerMisfit(action, domain));
  refuseFor("EBUSY", connectionMisfit(action, domain));
  refuseFor("EINVAL", meaningMisfit(action, domain));
}

interface Setting extends ActionSetting {
  readonly rootLevel: boolean;
  readonly rootOnly: boolean;
}

function settingOf(domain: Domain, flags: number): Setting {
  const { device, type, rootOnly } = living("domain", domain, Domain);
  if (unsigned("flags", flags, 32) > MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL) {
    const hint = "MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, or 0";
    refuse({ code: "EINVAL", reason: "out_of_range", path: "flags", value: flags, hint });
  }
  const { root, other } = device.profile.rules;
  const rootLevel = flags === MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL;
  return { domainType: type, refuses: (rootLevel ? root : other).headers, rootLevel, rootOnly };
}

/** Whether the domain is an FDB domain with all its tables. */
function eSwitchOf(domain: Domain): Domain {
  living("domain", domain, Domain);
  if (domain.type !== "fdb") {
    const hint = "MLX5DV_DR_DOMAIN_TYPE_FDB has destinations of this kind";
    const cite = "mlx5dv_dr: Destination";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "domain", value: domain, hint, cite });
  }
  if (domain.rootOnly) refuseRootOnly(domain);
  return domain;
}

function refuseRootOnly(domain: Domain): never {
  const hint = "the eSwitch is managed by the PF";
  return refuse({ code: "EOPNOTSUPP", reason: "root_only", path: "domain", value: domain, hint });
}

/** Puts the record of an action into the core. @throws ENOMEM */
function recordIn(
  { device }: Domain,
  record: Uint8Array,
): { readonly operand: number; readonly records: readonly OwnRecord[] } {
  const address = device.allocated(createRecord(device.core, record));
  return { operand: address, records: [{ address, bytes: record.length }] };
}
