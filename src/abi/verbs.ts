/**
 * Numbers of infiniband/verbs.h, with the names of that header. The facade exports them, and the
 * model uses them.
 */

export const IBV_ACCESS_LOCAL_WRITE = 1;

export const IBV_QPT_RC = 2;
export const IBV_QPT_UC = 3;
export const IBV_QPT_UD = 4;
export const IBV_QPT_RAW_PACKET = 8;

export const IBV_QPS_RESET = 0;
export const IBV_QPS_INIT = 1;
export const IBV_QPS_RTR = 2;
export const IBV_QPS_RTS = 3;
export const IBV_QPS_ERR = 6;

export const IBV_QP_STATE = 1;
export const IBV_QP_PORT = 32;

export const IBV_WC_SUCCESS = 0;
export const IBV_WC_LOC_LEN_ERR = 1;
export const IBV_WC_WR_FLUSH_ERR = 5;
export const IBV_WC_REM_INV_REQ_ERR = 9;
export const IBV_WC_REM_ACCESS_ERR = 10;
export const IBV_WC_REM_OP_ERR = 11;
export const IBV_WC_RETRY_EXC_ERR = 12;
export const IBV_WC_RNR_RETRY_EXC_ERR = 13;
export const IBV_WC_RECV = 128;

/*
 * Flows (ibv_create_flow(3)) and their counters (ibv_create_counters(3)).
 */

/** enum ibv_flow_attr_type */
export const IBV_FLOW_ATTR_NORMAL = 0;
export const IBV_FLOW_ATTR_ALL_DEFAULT = 1;
export const IBV_FLOW_ATTR_MC_DEFAULT = 2;
export const IBV_FLOW_ATTR_SNIFFER = 3;

/** enum ibv_flow_flags */
export const IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK = 1;
export const IBV_FLOW_ATTR_FLAGS_DONT_TRAP = 2;
export const IBV_FLOW_ATTR_FLAGS_EGRESS = 4;

/** enum ibv_flow_spec_type */
export const IBV_FLOW_SPEC_ETH = 0x20;
export const IBV_FLOW_SPEC_IPV4 = 0x30;
export const IBV_FLOW_SPEC_IPV6 = 0x31;
export const IBV_FLOW_SPEC_IPV4_EXT = 0x32;
export const IBV_FLOW_SPEC_ESP = 0x34;
export const IBV_FLOW_SPEC_TCP = 0x40;
export const IBV_FLOW_SPEC_UDP = 0x41;
export const IBV_FLOW_SPEC_VXLAN_TUNNEL = 0x50;
export const IBV_FLOW_SPEC_GRE = 0x51;
export const IBV_FLOW_SPEC_MPLS = 0x60;
/** A flag, ORed to the type of a spec that matches the inner packet. */
export const IBV_FLOW_SPEC_INNER = 0x100;
export const IBV_FLOW_SPEC_ACTION_TAG = 0x1000;
export const IBV_FLOW_SPEC_ACTION_DROP = 0x1001;
export const IBV_FLOW_SPEC_ACTION_HANDLE = 0x1002;
export const IBV_FLOW_SPEC_ACTION_COUNT = 0x1003;

/** enum ibv_counter_description */
export const IBV_COUNTER_PACKETS = 0;
export const IBV_COUNTER_BYTES = 1;

/** enum ibv_read_counters_flags */
export const IBV_READ_COUNTERS_ATTR_PREFER_CACHED = 1;

/*
 * ESP flow actions (ibv_flow_action_esp(3)). The library's header says IBV_, the kernel's and the page IB_UVERBS_.
 */

/** enum ibv_flow_action_esp_mask: `esn` is given. */
export const IBV_FLOW_ACTION_ESP_MASK_ESN = 1;

/** enum ib_uverbs_flow_action_esp_keymat */
export const IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM = 0;
export const IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM;
/** Its name in the manual page. */
export const IBV_ACTION_ESP_KEYMAT_AES_GCM = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM;

/** enum ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo */
export const IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ = 0;
export const IBV_FLOW_ACTION_IV_ALGO_SEQ = IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ;

/** enum ib_uverbs_flow_action_esp_replay */
export const IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE = 0;
export const IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP = 1;
export const IBV_FLOW_ACTION_ESP_REPLAY_NONE = IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE;
export const IBV_FLOW_ACTION_ESP_REPLAY_BMP = IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP;

/**
 * enum ib_uverbs_flow_action_esp_flags: INLINE_CRYPTO, TUNNEL and DECRYPT are 0, the absence of a
 * flag.
 */
export const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO = 0;
export const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD = 1;
export const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL = 0;
export const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT = 2;
export const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT = 0;
export const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT = 4;
export const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW = 8;
export const IBV_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO;
export const IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD;
export const IBV_FLOW_ACTION_ESP_FLAGS_TUNNEL = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL;
export const IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT;
export const IBV_FLOW_ACTION_ESP_FLAGS_DECRYPT = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT;
export const IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT;
export const IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW;

/*
 * Queries (ibv_query_device(3), ibv_query_port(3), ibv_query_gid(3)).
 */

/** enum ibv_device_cap_flags, those that a device here can have. */
export const IBV_DEVICE_UD_AV_PORT_ENFORCE = 1 << 6;
export const IBV_DEVICE_CURR_QP_STATE_MOD = 1 << 7;
export const IBV_DEVICE_SYS_IMAGE_GUID = 1 << 11;
export const IBV_DEVICE_UD_IP_CSUM = 1 << 18;
export const IBV_DEVICE_RAW_IP_CSUM = 1 << 26;
export const IBV_DEVICE_MANAGED_FLOW_STEERING = 1 << 29;

/** enum ibv_atomic_cap */
export const IBV_ATOMIC_NONE = 0;

/** enum ibv_raw_packet_caps */
export const IBV_RAW_PACKET_CAP_CVLAN_STRIPPING = 1;
export const IBV_RAW_PACKET_CAP_SCATTER_FCS = 2;
export const IBV_RAW_PACKET_CAP_IP_CSUM = 4;
export const IBV_RAW_PACKET_CAP_DELAY_DROP = 8;

/** enum ibv_mtu */
export const IBV_MTU_256 = 1;
export const IBV_MTU_512 = 2;
export const IBV_MTU_1024 = 3;
export const IBV_MTU_2048 = 4;
export const IBV_MTU_4096 = 5;

/** enum ibv_port_state */
export const IBV_PORT_NOP = 0;
export const IBV_PORT_DOWN = 1;
export const IBV_PORT_INIT = 2;
export const IBV_PORT_ARMED = 3;
export const IBV_PORT_ACTIVE = 4;
export const IBV_PORT_ACTIVE_DEFER = 5;

export const IBV_LINK_LAYER_UNSPECIFIED = 0;
export const IBV_LINK_LAYER_INFINIBAND = 1;
export const IBV_LINK_LAYER_ETHERNET = 2;

/** enum ibv_port_cap_flags, the one that ports here have. */
export const IBV_PORT_IP_BASED_GIDS = 1 << 26;
/** `flags` of struct ibv_port_attr: address handles need a GRH. */
export const IBV_QPF_GRH_REQUIRED = 1;

/** enum ibv_gid_type */
export const IBV_GID_TYPE_IB = 0;
export const IBV_GID_TYPE_ROCE_V1 = 1;
export const IBV_GID_TYPE_ROCE_V2 = 2;

/** enum ibv_gid_type_sysfs of infiniband/driver.h */
export const IBV_GID_TYPE_SYSFS_IB_ROCE_V1 = 0;
export const IBV_GID_TYPE_SYSFS_ROCE_V2 = 1;

/*
 * Queue pairs (ibv_create_qp(3), ibv_modify_qp(3)).
 */

export const IBV_QPT_XRC_SEND = 9;
export const IBV_QPT_XRC_RECV = 10;
export const IBV_QPT_DRIVER = 0xff;

export const IBV_QPS_SQD = 4;
export const IBV_QPS_SQE = 5;

/** enum ibv_qp_attr_mask, besides IBV_QP_STATE and IBV_QP_PORT */
export const IBV_QP_CUR_STATE = 1 << 1;
export const IBV_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2;
export const IBV_QP_ACCESS_FLAGS = 1 << 3;
export const IBV_QP_PKEY_INDEX = 1 << 4;
export const IBV_QP_QKEY = 1 << 6;
export const IBV_QP_AV = 1 << 7;
export const IBV_QP_PATH_MTU = 1 << 8;
export const IBV_QP_TIMEOUT = 1 << 9;
export const IBV_QP_RETRY_CNT = 1 << 10;
export const IBV_QP_RNR_RETRY = 1 << 11;
export const IBV_QP_RQ_PSN = 1 << 12;
export const IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13;
export const IBV_QP_ALT_PATH = 1 << 14;
export const IBV_QP_MIN_RNR_TIMER = 1 << 15;
export const IBV_QP_SQ_PSN = 1 << 16;
export const IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17;
export const IBV_QP_PATH_MIG_STATE = 1 << 18;
export const IBV_QP_CAP = 1 << 19;
export const IBV_QP_DEST_QPN = 1 << 20;
export const IBV_QP_RATE_LIMIT = 1 << 25;

/** enum ibv_qp_init_attr_mask */
export const IBV_QP_INIT_ATTR_PD = 1;
export const IBV_QP_INIT_ATTR_XRCD = 1 << 1;
export const IBV_QP_INIT_ATTR_CREATE_FLAGS = 1 << 2;
export const IBV_QP_INIT_ATTR_MAX_TSO_HEADER = 1 << 3;
export const IBV_QP_INIT_ATTR_IND_TABLE = 1 << 4;
export const IBV_QP_INIT_ATTR_RX_HASH = 1 << 5;
export const IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = 1 << 6;

/** enum ibv_rx_hash_function_flags */
export const IBV_RX_HASH_FUNC_TOEPLITZ = 1;

/** enum ibv_rx_hash_fields */
export const IBV_RX_HASH_SRC_IPV4 = 1 << 0;
export const IBV_RX_HASH_DST_IPV4 = 1 << 1;
export const IBV_RX_HASH_SRC_IPV6 = 1 << 2;
export const IBV_RX_HASH_DST_IPV6 = 1 << 3;
export const IBV_RX_HASH_SRC_PORT_TCP = 1 << 4;
export const IBV_RX_HASH_DST_PORT_TCP = 1 << 5;
export const IBV_RX_HASH_SRC_PORT_UDP = 1 << 6;
export const IBV_RX_HASH_DST_PORT_UDP = 1 << 7;
export const IBV_RX_HASH_IPSEC_SPI = 1 << 8;
export const IBV_RX_HASH_INNER = 0x8000_0000;

/*
 * Work queues and indirection tables (ibv_create_wq(3), ibv_modify_wq(3)).
 */

/** enum ibv_wq_type */
export const IBV_WQT_RQ = 0;

/** enum ibv_wq_state */
export const IBV_WQS_RESET = 0;
export const IBV_WQS_RDY = 1;
export const IBV_WQS_ERR = 2;
export const IBV_WQS_UNKNOWN = 3;

/** enum ibv_wq_init_attr_mask */
export const IBV_WQ_INIT_ATTR_FLAGS = 1;

/** enum ibv_wq_flags */
export const IBV_WQ_FLAGS_CVLAN_STRIPPING = 1;
export const IBV_WQ_FLAGS_SCATTER_FCS = 2;
export const IBV_WQ_FLAGS_DELAY_DROP = 4;
export const IBV_WQ_FLAGS_PCI_WRITE_END_PADDING = 8;

/** enum ibv_wq_attr_mask */
export const IBV_WQ_ATTR_STATE = 1;
export const IBV_WQ_ATTR_CURR_STATE = 2;
export const IBV_WQ_ATTR_FLAGS = 4;

/*
 * Completions (ibv_poll_cq(3), ibv_create_cq_ex(3)).
 */

/** enum ibv_wc_opcode, besides IBV_WC_RECV */
export const IBV_WC_SEND = 0;

/** enum ibv_wc_flags */
export const IBV_WC_GRH = 1;
export const IBV_WC_WITH_IMM = 2;
export const IBV_WC_IP_CSUM_OK = 4;
export const IBV_WC_WITH_INV = 8;

/** enum ibv_create_cq_wc_flags */
export const IBV_WC_EX_WITH_BYTE_LEN = 1 << 0;
export const IBV_WC_EX_WITH_IMM = 1 << 1;
export const IBV_WC_EX_WITH_QP_NUM = 1 << 2;
export const IBV_WC_EX_WITH_SRC_QP = 1 << 3;
export const IBV_WC_EX_WITH_SLID = 1 << 4;
export const IBV_WC_EX_WITH_SL = 1 << 5;
export const IBV_WC_EX_WITH_DLID_PATH_BITS = 1 << 6;
export const IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 1 << 7;
export const IBV_WC_EX_WITH_CVLAN = 1 << 8;
export const IBV_WC_EX_WITH_FLOW_TAG = 1 << 9;
export const IBV_WC_EX_WITH_TM_INFO = 1 << 10;
export const IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK = 1 << 11;
/** The fields of a plain completion. */
export const IBV_WC_STANDARD_FLAGS = 0x7f;

/** enum ibv_cq_init_attr_mask */
export const IBV_CQ_INIT_ATTR_MASK_FLAGS = 1;
export const IBV_CQ_INIT_ATTR_MASK_PD = 2;

/** enum ibv_create_cq_attr_flags */
export const IBV_CREATE_CQ_ATTR_SINGLE_THREADED = 1;
export const IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN = 2;

/*
 * Sending (ibv_post_send(3)).
 */

/** enum ibv_wr_opcode */
export const IBV_WR_RDMA_WRITE = 0;
export const IBV_WR_RDMA_WRITE_WITH_IMM = 1;
export const IBV_WR_SEND = 2;
export const IBV_WR_SEND_WITH_IMM = 3;
export const IBV_WR_RDMA_READ = 4;
export const IBV_WR_ATOMIC_CMP_AND_SWP = 5;
export const IBV_WR_ATOMIC_FETCH_AND_ADD = 6;
export const IBV_WR_LOCAL_INV = 7;
export const IBV_WR_BIND_MW = 8;
export const IBV_WR_SEND_WITH_INV = 9;
export const IBV_WR_TSO = 10;
export const IBV_WR_DRIVER1 = 11;
export const IBV_WR_FLUSH = 14;
export const IBV_WR_ATOMIC_WRITE = 15;

/** enum ibv_qp_create_send_ops_flags: the operations that ibv_wr_post(3) builds. */
export const IBV_QP_EX_WITH_RDMA_WRITE = 1 << 0;
export const IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM = 1 << 1;
export const IBV_QP_EX_WITH_SEND = 1 << 2;
export const IBV_QP_EX_WITH_SEND_WITH_IMM = 1 << 3;
export const IBV_QP_EX_WITH_RDMA_READ = 1 << 4;
export const IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP = 1 << 5;
export const IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD = 1 << 6;
export const IBV_QP_EX_WITH_LOCAL_INV = 1 << 7;
export const IBV_QP_EX_WITH_BIND_MW = 1 << 8;
export const IBV_QP_EX_WITH_SEND_WITH_INV = 1 << 9;
export const IBV_QP_EX_WITH_TSO = 1 << 10;
export const IBV_QP_EX_WITH_FLUSH = 1 << 11;
export const IBV_QP_EX_WITH_ATOMIC_WRITE = 1 << 12;

/** enum ibv_send_flags */
export const IBV_SEND_FENCE = 1;
export const IBV_SEND_SIGNALED = 2;
export const IBV_SEND_SOLICITED = 4;
export const IBV_SEND_INLINE = 8;
export const IBV_SEND_IP_CSUM = 16;
