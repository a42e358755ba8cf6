/** The attributes that ibv_query_device(3) and ibv_query_device_ex(3) report. */
import {
  IBV_DEVICE_CURR_QP_STATE_MOD,
  IBV_DEVICE_MANAGED_FLOW_STEERING,
  IBV_DEVICE_RAW_IP_CSUM,
  IBV_DEVICE_SYS_IMAGE_GUID,
  IBV_DEVICE_UD_AV_PORT_ENFORCE,
  IBV_QPT_RAW_PACKET,
  IBV_RAW_PACKET_CAP_IP_CSUM,
  IBV_RX_HASH_FUNC_TOEPLITZ,
} from "../../abi/verbs.js";
import { IBV_ATOMIC_HCA, IBV_DEVICE_SRQ_RESIZE } from "../../abi/verbsConstants.js";
import type { DeviceBase } from "./deviceBase.js";
import { eui64 } from "./port/gids.js";
import { HASH_FIELDS, MAX_CQ_COUNT, MAX_CQ_PERIOD, MAX_GROUP_QUEUE_PAIRS, MAX_RD_ATOMIC } from "./limits.js";
import { MAX_PORTS_OF_C, PKEY_TABLE_LENGTH, portMac } from "./port/ports.js";

/** `struct ibv_device_attr`; 64-bit members are bigint. A feature that this device lacks is 0. */
export interface DeviceAttributes {
  fw_ver: string;
  node_guid: bigint;
  sys_image_guid: bigint;
  /** Bytes. */
  max_mr_size: bigint;
  /** Supported page sizes: bit n stands for 2^n bytes. */
  page_size_cap: bigint;
  vendor_id: number;
  vendor_part_id: number;
  hw_ver: number;
  max_qp: number;
  max_qp_wr: number;
  /** Bits IBV_DEVICE_... */
  device_cap_flags: number;
  max_sge: number;
  max_sge_rd: number;
  max_cq: number;
  max_cqe: number;
  max_mr: number;
  max_pd: number;
  max_qp_rd_atom: number;
  max_ee_rd_atom: number;
  max_res_rd_atom: number;
  max_qp_init_rd_atom: number;
  max_ee_init_rd_atom: number;
  atomic_cap: number;
  max_ee: number;
  max_rdd: number;
  max_mw: number;
  max_raw_ipv6_qp: number;
  max_raw_ethy_qp: number;
  max_mcast_grp: number;
  max_mcast_qp_attach: number;
  max_total_mcast_qp_attach: number;
  max_ah: number;
  max_fmr: number;
  max_map_per_fmr: number;
  max_srq: number;
  max_srq_wr: number;
  max_srq_sge: number;
  max_pkeys: number;
  local_ca_ack_delay: number;
  phys_port_cnt: number;
}

/**
 * `struct ibv_device_attr_ex`; 64-bit members are bigint. A feature that this device lacks is 0.
 */
export interface DeviceAttributesEx {
  orig_attr: DeviceAttributes;
  comp_mask: number;
  odp_caps: {
    general_caps: bigint;
    per_transport_caps: { rc_odp_caps: number; uc_odp_caps: number; ud_odp_caps: number };
  };
  completion_timestamp_mask: bigint;
  /** The clock of completion timestamps, in kHz. */
  hca_core_clock: bigint;
  device_cap_flags_ex: bigint;
  tso_caps: { max_tso: number; supported_qpts: number };
  rss_caps: {
    supported_qpts: number;
    max_rwq_indirection_tables: number;
    max_rwq_indirection_table_size: number;
    rx_hash_fields_mask: bigint;
    rx_hash_function: number;
  };
  max_wq_type_rq: number;
  packet_pacing_caps: { qp_rate_limit_min: number; qp_rate_limit_max: number; supported_qpts: number };
  /** Bits IBV_RAW_PACKET_CAP_... */
  raw_packet_caps: number;
  tm_caps: { max_rndv_hdr_size: number; max_num_tags: number; flags: number; max_ops: number; max_sge: number };
  cq_mod_caps: { max_cq_count: number; max_cq_period: number };
  max_dm_size: bigint;
  pci_atomic_caps: { fetch_add: number; swap: number; compare_swap: number };
  xrc_odp_caps: number;
  phys_port_cnt_ex: number;
}

/** Mellanox. Programs use the calls of mlx5dv.h only on devices of this vendor. */
const VENDOR_ID = 0x02c9;
/** MODEL: there is no firmware. The version only names flowsteer. */
const FIRMWARE = "flowsteer";
/** The largest memory region: as long as a Uint8Array can be. */
const MAX_MR_SIZE = BigInt(Number.MAX_SAFE_INTEGER);
/** 4 KiB and every larger size. MODEL: memory has no pages here. */
const PAGE_SIZES = 0xffff_ffff_ffff_f000n;
/** One tick is one nanosecond. */
const CLOCK_KHZ = 1_000_000n;
const CLOCK_MASK = 0xffff_ffff_ffff_ffffn;

/** Bits of `device_cap_flags`. */
function capabilities(device: DeviceBase): number {
  return (
    IBV_DEVICE_UD_AV_PORT_ENFORCE |
    IBV_DEVICE_CURR_QP_STATE_MOD |
    IBV_DEVICE_SYS_IMAGE_GUID |
    IBV_DEVICE_RAW_IP_CSUM |
    (device.profile.resizesSharedQueues ? IBV_DEVICE_SRQ_RESIZE : 0) |
    (device.managedFlowSteering ? IBV_DEVICE_MANAGED_FLOW_STEERING : 0)
  );
}

/** An EUI-64 derived from the name of a device. */
export function nodeGuid(device: DeviceBase): bigint {
  return eui64(portMac(device.name, 0)).reduce((guid, byte) => (guid << 8n) | BigInt(byte), 0n);
}

export function deviceAttributes(device: DeviceBase): DeviceAttributes {
  const { limits } = device.hardware.inventory;
  const guid = nodeGuid(device);
  return {
    fw_ver: FIRMWARE,
    node_guid: guid,
    sys_image_guid: guid,
    max_mr_size: MAX_MR_SIZE,
    page_size_cap: PAGE_SIZES,
    vendor_id: VENDOR_ID,
    vendor_part_id: device.profile.partId,
    hw_ver: 0,
    max_qp: limits.max_qp,
    max_qp_wr: limits.max_qp_wr,
    device_cap_flags: capabilities(device),
    max_sge: limits.max_sge,
    max_sge_rd: 0,
    max_cq: limits.max_cq,
    max_cqe: limits.max_cqe,
    max_mr: limits.max_mr,
    max_pd: limits.max_pd,
    max_qp_rd_atom: MAX_RD_ATOMIC,
    max_ee_rd_atom: 0,
    max_res_rd_atom: 0,
    max_qp_init_rd_atom: MAX_RD_ATOMIC,
    max_ee_init_rd_atom: 0,
    atomic_cap: IBV_ATOMIC_HCA,
    max_ee: 0,
    max_rdd: 0,
    max_mw: 0,
    max_raw_ipv6_qp: 0,
    max_raw_ethy_qp: 0,
    max_mcast_grp: limits.max_mcast_grp,
    max_mcast_qp_attach: MAX_GROUP_QUEUE_PAIRS,
    max_total_mcast_qp_attach: limits.max_mcast_grp * MAX_GROUP_QUEUE_PAIRS,
    max_ah: limits.max_ah,
    max_fmr: 0,
    max_map_per_fmr: 0,
    max_srq: limits.max_srq,
    max_srq_wr: limits.max_qp_wr,
    max_srq_sge: limits.max_sge,
    max_pkeys: PKEY_TABLE_LENGTH,
    local_ca_ack_delay: 0,
    phys_port_cnt: Math.min(device.ports, MAX_PORTS_OF_C),
  };
}

export function deviceAttributesEx(device: DeviceBase): DeviceAttributesEx {
  const { limits } = device.hardware.inventory;
  const attributes = deviceAttributes(device);
  return {
    orig_attr: attributes,
    comp_mask: 0,
    odp_caps: { general_caps: 0n, per_transport_caps: { rc_odp_caps: 0, uc_odp_caps: 0, ud_odp_caps: 0 } },
    completion_timestamp_mask: CLOCK_MASK,
    hca_core_clock: CLOCK_KHZ,
    device_cap_flags_ex: BigInt(attributes.device_cap_flags),
    tso_caps: { max_tso: 0, supported_qpts: 0 },
    rss_caps: {
      supported_qpts: 1 << IBV_QPT_RAW_PACKET,
      max_rwq_indirection_tables: limits.max_rwq_indirection_tables,
      max_rwq_indirection_table_size: limits.max_rwq_indirection_table_size,
      rx_hash_fields_mask: BigInt(HASH_FIELDS),
      rx_hash_function: IBV_RX_HASH_FUNC_TOEPLITZ,
    },
    max_wq_type_rq: limits.max_wq_type_rq,
    packet_pacing_caps: { qp_rate_limit_min: 0, qp_rate_limit_max: 0, supported_qpts: 0 },
    raw_packet_caps: IBV_RAW_PACKET_CAP_IP_CSUM,
    tm_caps: { max_rndv_hdr_size: 0, max_num_tags: 0, flags: 0, max_ops: 0, max_sge: 0 },
    cq_mod_caps: { max_cq_count: MAX_CQ_COUNT, max_cq_period: MAX_CQ_PERIOD },
    max_dm_size: 0n,
    pci_atomic_caps: { fetch_add: 0, swap: 0, compare_swap: 0 },
    xrc_odp_caps: 0,
    phys_port_cnt_ex: device.ports,
  };
}
