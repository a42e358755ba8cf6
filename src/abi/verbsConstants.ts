/**
 * The numbers of infiniband/verbs.h that the model does not use: programs name them, and the verbs export
 * them. verbs.ts has the others.
 */

/** enum ibv_node_type */
export const IBV_NODE_UNKNOWN = -1;
export const IBV_NODE_CA = 1;
export const IBV_NODE_SWITCH = 2;
export const IBV_NODE_ROUTER = 3;
export const IBV_NODE_RNIC = 4;
export const IBV_NODE_USNIC = 5;
export const IBV_NODE_USNIC_UDP = 6;
export const IBV_NODE_UNSPECIFIED = 7;

/** enum ibv_transport_type */
export const IBV_TRANSPORT_UNKNOWN = -1;
export const IBV_TRANSPORT_IB = 0;
export const IBV_TRANSPORT_IWARP = 1;
export const IBV_TRANSPORT_USNIC = 2;
export const IBV_TRANSPORT_USNIC_UDP = 3;
export const IBV_TRANSPORT_UNSPECIFIED = 4;

/** enum ibv_device_cap_flags, the other members */
export const IBV_DEVICE_RESIZE_MAX_WR = 1;
export const IBV_DEVICE_BAD_PKEY_CNTR = 2;
export const IBV_DEVICE_BAD_QKEY_CNTR = 4;
export const IBV_DEVICE_RAW_MULTI = 8;
export const IBV_DEVICE_AUTO_PATH_MIG = 16;
export const IBV_DEVICE_CHANGE_PHY_PORT = 32;
export const IBV_DEVICE_SHUTDOWN_PORT = 0x100;
export const IBV_DEVICE_INIT_TYPE = 0x200;
export const IBV_DEVICE_PORT_ACTIVE_EVENT = 0x400;
export const IBV_DEVICE_RC_RNR_NAK_GEN = 0x1000;
export const IBV_DEVICE_SRQ_RESIZE = 0x2000;
export const IBV_DEVICE_N_NOTIFY_CQ = 0x4000;
export const IBV_DEVICE_MEM_WINDOW = 0x20000;
export const IBV_DEVICE_XRC = 0x100000;
export const IBV_DEVICE_MEM_MGT_EXTENSIONS = 0x200000;
export const IBV_DEVICE_MEM_WINDOW_TYPE_2A = 0x800000;
export const IBV_DEVICE_MEM_WINDOW_TYPE_2B = 0x1000000;
export const IBV_DEVICE_RC_IP_CSUM = 0x2000000;

/** enum ibv_fork_status */
export const IBV_FORK_DISABLED = 0;
export const IBV_FORK_ENABLED = 1;
export const IBV_FORK_UNNEEDED = 2;

/** enum ibv_atomic_cap, the other members */
export const IBV_ATOMIC_HCA = 1;
export const IBV_ATOMIC_GLOB = 2;

/** enum ibv_dm_mask */
export const IBV_DM_MASK_HANDLE = 1;

/** enum ibv_odp_general_caps */
export const IBV_ODP_SUPPORT = 1;
export const IBV_ODP_SUPPORT_IMPLICIT = 2;

/** enum ibv_odp_transport_cap_bits */
export const IBV_ODP_SUPPORT_SEND = 1;
export const IBV_ODP_SUPPORT_RECV = 2;
export const IBV_ODP_SUPPORT_WRITE = 4;
export const IBV_ODP_SUPPORT_READ = 8;
export const IBV_ODP_SUPPORT_ATOMIC = 16;
export const IBV_ODP_SUPPORT_SRQ_RECV = 32;
export const IBV_ODP_SUPPORT_FLUSH = 64;
export const IBV_ODP_SUPPORT_ATOMIC_WRITE = 128;

/** enum ibv_tm_cap_flags */
export const IBV_TM_CAP_RC = 1;

/** enum ibv_pci_atomic_op_size */
export const IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP = 1;
export const IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP = 2;
export const IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP = 4;

/** enum ibv_port_cap_flags, the other members */
export const IBV_PORT_SM = 2;
export const IBV_PORT_NOTICE_SUP = 4;
export const IBV_PORT_TRAP_SUP = 8;
export const IBV_PORT_OPT_IPD_SUP = 16;
export const IBV_PORT_AUTO_MIGR_SUP = 32;
export const IBV_PORT_SL_MAP_SUP = 64;
export const IBV_PORT_MKEY_NVRAM = 128;
export const IBV_PORT_PKEY_NVRAM = 0x100;
export const IBV_PORT_LED_INFO_SUP = 0x200;
export const IBV_PORT_SYS_IMAGE_GUID_SUP = 0x800;
export const IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP = 0x1000;
export const IBV_PORT_EXTENDED_SPEEDS_SUP = 0x4000;
export const IBV_PORT_CAP_MASK2_SUP = 0x8000;
export const IBV_PORT_CM_SUP = 0x10000;
export const IBV_PORT_SNMP_TUNNEL_SUP = 0x20000;
export const IBV_PORT_REINIT_SUP = 0x40000;
export const IBV_PORT_DEVICE_MGMT_SUP = 0x80000;
export const IBV_PORT_VENDOR_CLASS_SUP = 0x100000;
export const IBV_PORT_DR_NOTICE_SUP = 0x200000;
export const IBV_PORT_CAP_MASK_NOTICE_SUP = 0x400000;
export const IBV_PORT_BOOT_MGMT_SUP = 0x800000;
export const IBV_PORT_LINK_LATENCY_SUP = 0x1000000;
export const IBV_PORT_CLIENT_REG_SUP = 0x2000000;

/** enum ibv_port_cap_flags2 */
export const IBV_PORT_SET_NODE_DESC_SUP = 1;
export const IBV_PORT_INFO_EXT_SUP = 2;
export const IBV_PORT_VIRT_SUP = 4;
export const IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP = 8;
export const IBV_PORT_LINK_WIDTH_2X_SUP = 16;
export const IBV_PORT_LINK_SPEED_HDR_SUP = 32;
export const IBV_PORT_LINK_SPEED_NDR_SUP = 0x400;
export const IBV_PORT_LINK_SPEED_XDR_SUP = 0x1000;

/** enum ibv_event_type */
export const IBV_EVENT_CQ_ERR = 0;
export const IBV_EVENT_QP_FATAL = 1;
export const IBV_EVENT_QP_REQ_ERR = 2;
export const IBV_EVENT_QP_ACCESS_ERR = 3;
export const IBV_EVENT_COMM_EST = 4;
export const IBV_EVENT_SQ_DRAINED = 5;
export const IBV_EVENT_PATH_MIG = 6;
export const IBV_EVENT_PATH_MIG_ERR = 7;
export const IBV_EVENT_DEVICE_FATAL = 8;
export const IBV_EVENT_PORT_ACTIVE = 9;
export const IBV_EVENT_PORT_ERR = 10;
export const IBV_EVENT_LID_CHANGE = 11;
export const IBV_EVENT_PKEY_CHANGE = 12;
export const IBV_EVENT_SM_CHANGE = 13;
export const IBV_EVENT_SRQ_ERR = 14;
export const IBV_EVENT_SRQ_LIMIT_REACHED = 15;
export const IBV_EVENT_QP_LAST_WQE_REACHED = 16;
export const IBV_EVENT_CLIENT_REREGISTER = 17;
export const IBV_EVENT_GID_CHANGE = 18;
export const IBV_EVENT_WQ_FATAL = 19;
export const IBV_EVENT_DEVICE_SPEED_CHANGE = 20;

/** enum ibv_wc_status, the other members */
export const IBV_WC_LOC_QP_OP_ERR = 2;
export const IBV_WC_LOC_EEC_OP_ERR = 3;
export const IBV_WC_LOC_PROT_ERR = 4;
export const IBV_WC_MW_BIND_ERR = 6;
export const IBV_WC_BAD_RESP_ERR = 7;
export const IBV_WC_LOC_ACCESS_ERR = 8;
export const IBV_WC_LOC_RDD_VIOL_ERR = 14;
export const IBV_WC_REM_INV_RD_REQ_ERR = 15;
export const IBV_WC_REM_ABORT_ERR = 16;
export const IBV_WC_INV_EECN_ERR = 17;
export const IBV_WC_INV_EEC_STATE_ERR = 18;
export const IBV_WC_FATAL_ERR = 19;
export const IBV_WC_RESP_TIMEOUT_ERR = 20;
export const IBV_WC_GENERAL_ERR = 21;
export const IBV_WC_TM_ERR = 22;
export const IBV_WC_TM_RNDV_INCOMPLETE = 23;

/** enum ibv_wc_opcode, the other members */
export const IBV_WC_RDMA_WRITE = 1;
export const IBV_WC_RDMA_READ = 2;
export const IBV_WC_COMP_SWAP = 3;
export const IBV_WC_FETCH_ADD = 4;
export const IBV_WC_BIND_MW = 5;
export const IBV_WC_LOCAL_INV = 6;
export const IBV_WC_TSO = 7;
export const IBV_WC_FLUSH = 8;
export const IBV_WC_ATOMIC_WRITE = 9;
export const IBV_WC_RECV_RDMA_WITH_IMM = 129;
export const IBV_WC_TM_ADD = 130;
export const IBV_WC_TM_DEL = 131;
export const IBV_WC_TM_SYNC = 132;
export const IBV_WC_TM_RECV = 133;
export const IBV_WC_TM_NO_TAG = 134;
export const IBV_WC_DRIVER1 = 135;
export const IBV_WC_DRIVER2 = 136;
export const IBV_WC_DRIVER3 = 137;

/** Of an enum without a name. */
export const IBV_WC_IP_CSUM_OK_SHIFT = 2;

/** Of an enum without a name. */
export const IBV_CREATE_CQ_SUP_WC_FLAGS = 0xfff;

/** enum ibv_wc_flags, the other members */
export const IBV_WC_TM_SYNC_REQ = 16;
export const IBV_WC_TM_MATCH = 32;
export const IBV_WC_TM_DATA_VALID = 64;

/** enum ibv_access_flags, the other members */
export const IBV_ACCESS_REMOTE_WRITE = 2;
export const IBV_ACCESS_REMOTE_READ = 4;
export const IBV_ACCESS_REMOTE_ATOMIC = 8;
export const IBV_ACCESS_MW_BIND = 16;
export const IBV_ACCESS_ZERO_BASED = 32;
export const IBV_ACCESS_ON_DEMAND = 64;
export const IBV_ACCESS_HUGETLB = 128;
export const IBV_ACCESS_FLUSH_GLOBAL = 0x100;
export const IBV_ACCESS_FLUSH_PERSISTENT = 0x200;
export const IBV_ACCESS_RELAXED_ORDERING = 0x100000;

/** enum ibv_xrcd_init_attr_mask */
export const IBV_XRCD_INIT_ATTR_FD = 1;
export const IBV_XRCD_INIT_ATTR_OFLAGS = 2;
export const IBV_XRCD_INIT_ATTR_RESERVED = 4;

/** enum ibv_rereg_mr_flags */
export const IBV_REREG_MR_CHANGE_TRANSLATION = 1;
export const IBV_REREG_MR_CHANGE_PD = 2;
export const IBV_REREG_MR_CHANGE_ACCESS = 4;
export const IBV_REREG_MR_FLAGS_SUPPORTED = 7;

/** enum ibv_mr_init_attr_mask */
export const IBV_REG_MR_MASK_IOVA = 1;
export const IBV_REG_MR_MASK_ADDR = 2;
export const IBV_REG_MR_MASK_FD = 4;
export const IBV_REG_MR_MASK_FD_OFFSET = 8;
export const IBV_REG_MR_MASK_DMAH = 16;
export const IBV_REG_MR_MASK_BUF = 32;

/** enum ibv_mw_type */
export const IBV_MW_TYPE_1 = 1;
export const IBV_MW_TYPE_2 = 2;

/** enum ibv_rate */
export const IBV_RATE_MAX = 0;
export const IBV_RATE_2_5_GBPS = 2;
export const IBV_RATE_5_GBPS = 5;
export const IBV_RATE_10_GBPS = 3;
export const IBV_RATE_20_GBPS = 6;
export const IBV_RATE_30_GBPS = 4;
export const IBV_RATE_40_GBPS = 7;
export const IBV_RATE_60_GBPS = 8;
export const IBV_RATE_80_GBPS = 9;
export const IBV_RATE_120_GBPS = 10;
export const IBV_RATE_14_GBPS = 11;
export const IBV_RATE_56_GBPS = 12;
export const IBV_RATE_112_GBPS = 13;
export const IBV_RATE_168_GBPS = 14;
export const IBV_RATE_25_GBPS = 15;
export const IBV_RATE_100_GBPS = 16;
export const IBV_RATE_200_GBPS = 17;
export const IBV_RATE_300_GBPS = 18;
export const IBV_RATE_28_GBPS = 19;
export const IBV_RATE_50_GBPS = 20;
export const IBV_RATE_400_GBPS = 21;
export const IBV_RATE_600_GBPS = 22;
export const IBV_RATE_800_GBPS = 23;
export const IBV_RATE_1200_GBPS = 24;

/** enum ibv_srq_attr_mask */
export const IBV_SRQ_MAX_WR = 1;
export const IBV_SRQ_LIMIT = 2;

/** enum ibv_srq_type */
export const IBV_SRQT_BASIC = 0;
export const IBV_SRQT_XRC = 1;
export const IBV_SRQT_TM = 2;

/** enum ibv_srq_init_attr_mask */
export const IBV_SRQ_INIT_ATTR_TYPE = 1;
export const IBV_SRQ_INIT_ATTR_PD = 2;
export const IBV_SRQ_INIT_ATTR_XRCD = 4;
export const IBV_SRQ_INIT_ATTR_CQ = 8;
export const IBV_SRQ_INIT_ATTR_TM = 16;
export const IBV_SRQ_INIT_ATTR_RESERVED = 32;

/** enum ibv_wq_init_attr_mask, the other members */
export const IBV_WQ_INIT_ATTR_RESERVED = 2;

/** enum ibv_wq_flags, the other members */
export const IBV_WQ_FLAGS_RESERVED = 16;

/** enum ibv_wq_attr_mask, the other members */
export const IBV_WQ_ATTR_RESERVED = 8;

/** enum ibv_ind_table_init_attr_mask */
export const IBV_CREATE_IND_TABLE_RESERVED = 1;

/** enum ibv_qp_create_flags */
export const IBV_QP_CREATE_BLOCK_SELF_MCAST_LB = 2;
export const IBV_QP_CREATE_SCATTER_FCS = 0x100;
export const IBV_QP_CREATE_CVLAN_STRIPPING = 0x200;
export const IBV_QP_CREATE_SOURCE_QPN = 0x400;
export const IBV_QP_CREATE_PCI_WRITE_END_PADDING = 0x800;

/** enum ibv_qp_open_attr_mask */
export const IBV_QP_OPEN_ATTR_NUM = 1;
export const IBV_QP_OPEN_ATTR_XRCD = 2;
export const IBV_QP_OPEN_ATTR_CONTEXT = 4;
export const IBV_QP_OPEN_ATTR_TYPE = 8;
export const IBV_QP_OPEN_ATTR_RESERVED = 16;

/** enum ibv_query_qp_data_in_order_flags */
export const IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS = 1;
export const IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY = 2;

/** enum ibv_query_qp_data_in_order_caps */
export const IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG = 1;
export const IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES = 2;

/** enum ibv_qp_state, the other members */
export const IBV_QPS_UNKNOWN = 7;

/** enum ibv_mig_state */
export const IBV_MIG_MIGRATED = 0;
export const IBV_MIG_REARM = 1;
export const IBV_MIG_ARMED = 2;

/** enum ibv_placement_type */
export const IBV_FLUSH_GLOBAL = 1;
export const IBV_FLUSH_PERSISTENT = 2;

/** enum ibv_selectivity_level */
export const IBV_FLUSH_RANGE = 0;
export const IBV_FLUSH_MR = 1;

/** enum ibv_ops_wr_opcode */
export const IBV_WR_TAG_ADD = 0;
export const IBV_WR_TAG_DEL = 1;
export const IBV_WR_TAG_SYNC = 2;

/** enum ibv_ops_flags */
export const IBV_OPS_SIGNALED = 1;
export const IBV_OPS_TM_SYNC = 2;

/** enum ibv_cq_attr_mask */
export const IBV_CQ_ATTR_MODERATE = 1;
export const IBV_CQ_ATTR_RESERVED = 2;

/** Of an enum without a name. */
export const IBV_SYSFS_NAME_MAX = 64;
export const IBV_SYSFS_PATH_MAX = 0x100;

/** enum ibv_qp_attach_comp_cntr_op */
export const IBV_QP_ATTACH_COMP_CNTR_OP_SEND = 1;
export const IBV_QP_ATTACH_COMP_CNTR_OP_RECV = 2;
export const IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ = 4;
export const IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ = 8;
export const IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE = 16;
export const IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE = 32;

/** enum ibv_comp_cntr_type */
export const IBV_COMP_CNTR_TYPE_WRS = 0;
export const IBV_COMP_CNTR_TYPE_BYTES = 1;

/** enum ibv_parent_domain_init_attr_mask */
export const IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS = 1;
export const IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT = 2;
export const IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC = 4;

/** enum ibv_tph_mem_type */
export const IBV_TPH_MEM_TYPE_VM = 0;
export const IBV_TPH_MEM_TYPE_PM = 1;

/** enum ibv_dmah_init_attr_mask */
export const IBV_DMAH_INIT_ATTR_MASK_CPU_ID = 1;
export const IBV_DMAH_INIT_ATTR_MASK_PH = 2;
export const IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE = 4;

/** enum ibv_values_mask */
export const IBV_VALUES_MASK_RAW_CLOCK = 1;
export const IBV_VALUES_MASK_RESERVED = 2;

/** enum ibv_rereg_mr_err_code */
export const IBV_REREG_MR_ERR_INPUT = -1;
export const IBV_REREG_MR_ERR_DONT_FORK_NEW = -2;
export const IBV_REREG_MR_ERR_DO_FORK_OLD = -3;
export const IBV_REREG_MR_ERR_CMD = -4;
export const IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW = -5;

/** Names of verbs_api.h for numbers of the kernel. */
export const IBV_ADVISE_MR_ADVICE_PREFETCH = 0;
export const IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE = 1;
export const IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT = 2;
export const IBV_ADVISE_MR_FLAG_FLUSH = 1;
export const IBV_ACCESS_OPTIONAL_RANGE = 0x3ff00000;
export const IBV_ACCESS_OPTIONAL_FIRST = 0x100000;

/** more bits of device_cap_flags_ex */
export const IBV_DEVICE_RAW_SCATTER_FCS = 1n << 34n;
export const IBV_DEVICE_PCI_WRITE_END_PADDING = 1n << 36n;

/** ibv_flow_label_to_udp_sport */
export const IB_ROCE_UDP_ENCAP_VALID_PORT_MIN = 0xc000;
export const IB_ROCE_UDP_ENCAP_VALID_PORT_MAX = 0xffff;
export const IB_GRH_FLOWLABEL_MASK = 0xfffff;

/** Macros; the last one is a pointer in C. */
export const IBV_DEVICE_CC_DMA_BOUNCE = 0x20000000000;
export const IBV_ALLOCATOR_USE_DEFAULT = -1;
