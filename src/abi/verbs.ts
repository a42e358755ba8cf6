/** Numbers of infiniband/verbs.h, spelt as there: the facade hands them out, the model goes by them. */

export const IBV_ACCESS_LOCAL_WRITE = 1;

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
