/** mlx5dv_dr(3): actions. */
import { Action } from "../model/action/action.js";
import type { FlowCounter } from "../model/action/counter.js";
import type { DestAttr } from "../model/action/destArray.js";
import { Domain, type Table } from "../model/table/domain.js";
import {
  arrayAction,
  modifyAction,
  portAction,
  reformatAction,
  rootTableAction,
  vportAction,
} from "../model/action/domainActions.js";
import { living } from "../model/base/handle.js";
import type { ModifyActions } from "../model/action/modifyHeader.js";
import type { QueuePair } from "../model/queue/queuePair.js";
import type { Tir } from "../model/queue/tir.js";

/** `struct mlx5dv_dr_action_dest_attr`, with objects where C has pointers. */
export type DrActionDestAttr = DestAttr<Action>;

export function mlx5dv_dr_action_create_drop(): Action {
  return Action.drop();
}

/** The default of the domain: NIC_RX drops the frame, NIC_TX sends it, the FDB gives it to the PF; a root table lets it go on. */
export function mlx5dv_dr_action_create_default_miss(): Action {
  return Action.defaultMiss();
}

/** The low 24 bits of `tag_value` stand in the completion. */
export function mlx5dv_dr_action_create_tag(tag_value: number): Action {
  return Action.tag("mlx5dv_dr_action_create_tag", tag_value);
}

/** In NIC_RX domains of the function that has the queue pair. @throws EINVAL for one that is not IBV_QPT_RAW_PACKET */
export function mlx5dv_dr_action_create_dest_ibv_qp(ibqp: QueuePair): Action {
  return Action.toQueue("mlx5dv_dr_action_create_dest_ibv_qp", ibqp);
}

/** In NIC_RX domains of the function that the TIR is on. @throws EINVAL for what is no TIR */
export function mlx5dv_dr_action_create_dest_devx_tir(devx_obj: Tir): Action {
  return Action.toTir("mlx5dv_dr_action_create_dest_devx_tir", devx_obj);
}

/** @throws EINVAL for a root table */
export function mlx5dv_dr_action_create_dest_table(table: Table): Action {
  return Action.toTable("mlx5dv_dr_action_create_dest_table", table);
}

/** Counts packets and bytes on one counter of a bulk. @throws EINVAL not a flow counter, offset outside the bulk */
export function mlx5dv_dr_action_create_flow_counter(devx_obj: FlowCounter, offset: number): Action {
  return Action.count("mlx5dv_dr_action_create_flow_counter", devx_obj, offset);
}

/**
 * To the first rule of a priority of the root table, which is of the domain of the rule.
 * @throws EINVAL for a table that is not root, a priority that it does not have; ENOMEM
 */
export function mlx5dv_dr_action_create_dest_root_table(table: Table, priority: number): Action {
  return rootTableAction("mlx5dv_dr_action_create_dest_root_table", table, priority);
}

/**
 * To a function: 0 is the PF, 1 the first VF, 0xffff the port that the frame came from or was sent on.
 * @throws EINVAL an unknown vport; EOPNOTSUPP for a domain that is not the FDB, or of a VF
 */
export function mlx5dv_dr_action_create_dest_vport(domain: Domain, vport: number): Action {
  return vportAction("mlx5dv_dr_action_create_dest_vport", domain, vport);
}

/** Out of a port (1 ..). @throws EINVAL an unknown port; EOPNOTSUPP for a domain that is not the FDB, or of a VF */
export function mlx5dv_dr_action_create_dest_ib_port(domain: Domain, ib_port: number): Action {
  return portAction("mlx5dv_dr_action_create_dest_ib_port", domain, ib_port);
}

/**
 * A copy to each of `num_dest` destinations (all of `dests` when undefined).
 * @throws EINVAL less than two or more than 64, an unknown entry type, what cannot stand in the domain; EOPNOTSUPP what cannot
 * be a member; ENOMEM
 */
export function mlx5dv_dr_action_create_dest_array(
  domain: Domain,
  num_dest: number | undefined,
  dests: readonly DrActionDestAttr[],
): Action {
  return arrayAction("mlx5dv_dr_action_create_dest_array", domain, num_dest, dests);
}

/**
 * Encapsulation or decapsulation (MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_*) by `data_sz` bytes of `data` (all of them when
 * undefined). `flags`: MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL for rules of root tables.
 * @throws EINVAL flags, types, data that do not fit; EOPNOTSUPP; ENOMEM
 */
export function mlx5dv_dr_action_create_packet_reformat(
  domain: Domain,
  flags: number,
  reformat_type: number,
  data_sz: number | undefined,
  data: Uint8Array | null | undefined,
): Action {
  const call = "mlx5dv_dr_action_create_packet_reformat";
  return reformatAction(call, domain, flags, reformat_type, data_sz, data);
}

/**
 * Changes of headers and registers: `actions_sz` bytes (all when undefined) of 64-bit words, as bytes, bigints or objects (see
 * `modifyActions`). `flags`: MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL for rules of root tables.
 * @throws EINVAL, ENOTSUP, EOPNOTSUPP what the device cannot carry out; ENOMEM
 */
export function mlx5dv_dr_action_create_modify_header(
  domain: Domain,
  flags: number,
  actions_sz: number | undefined,
  actions: ModifyActions,
): Action {
  return modifyAction("mlx5dv_dr_action_create_modify_header", domain, flags, actions_sz, actions);
}

/** Removes the outermost VLAN tag, where there is one. */
export function mlx5dv_dr_action_create_pop_vlan(): Action {
  return Action.popVlan();
}

/** Puts a VLAN tag behind the MACs: TPID and TCI as one writes them, `0x81000064`. @throws EINVAL another TPID than 0x8100, 0x88a8 */
export function mlx5dv_dr_action_create_push_vlan(domain: Domain, vlan_hdr: number): Action {
  const call = "mlx5dv_dr_action_create_push_vlan";
  return Action.pushVlan(call, living(call, "domain", domain, Domain).device, vlan_hdr);
}

/** @throws EBUSY while a rule or an array uses it */
export function mlx5dv_dr_action_destroy(action: Action): 0 {
  const call = "mlx5dv_dr_action_destroy";
  living(call, "action", action, Action).destroy(call);
  return 0;
}
