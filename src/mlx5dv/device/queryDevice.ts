/** mlx5dv_query_device(3). */
import { inCall } from "../../errors.js";
import { Context } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";
import type { Profile } from "../../model/profile/profile.js";
import { CqeFormat } from "../../model/queuePair/deviceAttributes.js";
import { given, type Out } from "../../verbs/out.js";
import { checkObject, unsigned } from "../../base/checks.js";

export const MLX5DV_CONTEXT_FLAGS_CQE_V1 = 1 << 0;
export const MLX5DV_CONTEXT_FLAGS_OBSOLETE = 1 << 1;
export const MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED = 1 << 2;
export const MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW = 1 << 3;
export const MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP = 1 << 4;
export const MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD = 1 << 5;
export const MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE = 1 << 6;
export const MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS = 1 << 7;
export const MLX5DV_CONTEXT_FLAGS_BLUEFLAME = 1 << 8;

export const MLX5DV_CONTEXT_MASK_CQE_COMPRESION = 1 << 0;
export const MLX5DV_CONTEXT_MASK_SWP = 1 << 1;
export const MLX5DV_CONTEXT_MASK_STRIDING_RQ = 1 << 2;
export const MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS = 1 << 3;
export const MLX5DV_CONTEXT_MASK_DYN_BFREGS = 1 << 4;
export const MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE = 1 << 5;
export const MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS = 1 << 6;
export const MLX5DV_CONTEXT_MASK_DC_ODP_CAPS = 1 << 7;
export const MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK = 1 << 8;
export const MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS = 1 << 9;
export const MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD = 1 << 10;
export const MLX5DV_CONTEXT_MASK_DCI_STREAMS = 1 << 11;
export const MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH = 1 << 12;
export const MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD = 1 << 13;
export const MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM = 1 << 14;
export const MLX5DV_CONTEXT_MASK_REG_C0 = 1 << 15;
export const MLX5DV_CONTEXT_MASK_OOO_RECV_WRS = 1 << 16;

export const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN = 1 << 0;
export const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE = 1 << 1;
export const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE = 1 << 2;
export const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE = 1 << 3;
export const MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP = 1 << 4;

export const MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM = 1 << 0;
export const MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_REQ_METADATA = 1 << 1;
export const MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_SPI_STEERING = 1 << 2;
export const MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_FULL_OFFLOAD = 1 << 3;
export const MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_TX_IV_IS_ESN = 1 << 4;

/** `struct mlx5dv_context`; members of 64 bits are bigint. A feature that this device lacks is 0. */
export interface Mlx5dvContext {
  version: number;
  /** Bits MLX5DV_CONTEXT_FLAGS_... */
  flags: bigint;
  /** Bits MLX5DV_CONTEXT_MASK_... of the members that are filled. */
  comp_mask: bigint;
  cqe_comp_caps: { max_num: number; supported_format: number };
  sw_parsing_caps: { sw_parsing_offloads: number; supported_qpts: number };
  striding_rq_caps: {
    min_single_stride_log_num_of_bytes: number;
    max_single_stride_log_num_of_bytes: number;
    min_single_wqe_log_num_of_strides: number;
    max_single_wqe_log_num_of_strides: number;
    supported_qpts: number;
  };
  /** Bits MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_... */
  tunnel_offloads_caps: number;
  max_dynamic_bfregs: number;
  /** Bits MLX5DV_FLOW_ACTION_FLAGS_ESP_... */
  flow_action_flags: number;
  dc_odp_caps: number;
  sig_caps: { block_size: bigint; block_prot: number; t10dif_bg: number; crc_type: number };
  dci_streams_caps: { max_log_num_concurent: number; max_log_num_errored: number };
  max_wr_memcpy_length: bigint;
  crypto_caps: {
    failed_selftests: number;
    crypto_engines: number;
    wrapped_import_method: number;
    log_max_num_deks: number;
    flags: number;
  };
  max_dc_rd_atom: bigint;
  max_dc_init_rd_atom: bigint;
}

/** Completions that a device compresses into one. */
const COMPRESSED = 16;
const ALWAYS = ["version", "flags", "comp_mask"] as const;

/** The members that each bit of `comp_mask` fills. */
const MEMBERS: readonly (readonly [bit: number, members: readonly (keyof Mlx5dvContext)[]])[] = [
  [MLX5DV_CONTEXT_MASK_CQE_COMPRESION, ["cqe_comp_caps"]],
  [MLX5DV_CONTEXT_MASK_SWP, ["sw_parsing_caps"]],
  [MLX5DV_CONTEXT_MASK_STRIDING_RQ, ["striding_rq_caps"]],
  [MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS, ["tunnel_offloads_caps"]],
  [MLX5DV_CONTEXT_MASK_DYN_BFREGS, ["max_dynamic_bfregs"]],
  [MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS, ["flow_action_flags"]],
  [MLX5DV_CONTEXT_MASK_DC_ODP_CAPS, ["dc_odp_caps"]],
  [MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD, ["sig_caps"]],
  [MLX5DV_CONTEXT_MASK_DCI_STREAMS, ["dci_streams_caps"]],
  [MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH, ["max_wr_memcpy_length"]],
  [MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD, ["crypto_caps"]],
  [MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM, ["max_dc_rd_atom", "max_dc_init_rd_atom"]],
];

/**
 * Fills `attrs_out` with what mlx5 devices report beside `ibv_query_device`
 * (mlx5dv_query_device(3)). Members other than `version`, `flags` and `comp_mask` are filled where
 * `attrs_out.comp_mask` has their bit, and `comp_mask` then has the bits of the members that were
 * filled.
 * @param attrs_out left out, the call returns all members
 * @example
 * const attrs = { comp_mask: MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS };
 * mlx5dv_query_device(context, attrs);
 */
export function mlx5dv_query_device(ctx_in: Context, attrs_out?: null): Mlx5dvContext;
export function mlx5dv_query_device(ctx_in: Context, attrs_out: QueriedContext): 0;
export function mlx5dv_query_device(ctx_in: Context, attrs_out?: QueriedContext | null): Mlx5dvContext | 0 {
  return inCall("mlx5dv_query_device", () => {
    const { device } = living("ctx_in", ctx_in, Context);
    const asked = askedFor(attrs_out);
    const filled = MEMBERS.filter(([bit]) => (asked & bit) !== 0);
    const all = attributesOf(device.profile);
    all.comp_mask = BigInt(filled.reduce((mask, [bit]) => mask | bit, 0));
    const names = [...ALWAYS, ...filled.flatMap(([, members]) => members)];
    const value = Object.fromEntries(names.map((name) => [name, all[name]])) as unknown as Mlx5dvContext;
    return given<Partial<Mlx5dvContext>>("attrs_out", attrs_out as Out<Mlx5dvContext> | null, value) === 0 ? 0 : value;
  });
}

/** `struct mlx5dv_context` before the call; the other members do not matter. */
export type QueriedContext = Omit<Out<Mlx5dvContext>, "comp_mask"> & { comp_mask?: number | bigint };

/** The bits of `comp_mask` as a number; all of them where there is no struct. */
function askedFor(attrs_out: QueriedContext | null | undefined): number {
  if (attrs_out === null || attrs_out === undefined) return -1;
  checkObject("attrs_out", attrs_out);
  const { comp_mask = 0 } = attrs_out;
  if (typeof comp_mask === "bigint") return Number(BigInt.asUintN(32, comp_mask));
  return unsigned("attrs_out.comp_mask", comp_mask, 53);
}

/**
 * MODEL: completions are objects, so their compression and padding are accepted and have no effect,
 * and CQE_V1 says nothing. Metadata of inline ESP is there where a program requires it, not always.
 */
function attributesOf({ esp }: Profile): Mlx5dvContext {
  return {
    version: 0,
    flags: BigInt(MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP | MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD),
    comp_mask: 0n,
    cqe_comp_caps: { max_num: COMPRESSED, supported_format: CqeFormat.hash | CqeFormat.csum | CqeFormat.csum_stridx },
    sw_parsing_caps: { sw_parsing_offloads: 0, supported_qpts: 0 },
    striding_rq_caps: {
      min_single_stride_log_num_of_bytes: 0,
      max_single_stride_log_num_of_bytes: 0,
      min_single_wqe_log_num_of_strides: 0,
      max_single_wqe_log_num_of_strides: 0,
      supported_qpts: 0,
    },
    tunnel_offloads_caps:
      MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN |
      MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE |
      MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE |
      MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE |
      MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP,
    max_dynamic_bfregs: 0,
    flow_action_flags:
      MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM |
      MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_REQ_METADATA |
      MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_SPI_STEERING |
      (esp.fullOffload ? MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_FULL_OFFLOAD : 0) |
      MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_TX_IV_IS_ESN,
    dc_odp_caps: 0,
    sig_caps: { block_size: 0n, block_prot: 0, t10dif_bg: 0, crc_type: 0 },
    dci_streams_caps: { max_log_num_concurent: 0, max_log_num_errored: 0 },
    max_wr_memcpy_length: 0n,
    crypto_caps: { failed_selftests: 0, crypto_engines: 0, wrapped_import_method: 0, log_max_num_deks: 0, flags: 0 },
    max_dc_rd_atom: 0n,
    max_dc_init_rd_atom: 0n,
  };
}
