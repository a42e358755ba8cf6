/** mlx5dv_dr(3): actions. */
import { inCall } from "../../errors.js";
import { Action } from "../../model/action/action.js";
import type { DestAttr } from "../../model/action/destArray.js";
import { Domain, type Table } from "../../model/table/domain.js";
import {
  arrayAction,
  modifyAction,
  portAction,
  reformatAction,
  rootTableAction,
  vportAction,
} from "../../model/action/domainActions.js";
import { living } from "../../model/base/handle.js";
import type { ModifyActions } from "../../model/action/modifyHeader.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { DevxObject } from "../../model/base/devxObject.js";

/** `struct mlx5dv_dr_action_dest_attr`, with objects where C has pointers. */
export type DrActionDestAttr = DestAttr<Action>;

/** An action that drops the frame. */
export function mlx5dv_dr_action_create_drop(): Action {
  return Action.drop();
}

/**
 * An action that sends the frame to the default of its domain: NIC_RX drops it, NIC_TX transmits
 * it, the FDB gives it to the PF. In a root table the frame goes on as on a miss.
 */
export function mlx5dv_dr_action_create_default_miss(): Action {
  return Action.defaultMiss();
}

/**
 * An action that writes a tag into the completion.
 * @param tag_value its low 24 bits are used
 */
export function mlx5dv_dr_action_create_tag(tag_value: number): Action {
  return inCall("mlx5dv_dr_action_create_tag", () => Action.tag(tag_value));
}

/**
 * An action that delivers to a queue pair, in NIC_RX domains of its function.
 * @throws EINVAL if it is not IBV_QPT_RAW_PACKET
 */
export function mlx5dv_dr_action_create_dest_ibv_qp(ibqp: QueuePair): Action {
  return inCall("mlx5dv_dr_action_create_dest_ibv_qp", () => Action.toQueue(ibqp));
}

/**
 * An action that delivers to a TIR, in NIC_RX domains of its function.
 * @throws EINVAL if the object is no TIR
 */
export function mlx5dv_dr_action_create_dest_devx_tir(devx_obj: DevxObject): Action {
  return inCall("mlx5dv_dr_action_create_dest_devx_tir", () => Action.toTir(devx_obj));
}

/**
 * An action that goes on in a table of the same domain.
 * @throws EINVAL if the table is a root table
 */
export function mlx5dv_dr_action_create_dest_table(table: Table): Action {
  return inCall("mlx5dv_dr_action_create_dest_table", () => Action.toTable(table));
}

/**
 * An action that counts the packet and its bytes.
 * @param offset index of the counter in a bulk, from 0
 * @throws EINVAL if the object is no flow counter, or the offset is outside the bulk
 */
export function mlx5dv_dr_action_create_flow_counter(devx_obj: DevxObject, offset: number): Action {
  return inCall("mlx5dv_dr_action_create_flow_counter", () => Action.count(devx_obj, offset));
}

/**
 * An action that goes on at a priority of the root table.
 * @throws EINVAL if the table is not root, or has no such priority
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_dr_action_create_dest_root_table(table: Table, priority: number): Action {
  return inCall("mlx5dv_dr_action_create_dest_root_table", () => rootTableAction(table, priority));
}

/**
 * An action of the FDB that sends the frame to a function.
 * @param vport 0 the PF, 1 the first VF, 0xffff the port that the frame was sent on; frames from the
 *   wire are dropped there
 * @throws EINVAL if there is no such vport
 * @throws EOPNOTSUPP if the domain is not the FDB, or is of a VF
 */
export function mlx5dv_dr_action_create_dest_vport(domain: Domain, vport: number): Action {
  return inCall("mlx5dv_dr_action_create_dest_vport", () => vportAction(domain, vport));
}

/**
 * An action of the FDB that sends the frame out of a port. A frame that came from the wire of this
 * port is dropped, as with vport 0xffff.
 * @param ib_port from 1
 * @throws EINVAL if there is no such port
 * @throws EOPNOTSUPP if the domain is not the FDB, or is of a VF
 */
export function mlx5dv_dr_action_create_dest_ib_port(domain: Domain, ib_port: number): Action {
  return inCall("mlx5dv_dr_action_create_dest_ib_port", () => portAction(domain, ib_port));
}

/**
 * An action that sends a copy to each of several destinations.
 * @param num_dest entries that are used, 2 to 64; all if undefined
 * @throws EINVAL if there are less than two or more than 64, an entry type is unknown, or a member
 *   cannot stand in the domain
 * @throws EOPNOTSUPP if an action cannot be a member
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_dr_action_create_dest_array(
  domain: Domain,
  num_dest: number | undefined,
  dests: readonly DrActionDestAttr[],
): Action {
  return inCall("mlx5dv_dr_action_create_dest_array", () => arrayAction(domain, num_dest, dests));
}

/**
 * An action that encapsulates or decapsulates.
 * @param flags MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL for rules of root tables, else 0
 * @param reformat_type MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_*
 * @param data_sz bytes of `data` that are used; all if undefined
 * @param data the headers to put in front; none for L2_TUNNEL_TO_L2
 * @throws EINVAL if flags, type or data do not fit each other
 * @throws EOPNOTSUPP if the profile refuses it
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_dr_action_create_packet_reformat(
  domain: Domain,
  flags: number,
  reformat_type: number,
  data_sz: number | undefined,
  data: Uint8Array | null | undefined,
): Action {
  return inCall("mlx5dv_dr_action_create_packet_reformat", () =>
    reformatAction(domain, flags, reformat_type, data_sz, data),
  );
}

/**
 * An action that changes headers and registers: SET, ADD and COPY (docs/rules.md).
 * @param flags MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL for rules of root tables, else 0
 * @param actions_sz bytes that are used, 8 for each change; all if undefined
 * @param actions big-endian words of 64 bits: bytes, bigints, or objects (`modifyActions`)
 * @throws EINVAL, ENOTSUP, EOPNOTSUPP if the device cannot do a change
 * @throws ENOMEM if the device has no memory left
 * @example
 * mlx5dv_dr_action_create_modify_header(domain, 0, undefined, [{ type: "add", field: "OUT_IP_TTL", data: 0xff }]);
 */
export function mlx5dv_dr_action_create_modify_header(
  domain: Domain,
  flags: number,
  actions_sz: number | undefined,
  actions: ModifyActions,
): Action {
  return inCall("mlx5dv_dr_action_create_modify_header", () => modifyAction(domain, flags, actions_sz, actions));
}

/** An action that removes the outermost VLAN tag; a frame without one stays as it is. */
export function mlx5dv_dr_action_create_pop_vlan(): Action {
  return Action.popVlan();
}

/**
 * An action that inserts a VLAN tag after the MAC addresses.
 * @param vlan_hdr TPID and TCI as a number of 32 bits: `0x81000064` is VLAN 100
 * @throws EINVAL if the TPID is not 0x8100 or 0x88a8
 */
export function mlx5dv_dr_action_create_push_vlan(domain: Domain, vlan_hdr: number): Action {
  return inCall("mlx5dv_dr_action_create_push_vlan", () =>
    Action.pushVlan(living("domain", domain, Domain).device, vlan_hdr),
  );
}

/**
 * Destroys an action.
 * @throws EBUSY if a rule or an array uses it
 */
export function mlx5dv_dr_action_destroy(action: Action): 0 {
  return inCall("mlx5dv_dr_action_destroy", () => {
    living("action", action, Action).destroy();
    return 0;
  });
}
