/** mlx5dv_query_port(3), mlx5dv_is_supported(3). */
import { inCall } from "../../errors.js";
import { VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import { Context } from "../../model/base/context.js";
import { Device } from "../../model/device/device.js";
import { DeviceFunction } from "../../model/device/function.js";
import { describe } from "../../base/checks.js";
import { living } from "../../model/base/handle.js";
import { given, type Out } from "../../verbs/out.js";

export const MLX5DV_QUERY_PORT_VPORT = 1;
export const MLX5DV_QUERY_PORT_VPORT_VHCA_ID = 2;
export const MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_RX = 4;
export const MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_TX = 8;
export const MLX5DV_QUERY_PORT_VPORT_REG_C0 = 16;
export const MLX5DV_QUERY_PORT_ESW_OWNER_VHCA_ID = 32;

/** `struct mlx5dv_port`; members of 64 bits are bigint. */
export interface Mlx5dvPort {
  /** Which of the others say something. */
  flags: bigint;
  vport: number;
  vport_vhca_id: number;
  esw_owner_vhca_id: number;
  vport_steering_icm_rx: bigint;
  vport_steering_icm_tx: bigint;
  reg_c0: { value: number; mask: number };
}

/**
 * The place of a port in the eSwitch (mlx5dv_query_port(3)): the uplink, 0xffff, for the function
 * that manages it, else the vport of the function.
 *
 * MODEL: there is no steering memory with addresses, and register C0 does not hold the source of a
 * frame (`misc.source_port` does), so their flags are 0. The vhca_id of a function is its vport,
 * that of the uplink the manager's.
 * @param port_num from 1
 * @param info filled if given; the call then returns 0
 * @throws EINVAL if there is no such port
 */
export function mlx5dv_query_port(context: Context, port_num: number, info?: null): Mlx5dvPort;
export function mlx5dv_query_port(context: Context, port_num: number, info: Out<Mlx5dvPort>): 0;
export function mlx5dv_query_port(context: Context, port_num: number, info?: Out<Mlx5dvPort> | null): Mlx5dvPort | 0 {
  return inCall("mlx5dv_query_port", () => {
    const { device, function: owner } = living("context", context, Context);
    device.checkPort(port_num);
    const flags = MLX5DV_QUERY_PORT_VPORT | MLX5DV_QUERY_PORT_VPORT_VHCA_ID | MLX5DV_QUERY_PORT_ESW_OWNER_VHCA_ID;
    return given<Mlx5dvPort>("info", info, {
      flags: BigInt(flags),
      vport: owner.managesSwitch ? VPORT_UPLINK : owner.vport,
      vport_vhca_id: owner.vport,
      esw_owner_vhca_id: VPORT_MANAGER,
      vport_steering_icm_rx: 0n,
      vport_steering_icm_tx: 0n,
      reg_c0: { value: 0, mask: 0 },
    });
  });
}

/** Whether the calls of mlx5dv work on a device: true for all devices. */
export function mlx5dv_is_supported(device: Device | DeviceFunction): boolean {
  if (device instanceof Device || device instanceof DeviceFunction) return true;
  throw new TypeError(`mlx5dv_is_supported: device must be a Device or a DeviceFunction, not ${describe(device)}`);
}
