"""Frames and scenarios of the tests."""

import os

from flowsteer import C

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
METER = os.path.join(EXAMPLES, "state-meter.json")
SWITCH = os.path.join(EXAMPLES, "serve-switch.json")

#: Two frames at once, then two a millisecond, go on to the queue `customer`.
WEB = bytes.fromhex(
    "ffffffffffff020000000001 0800"
    "450000280000000040060000 0a000001 0a000002"
    "9c400050 00000000 00000000 50020000 00000000"
)

PEER_MAC = bytes.fromhex("020000000099")
PEER_GID = bytes.fromhex("fe80000000000000 00000000000000 99")
#: 4.096 microseconds times 2 to the power of 8.
TIMEOUT = 8
TIMEOUT_NS = 4096 << TIMEOUT
RETRIES = 3

RDMA = {"flowsteer": 1, "device": {"ports": 1}}


def reliable_pair(device):
    """An RC queue pair in the state RTS, whose peer is at the other end of a wire, and its completions."""
    pd = device.ibv_alloc_pd(device.context)
    cq = device.ibv_create_cq(device.context, 16)
    cap = {"max_send_wr": 4, "max_recv_wr": 4, "max_send_sge": 1, "max_recv_sge": 1, "max_inline_data": 64}
    qp = device.ibv_create_qp(pd, {"send_cq": cq, "recv_cq": cq, "cap": cap, "qp_type": C.IBV_QPT_RC})
    init = {"qp_state": C.IBV_QPS_INIT, "pkey_index": 0, "port_num": 1, "qp_access_flags": 0}
    mask = C.IBV_QP_STATE | C.IBV_QP_PKEY_INDEX | C.IBV_QP_PORT | C.IBV_QP_ACCESS_FLAGS
    device.ibv_modify_qp(qp, init, mask)
    grh = {"dgid": PEER_GID, "sgid_index": 0, "hop_limit": 64}
    path = {
        "qp_state": C.IBV_QPS_RTR,
        "path_mtu": C.IBV_MTU_1024,
        "dest_qp_num": 77,
        "rq_psn": 0,
        "ah_attr": {"is_global": 1, "port_num": 1, "grh": grh, "dmac": PEER_MAC},
        "max_dest_rd_atomic": 1,
        "min_rnr_timer": 12,
    }
    device.ibv_modify_qp(
        qp,
        path,
        C.IBV_QP_STATE
        | C.IBV_QP_AV
        | C.IBV_QP_PATH_MTU
        | C.IBV_QP_DEST_QPN
        | C.IBV_QP_RQ_PSN
        | C.IBV_QP_MAX_DEST_RD_ATOMIC
        | C.IBV_QP_MIN_RNR_TIMER,
    )
    ready = {
        "qp_state": C.IBV_QPS_RTS,
        "sq_psn": 0,
        "max_rd_atomic": 1,
        "retry_cnt": RETRIES,
        "rnr_retry": 7,
        "timeout": TIMEOUT,
    }
    device.ibv_modify_qp(
        qp,
        ready,
        C.IBV_QP_STATE
        | C.IBV_QP_SQ_PSN
        | C.IBV_QP_MAX_QP_RD_ATOMIC
        | C.IBV_QP_RETRY_CNT
        | C.IBV_QP_RNR_RETRY
        | C.IBV_QP_TIMEOUT,
    )
    return qp, cq


def post(device, qp, number, data):
    """Posts a SEND of these bytes."""
    request = {
        "wr_id": number,
        "opcode": C.IBV_WR_SEND,
        "send_flags": C.IBV_SEND_SIGNALED | C.IBV_SEND_INLINE,
        "sg_list": [{"addr": data, "length": len(data), "lkey": 0}],
        "num_sge": 1,
    }
    device.ibv_post_send(qp, request)
