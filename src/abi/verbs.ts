/** Numbers of infiniband/verbs.h, spelt as there: the facade hands them out, the model goes by them. */

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
/** A flag: ored to the type of a spec that asks the inner packet. */
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
