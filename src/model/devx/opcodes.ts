/** Numbers of device commands (docs/devx.md). */
export const QUERY_HCA_CAP_OPCODE = 0x100;
export const QUERY_ESW_VPORT_CONTEXT_OPCODE = 0x752;
export const QUERY_HCA_VPORT_CONTEXT_OPCODE = 0x762;
export const QUERY_CQ_OPCODE = 0x402;
export const MODIFY_CQ_OPCODE = 0x403;
export const RST2INIT_QP_OPCODE = 0x502;
export const INIT2RTR_QP_OPCODE = 0x503;
export const RTR2RTS_QP_OPCODE = 0x504;
export const RTS2RTS_QP_OPCODE = 0x505;
export const QP_2ERR_OPCODE = 0x507;
export const QP_2RST_OPCODE = 0x50a;
export const QUERY_QP_OPCODE = 0x50b;
export const INIT2INIT_QP_OPCODE = 0x50e;
export const MODIFY_RQ_OPCODE = 0x909;
export const QUERY_RQ_OPCODE = 0x90b;
export const MODIFY_RMP_OPCODE = 0x90d;
export const QUERY_RMP_OPCODE = 0x90f;
export const MODIFY_RQT_OPCODE = 0x917;
export const QUERY_RQT_OPCODE = 0x919;
export const CREATE_TIR_OPCODE = 0x900;
export const DESTROY_TIR_OPCODE = 0x902;
export const CREATE_RQT_OPCODE = 0x916;
export const DESTROY_RQT_OPCODE = 0x918;
export const CREATE_FLOW_TABLE_OPCODE = 0x930;
export const DESTROY_FLOW_TABLE_OPCODE = 0x931;
export const QUERY_FLOW_TABLE_OPCODE = 0x932;
export const CREATE_FLOW_GROUP_OPCODE = 0x933;
export const DESTROY_FLOW_GROUP_OPCODE = 0x934;
export const SET_FLOW_TABLE_ENTRY_OPCODE = 0x936;
export const DELETE_FLOW_TABLE_ENTRY_OPCODE = 0x938;
export const ALLOC_FLOW_COUNTER_OPCODE = 0x939;
export const DEALLOC_FLOW_COUNTER_OPCODE = 0x93a;
export const QUERY_FLOW_COUNTER_OPCODE = 0x93b;
export const ALLOC_PACKET_REFORMAT_OPCODE = 0x93d;
export const DEALLOC_PACKET_REFORMAT_OPCODE = 0x93e;
export const ALLOC_MODIFY_HEADER_OPCODE = 0x940;
export const DEALLOC_MODIFY_HEADER_OPCODE = 0x941;
export const CREATE_GENERAL_OBJECT_OPCODE = 0xa00;
export const MODIFY_GENERAL_OBJECT_OPCODE = 0xa01;
export const QUERY_GENERAL_OBJECT_OPCODE = 0xa02;
export const DESTROY_GENERAL_OBJECT_OPCODE = 0xa03;
export const SYNC_STEERING_OPCODE = 0xb00;

/** Types of general objects. */
export const FLOW_METER_TYPE = 0x0a;
export const FLOW_METER_ASO_TYPE = 0x24;
export const FIRST_HIT_ASO_TYPE = 0x25;
export const CONN_TRACK_ASO_TYPE = 0x31;

/** Types of flow tables, which are not those of the API. */
export const TABLE_NIC_RX = 0;
export const TABLE_NIC_TX = 1;
export const TABLE_FDB = 4;
export const TABLE_RDMA_RX = 7;
export const TABLE_RDMA_TX = 8;
export const TABLE_RDMA_TRANSPORT_RX = 0xd;
export const TABLE_RDMA_TRANSPORT_TX = 0xe;

/** `action` of an entry. */
export const ENTRY_ALLOW = 0x1;
export const ENTRY_DROP = 0x2;
export const ENTRY_FORWARD = 0x4;
export const ENTRY_COUNT = 0x8;
export const ENTRY_REFORMAT = 0x10;
export const ENTRY_DECAP = 0x20;
export const ENTRY_MODIFY = 0x40;
export const ENTRY_POP_VLAN = 0x80;
export const ENTRY_PUSH_VLAN = 0x100;
export const ENTRY_POP_VLAN_2 = 0x400;
export const ENTRY_PUSH_VLAN_2 = 0x800;

/** Types of destinations. */
export const DESTINATION_VPORT = 0;
export const DESTINATION_TABLE = 1;
export const DESTINATION_TIR = 2;
export const DESTINATION_UPLINK = 8;
