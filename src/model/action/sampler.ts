/** The sampler action (mlx5dv_dr(3): Sampler; docs/state.md). */
import { ACTION_OPERAND, ACTION_OPERATION, ACTION_SIZE, Op } from "../../abi/engine.js";
import {
  INSTRUCTION_TO,
  INSTRUCTION_TYPE,
  MODIFY_SET,
  Place,
  PROGRAM_COUNT,
  PROGRAM_FIRST,
} from "../../abi/program.js";
import {
  SAMPLER_COUNT,
  SAMPLER_FIRST,
  SAMPLER_NUMBER,
  SAMPLER_PROGRAM,
  SAMPLER_RATIO,
  SAMPLER_TABLE,
} from "../../abi/state.js";
import { createRecord, releaseRecord } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { Action, type ActionKind } from "./action.js";
import { ownerMisfit } from "./placement.js";
import { Table } from "../table/domain.js";
import { checkArray, checkObject, member, rangeText, unsigned } from "../../base/checks.js";
import { living } from "../base/handle.js";
import { modifyProgram, type ModifyActions } from "./modifyHeader.js";

/** `struct mlx5dv_dr_flow_sampler_attr` */
export interface FlowSamplerAttr {
  /** Samples one of so many frames. */
  sample_ratio: number;
  default_next_table: Table;
  /** Actions on each sample. @default all */
  num_sample_actions?: number | undefined;
  sample_actions: readonly Action[];
  /**
   * One SET of METADATA_REG_C_0, as 8 big-endian bytes, a bigint or an object. 0 or undefined for
   * none.
   */
  action?: bigint | Uint8Array | ModifyActions | undefined;
}

/** The actions that a sample may have in each type of domain. */
const ALLOWED: Readonly<Record<"nic_rx" | "fdb", readonly ActionKind[]>> = {
  nic_rx: ["tag", "flow_counter", "dest_ibv_qp", "dest_devx_tir"],
  fdb: ["flow_counter", "dest_vport", "dest_ib_port", "default_miss"],
};

export function samplerAction(attr: FlowSamplerAttr): Action {
  checkObject("attr", attr);
  const ratio = member("attr.sample_ratio", attr.sample_ratio, 32);
  if (ratio === 0)
    refuse({ code: "EINVAL", reason: "out_of_range", path: "attr.sample_ratio", value: 0, hint: "1 or more" });
  const table = living("attr.default_next_table", attr.default_next_table, Table);
  const { device, domain } = table;
  if (domain.type === "nic_tx" || domain.rootOnly) {
    const hint = "samplers stand in NIC_RX and FDB";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "attr.default_next_table", value: table, hint });
  }
  if (table.isRoot) {
    const hint = "a table of level 1 or more";
    refuse({ code: "EINVAL", reason: "root_table", path: "attr.default_next_table", value: table, hint });
  }
  const actions = sampleActions(attr, table);
  const program = programOf(attr, table);
  const programAddress = program === null ? 0 : device.allocated(createRecord(device.core, program));
  const record = new DataView(new ArrayBuffer(SAMPLER_FIRST + actions.length * ACTION_SIZE));
  record.setUint32(SAMPLER_NUMBER, device.nextNumber("sampler", 0), true);
  record.setUint32(SAMPLER_RATIO, ratio, true);
  record.setUint32(SAMPLER_TABLE, table.classifier.table, true);
  record.setUint32(SAMPLER_PROGRAM, programAddress, true);
  record.setUint32(SAMPLER_COUNT, actions.length, true);
  for (const [i, { op, operand }] of actions.entries()) {
    record.setUint32(SAMPLER_FIRST + i * ACTION_SIZE + ACTION_OPERATION, op, true);
    record.setUint32(SAMPLER_FIRST + i * ACTION_SIZE + ACTION_OPERAND, operand, true);
  }
  const bytes = new Uint8Array(record.buffer);
  const address = createRecord(device.core, bytes);
  if (address === 0 && program !== null) releaseRecord(device.core, programAddress, program.length);
  const records = [{ address: device.allocated(address), bytes: bytes.length }];
  // What a sampler draws depends on its number: a call that is refused takes none.
  device.nextNumber("sampler");
  if (program !== null) records.push({ address: programAddress, bytes: program.length });
  return new Action(device, "flow_sampler", {
    step: "end",
    op: Op.sampler,
    operand: address,
    domain,
    holds: [domain, table, ...actions],
    levelBelow: table.level,
    records,
  });
}

/** In execution order: the actions on a sample, then its end. */
function sampleActions(attr: FlowSamplerAttr, { domain }: Table): Action[] {
  const { sample_actions: list, num_sample_actions: given } = attr;
  checkArray("attr.sample_actions", list);
  const count = unsigned("attr.num_sample_actions", given ?? list.length, 32);
  if (count === 0 || count > list.length) {
    const hint = list.length === 0 ? "a sample goes somewhere" : rangeText(1, list.length);
    refuse({ code: "EINVAL", reason: "out_of_range", path: "attr.num_sample_actions", value: count, hint });
  }
  const kinds = ALLOWED[domain.type === "fdb" ? "fdb" : "nic_rx"];
  const { sampleCounterInFdb } = domain.device.profile.rules.other.headers;
  const actions = (list as readonly unknown[]).slice(0, count).map((one, i) => {
    const path = `attr.sample_actions[${i}]`;
    const action = living<Action>(path, one, Action);
    if (!kinds.includes(action.kind)) {
      const hint = `in ${domain.type}: ${kinds.join(", ")}`;
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: action, hint });
    }
    if (sampleCounterInFdb !== undefined && domain.type === "fdb" && action.kind === "flow_counter") {
      const hint = "samples of the FDB have no counter";
      refuse({ code: sampleCounterInFdb, reason: "unsupported", path, value: action, hint });
    }
    const misfit = ownerMisfit(action, domain);
    if (misfit !== undefined) refuse({ ...misfit, code: "EINVAL", path, value: action });
    return action;
  });
  const terminals = actions.filter(({ isTerminal }) => isTerminal);
  const tags = actions.filter(({ kind }) => kind === "tag");
  if (terminals.length > 1 || tags.length > 1) {
    const hint = terminals.length > 1 ? "a sample goes to one destination" : "a frame carries one tag";
    refuse({ code: "EINVAL", reason: "bad_action_list", path: "attr.sample_actions", value: count, hint });
  }
  return [...tags, ...actions.filter(({ kind }) => kind === "flow_counter"), ...terminals];
}

/**
 * The program of `action`, which runs on every frame before the default table; null where there is
 * none, or where the device ignores it.
 */
function programOf({ action }: FlowSamplerAttr, { domain }: Table): Uint8Array | null {
  if (action === undefined || action === 0n) return null;
  const list: ModifyActions = typeof action === "bigint" ? [action] : action;
  if (list instanceof Uint8Array && list.every((byte) => byte === 0)) return null;
  const { other, samplerPrograms } = domain.device.profile.rules;
  const setting = { domainType: domain.type, refuses: other.headers };
  const program = modifyProgram(setting, list, undefined);
  const view = new DataView(program.buffer);
  const isC0 =
    view.getUint32(PROGRAM_COUNT, true) === 1 &&
    view.getUint8(PROGRAM_FIRST + INSTRUCTION_TYPE) === MODIFY_SET &&
    view.getUint8(PROGRAM_FIRST + INSTRUCTION_TO) === (Place.register as number);
  if (!isC0) {
    const hint = "one SET of METADATA_REG_C_0";
    refuse({ code: "EOPNOTSUPP", reason: "bad_modify", path: "attr.action", value: action, hint });
  }
  return samplerPrograms === "all" || samplerPrograms === domain.type ? program : null;
}
